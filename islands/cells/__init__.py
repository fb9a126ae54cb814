"""Commands with many runs, whose results are stored in a folder and summarised in tables.

This package performs `islands run` with several runs, and `islands tune`. A cell is one run: an
instance, a seed and settings. An interrupted command, when repeated, performs the missing cells.

- `Campaign`: a command with many runs: its ranks, its store and its report.
- `Store`: the results of finished cells, one line each in the folder.
- `Summary`: a row in the table of a series, with the results of an instance.
- `Ranking`: the table of a tuning, with a row for each configuration.

May import `engine`, `record`, `display`, `configuration` and the layers below them.
"""

METRICS = ("gap", "cost", "evaluations")
"""The measures by which `tune` compares runs."""
