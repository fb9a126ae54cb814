"""Write the tables of benchmarks as CSV files, and the plots of some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from islands.bench.base import BenchRow
from islands.bench.gpus_plots import write_speed_ups
from islands.bench.gpus_rows import GpuSpeedRow, GpuTargetRow
from islands.bench.quality_plots import write_plots
from islands.bench.quality_runs import RunRow
from islands.bench.topologies import TopologyRow
from islands.inside import inside
from islands.paths import published
from islands.report.figure import new_figure
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
        write_csv(path, list(asdict(rows[0])), [asdict(row) for row in rows])
        if name == RunRow.TABLE:
            write_plots(folder, [row for row in rows if isinstance(row, RunRow)])
        topologies = [row for row in rows if isinstance(row, TopologyRow)]
        if topologies:
            with published(inside(folder, f"{name}.png")) as temporary:
                plot_topologies(temporary, topologies)
    kinds = (GpuTargetRow, GpuSpeedRow)
    if gains := [row for rows in tables.values() for row in rows if isinstance(row, kinds)]:
        write_speed_ups(folder, gains)


def plot_topologies(path: Path, rows: Sequence[TopologyRow]) -> None:
    """Write a PNG with one curve per topology; points that exceed a population are faint."""
    figure = new_figure(11, 8)
    panels = figure.subplots(2, 2, sharex=True)
    for axes, (field, words) in zip(panels.flat, _PANELS.items(), strict=True):
        _draw(axes, field, rows)
        axes.set(xscale="log", yscale="log", xlabel="islands", ylabel=words)
        axes.grid(visible=True, which="both", alpha=0.3)
    panels.flat[0].legend(fontsize="small")
    figure.savefig(path, format="png", dpi=150)


def _draw(axes: Any, field: str, rows: Sequence[TopologyRow]) -> None:
    names = dict.fromkeys(row.topology for row in rows)
    for place, (name, marker) in enumerate(zip(names, "osD^v<>p", strict=False)):
        mine = [row for row in rows if row.topology == name]
        style = {"marker": marker, "markersize": 4, "color": f"C{place}"}
        for fits, look in ((True, {"label": name}), (False, {"alpha": 0.3})):
            # With one rank no messages are sent, and a logarithmic axis has no zero.
            shown = [row for row in mine if row.fits == fits and getattr(row, field) > 0]
            axes.plot(
                [row.islands for row in shown],
                [getattr(row, field) for row in shown],
                **style,
                **look,
            )
