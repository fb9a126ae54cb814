"""Columns against the size of the instances, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from islands.reproduce.cells import Plot, Row, numbers


def write_plot(
    path: Path, form: str, title: str, rows: Sequence[Row], size: str, plot: Plot
) -> None:
    """Write a plot of some columns against the column `size`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for (words, points), marker in zip(_curves(rows, size, plot), "osD^v<>ph*XP", strict=False):
        axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=words)
    scale = "log" if plot.logarithmic else "linear"
    axes.set(xscale="log", yscale=scale, xlabel=size, ylabel=plot.quantity, title=title)
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, format=form, dpi=150)


def _curves(
    rows: Sequence[Row], size: str, plot: Plot
) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    """Yield the words and the points of each curve that has some."""
    for group in dict.fromkeys(row.get(plot.by) for row in rows):
        mine = [row for row in rows if row.get(plot.by) == group]
        for column, words in plot.curves.items():
            points = sorted(numbers(mine, size, column))
            if points:
                yield (f"{group}: {words}" if plot.by else words), points
