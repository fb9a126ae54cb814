"""Draw migrations: the matrix of islands, and the lineage of the best solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from islands.report.arrivals import Arrivals, Step
from islands.report.figure import COLOURS, HEIGHT, WIDTH, new_figure, whole_ticks
from islands.report.history import Floats, History, Whole

_CELLS = 128
"""Rows and columns of a drawn matrix at most; more islands share cells."""
_ARROWS = 400


def draw_matrix(arrivals: Arrivals, islands: Whole) -> Any:
    """Return a figure of the migrants that were accepted, and those that became the best."""
    figure = new_figure(WIDTH, WIDTH / 2 + 0.35)
    parts = {
        "accepted": arrivals.accepted.astype(np.float64),
        "became the best": (arrivals.gain > 0).astype(np.float64),
    }
    for axes, (title, values) in zip(figure.subplots(1, 2), parts.items(), strict=True):
        matrix = _shrunk(arrivals.matrix(islands, values))
        edges = (islands[0] - 0.5, islands[-1] + 0.5)
        shown = axes.imshow(
            np.ma.masked_equal(matrix, 0),
            cmap="viridis",
            vmin=0,
            extent=(*edges, *edges),
            origin="lower",
        )
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9)
        bar.locator = whole_ticks(3)
        bar.update_ticks()
        axes.set(title=title, xlabel="from island", ylabel="to island")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(whole_ticks(5))
        axes.grid(visible=False)
    return figure


def draw_lineage(
    arrivals: Arrivals, history: History, steps: Sequence[Step], island: int, generation: int
) -> Any:
    """Return a figure of the chain of arrivals that led to the best solution."""
    figure = new_figure(WIDTH, HEIGHT * 1.2)
    axes = figure.add_subplot()
    won = np.flatnonzero(arrivals.gain > 0)
    won = won[np.linspace(0, len(won) - 1, min(len(won), _ARROWS)).astype(int)]
    if won.size:
        axes.plot(
            np.repeat(arrivals.generation[won], 3).astype(np.float64),
            np.stack(
                [arrivals.source[won], arrivals.target[won], np.full(len(won), np.nan)], 1
            ).ravel(),
            color="#8a8a8a",
            linewidth=0.5,
            alpha=0.5,
        )
    x, y = [float(history.generations[0])], [steps[0].source if steps else island]
    for step in steps:
        x += [step.generation, step.generation]
        y += [step.source, step.target]
    axes.plot([*x, generation], [*y, island], color=COLOURS[1], linewidth=1.8)
    axes.plot([generation], [island], "o", color=COLOURS[1], markersize=6)
    ranks = np.flatnonzero(np.diff(history.ranks))
    for border in history.islands[ranks] + 0.5:
        axes.axhline(border, color=COLOURS[0], linewidth=0.6, linestyle=":")
    axes.set(
        xlabel="generation",
        ylabel="island",
        ylim=(history.islands[0] - 0.6, history.islands[-1] + 0.6),
        xlim=(history.generations[0], max(history.generations[-1], 1)),
    )
    axes.yaxis.set_major_locator(whole_ticks(9))
    axes.xaxis.set_major_locator(whole_ticks(6))
    return figure


def _shrunk(matrix: Floats) -> Floats:
    """Return a matrix of at most `_CELLS` rows, whose cells are sums of blocks."""
    size = len(matrix)
    if size <= _CELLS:
        return matrix
    starts = np.unique(np.linspace(0, size, _CELLS, endpoint=False).astype(np.int64))
    rows = np.add.reduceat(matrix, starts, axis=0)
    found: Floats = np.add.reduceat(rows, starts, axis=1)
    return found
