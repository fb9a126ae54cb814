"""Instances of benchmark sets: reading and writing their files, and knowing what was published."""
