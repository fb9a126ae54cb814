"""Prepare one run, evolve it, and end it at a criterion or signal."""
