"""Folders of a small tuning and of a small experiment, with invented results."""

from __future__ import annotations

import json
from pathlib import Path

from islands.campaign.tuning import COLUMNS
from islands.record.files import write_table


def tuning(folder: Path) -> None:
    """Write the tables of a tuning with two configurations."""
    names = ["configuration", "values", "mean_rank", "loss", "standard_deviation", "hits", "void"]
    names += ["evaluations", "seconds", "p"]
    values = [{"rho": 0.7, "bias": "rho"}, {"rho": 0.6, "bias": "log"}]
    rows = [
        [1, json.dumps(values[0]), 1.25, 0.5, 0.1, 3, 0, 100, 0.01, None],
        [2, json.dumps(values[1]), 1.75, 2.5, 0.1, 0, 1, 100, 0.02, 0.031],
    ]
    ranked = [dict(zip(names, row, strict=True)) for row in rows]
    write_table(folder / "ranking.tsv", names, ranked, sealed=False)
    write_table(folder / "tune.tsv", COLUMNS, [dict.fromkeys(COLUMNS, "demo/tsp")])


def experiment(folder: Path) -> None:
    """Write the settings, a table and a plot of an experiment."""
    (folder / "settings.toml").write_text('what = "xavier2019/table1"\nbackend = "cpu"\n')
    (folder / "table1.csv").write_text("instance,length\nzi929,95345.123456789\n")
    (folder / "table1.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
