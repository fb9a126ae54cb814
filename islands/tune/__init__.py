"""`islands tune`: run configurations on several instances and rank them with statistical tests."""

METRICS = ("gap", "cost", "evaluations")
"""The measures that runs are compared by."""
