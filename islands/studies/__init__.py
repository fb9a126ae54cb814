"""Studies: work about searches, which a solver does not need.

`bench` measures, `papers` repeats published experiments, `pages` compares runs in HTML, and
`clusters` submits and follows Slurm jobs. All of them are commands: they use the solver, and the
solver does not know them. A program that only calls `islands.solve` never imports this folder.

- May import: every folder of `islands` but `cli`. `bench` and `papers` also import `pages`, all
  three the tests in `significance.py`, and all four `described.py`, which reads descriptions.
- Imported by: `islands.cli` only, in the modules of the commands, which are imported when they are
  called (`tests/test_layers.py`).
- The nouns: a study is a `Campaign` of runs (`islands.cells`), which fills a `Table`
  (`islands.tables`) in a folder, of which a `Page` (`islands.report`) is drawn.
"""
