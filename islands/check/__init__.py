"""Compare all ways to evaluate the solutions of a problem, and find faults of its functions."""
