"""Statistical tests of the results of runs."""
