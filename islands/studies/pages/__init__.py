"""Pages about more than one run: a series, methods, a tuning, a paper's tables.

`folders.py` chooses the page for the folders that are named, `comparison.py` compares runs, and
`campaigns.py` shows the tables in the folder of a tuning or an experiment. Pictures and the page of
a single run are in `islands.report`, as `islands.solve` and notebooks need them.

- May import: `islands.report`, what is below it, and `islands.studies.significance`.
- The nouns: `RecordedRun`, a run that is read from its folder; `Curve`, the best cost of one or
  several runs over time, on a scale that they have in common; `Page`, the HTML that is written.
"""
