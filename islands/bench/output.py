"""The folder of a benchmark: a CSV file a table, and a plot of what there is to plot."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from islands.bench.base import Row
from islands.bench.plots import plot_topologies
from islands.bench.topologies import TopologyRow
from islands.paths import published


def write(folder: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write the tables; each file appears whole."""
    for name, rows in tables.items():
        with (
            published(folder / f"{name}.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, list(asdict(rows[0])))
            writer.writeheader()
            writer.writerows(asdict(row) for row in rows)
        topologies = [row for row in rows if isinstance(row, TopologyRow)]
        if topologies:
            with published(folder / f"{name}.png") as temporary:
                plot_topologies(temporary, topologies)
