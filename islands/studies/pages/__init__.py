"""Pages about several runs: a series, methods that are compared, a tuning, tables of a paper.

`folders.py` chooses the page for the given folders, `comparison.py` compares runs, and
`campaigns.py` shows the tables in the folder of a tuning or an experiment. Pictures and the page of
a single run are in `islands.report`, because `islands.solve` and notebooks need them.

- `RecordedRun`: a run that is read from its folder.
- `Curve`: the best cost of a run over time, relative to the reference of its instance.
- `Page`: the HTML of a page.

May import `islands.report`, the layers below it, and `islands.studies.significance`.
"""
