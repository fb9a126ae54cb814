"""Instances: the catalogue of published sets, and reading and writing of files."""
