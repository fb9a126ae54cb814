"""`islands tune`: configurations of an algorithm on several instances, ranked with statistics."""

METRICS = ("gap", "cost", "evaluations")
"""What is averaged over the runs, and compared by tests."""
