"""Series of runs: plan, table of results and summary."""
