"""Run the experiments of papers and compare the results with the published tables.

Each paper has a module with its tables, named after the first author; the TOML file beside it has
their columns, plots, sentences and interpretations. `printed/` contains the figures that the papers
print, with their sources. `perform.py` fills tables row by row, so that an interrupted experiment
can be continued.

- `Paper`: a title with its tables.
- `PaperTable`: the instances, runs, columns and conclusions of one table.
- `Sample`: the results of several runs on one instance.

May import the solver, and `islands.studies.pages` for the page of an experiment, but not `bench`.
"""

_NAMES = ("xavier2019", "jardim2021", "soca2010", "dantas2014", "munhao2019")
PAPERS = {name: f"{__name__}.{name}" for name in _NAMES}
"""The modules of the papers by name; each has a constant `PAPER`."""
ALL = "all"
"""The name that selects all papers."""
