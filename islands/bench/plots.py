"""Takeover, bytes and transport against the number of islands, a curve for each topology."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from islands.bench.topologies import TopologyRow

_PANELS = {
    "takeover": "migrations until takeover",
    "transport_seconds": "seconds of the busiest rank until takeover",
    "busiest_bytes": "bytes that the busiest rank sends a migration",
    "takeover_bytes": "bytes that a rank sends until takeover",
}


def plot_topologies(path: Path, rows: Sequence[TopologyRow]) -> None:
    """Write a PNG; what a population cannot take in is drawn faintly."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
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
            # Nothing goes between ranks where there is one, and a logarithmic axis has no zero.
            shown = [row for row in mine if row.fits == fits and getattr(row, field) > 0]
            axes.plot(
                [row.islands for row in shown],
                [getattr(row, field) for row in shown],
                **style,
                **look,
            )
