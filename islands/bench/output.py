"""Write the tables of benchmarks as CSV files, and the plots of some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from islands.bench.base import BenchRow
from islands.bench.gpus_plots import write_speed_ups
from islands.bench.gpus_rows import GpuSpeedRow, GpuTargetRow
from islands.bench.quality_plots import write_plots
from islands.bench.quality_runs import RunRow
from islands.bench.topologies import TopologyRow, plot_topologies
from islands.inside import inside
from islands.paths import published
from islands.tables import write_csv

_PANELS = {
    "takeover": "migrations until takeover",
    "transport_seconds": "seconds of the busiest rank until takeover",
    "busiest_bytes": "bytes the busiest rank sends per migration",
    "takeover_bytes": "mean bytes sent per rank until takeover",
}


def write(folder: Path, tables: Mapping[str, Sequence[BenchRow]]) -> None:
    """Write each table to a file; no file is ever seen incomplete."""
    for name, rows in tables.items():
        path = inside(folder, f"{name}.csv")
        cells = [row.cells() for row in rows]
        write_csv(path, list(cells[0]), cells)
        if name == RunRow.table.name:
            write_plots(folder, [row for row in rows if isinstance(row, RunRow)])
        topologies = [row for row in rows if isinstance(row, TopologyRow)]
        if topologies:
            with published(inside(folder, f"{name}.png")) as temporary:
                plot_topologies(temporary, topologies)
    kinds = (GpuTargetRow, GpuSpeedRow)
    if gains := [row for rows in tables.values() for row in rows if isinstance(row, kinds)]:
        write_speed_ups(folder, gains)
