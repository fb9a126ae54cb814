"""Seconds against the number of cities, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from islands.reproduce.cells import Row, numbers


def plot_times(
    path: Path, form: str, title: str, rows: Sequence[Row], curves: Mapping[str, str]
) -> None:
    """Write a plot of the columns that `curves` names, with its words as the legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for (column, words), marker in zip(curves.items(), "osD^v<>ph*XP", strict=False):
        points = sorted(numbers(rows, "cities", column))
        axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=words)
    axes.set(xscale="log", yscale="log", xlabel="cities", ylabel="seconds", title=title)
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, format=form, dpi=150)
