"""Many runs: a plan of cells, a folder with a store, the ranks that run the cells, and a table.

This package performs `islands run` with several runs, and `islands tune`. A cell is one run: an
instance, a seed and settings. An interrupted command continues with the cells that are missing.

- `Campaign`: a command with many runs: its ranks, its store and its report.
- `Store`: the results of finished cells, one line each in the folder.
- `Summary`: the table of the results of each instance; `Ranking` is that of a tuning.

May import `engine`, `record`, `display`, `configuration` and the layers below them.
"""

METRICS = ("gap", "cost", "evaluations")
"""The measures by which `tune` compares runs."""
