"""Draw the course of a run: costs and diversity of its islands, and their migrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from islands import text
from islands.report.figure import (
    COLOURS,
    HEIGHT,
    WIDTH,
    logarithmic_from,
    matrices,
    new_axes,
    new_figure,
    style,
    whole_ticks,
)
from islands.report.history import Floats, History, Lineage, Migrants, Whole

if TYPE_CHECKING:
    import pyarrow as pa

_FEW = len(COLOURS)
"""Maximum number of islands that have their own curves; more are drawn as bands."""
_POINTS = 6000
"""Maximum number of points of all curves of a panel."""
_FINE, _WIDE = 0.1, 20.0
"""The axis is logarithmic above a gap of `_FINE` per cent, if the largest gap is more than `_WIDE`
times the smallest."""
_EARLY, _LONG = 0.1, 50.0
"""The time axis is logarithmic if the best was found within this share of the time, and the time of
the last row is at least this many times that of the first."""
_SOFT = "#8a8a8a"
_COLUMNS = 9
"""Columns of the legend of islands."""

PARTS = ("costs", "diversity")
"""The parts of a figure of the course."""
DIVERSITY = {"distance": "distance", "distinct": "distinct costs"}
"""The measures of diversity, and their labels."""

AXES: dict[str, tuple[str, Callable[[History], Floats]]] = {
    "seconds": ("seconds", lambda history: history.seconds),
    "generations": ("generation", lambda history: history.generations.astype(np.float64)),
    "evaluations": ("evaluations of all islands", lambda history: history.evaluations),
}
"""The horizontal axes: their labels and values."""
_CELLS = 128
"""Maximum number of rows and columns of a matrix; with more islands, several share a cell."""
_ARROWS = 400


def draw_convergence(
    history: History,
    over: str = "seconds",
    *,
    best_known: float | None = None,
    parts: Sequence[str] = PARTS,
) -> Any:
    """Return a figure with the best and mean costs of each island, and its diversity.

    Costs are drawn as gaps to the best known value, or to the best of the run.
    """
    label, values = AXES[over]
    islands = len(history.islands)
    places = values(history)
    early = _is_early(places, history.changes(places)[0])
    shown = history.thinned(max(40, _POINTS // min(_FEW, islands)), early=early)
    x = values(shown)
    costs = ["best", "mean"] if "costs" in parts else []
    measures = [name for name in DIVERSITY if "diversity" in parts and _is_known(shown, name)]
    # The legend also names the best of all islands.
    rows = -(-(islands + 1) // _COLUMNS) if 1 < islands <= _FEW else 0
    count = len(costs) + len(measures)
    figure = new_figure(WIDTH, HEIGHT * (0.2 + 0.6 * count) + 0.16 * rows)
    panels = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    for panel, name in zip(panels, costs, strict=False):
        scale = _Scale.of(shown, best_known)
        if name == "mean":
            _draw(panel, x, scale.drawn(shown, shown.mean), shown)
        else:
            _draw_best(panel, x, shown, history, places, scale)
        scale.apply(panel, name)
    for panel, name in zip(panels[len(costs) :], measures, strict=True):
        _draw(panel, x, getattr(shown, name), shown)
        panel.set(ylabel=DIVERSITY[name], ylim=(0, None))
    if rows:
        _legend(figure, panels[0])
    panels[-1].set_xlabel(label)
    if early:
        logarithmic_from(panels[-1].xaxis, float(x[x > 0][0]), float(x[-1]))
        panels[-1].set_xlim(x[0], x[-1])
    else:
        panels[-1].locator_params(axis="x", nbins=6)
        panels[0].margins(x=0.01)
    panels[-1].xaxis.set_major_formatter(
        lambda value, _: text.count(value) if value >= 1000 else f"{value:g}"
    )
    return figure


def has_diversity(history: History) -> bool:
    """Return whether the diversity of the islands was measured."""
    return any(_is_known(history, name) for name in DIVERSITY)


def _is_known(history: History, name: str) -> bool:
    return bool(np.isfinite(getattr(history, name)).any())


def _draw_best(
    panel: Any, x: Floats, shown: History, history: History, places: Floats, scale: _Scale
) -> None:
    """Draw the best cost of each island and of all islands; a curve steps where the cost changes.

    Bands of many islands only change at recorded generations.
    """
    few, step = len(history.islands) <= _FEW, {"drawstyle": "steps-post"}
    best = history.changes(places)
    island_curves = [
        tuple(axis[_evenly(len(axis), len(x))] for axis in history.changes(places, column))
        for column in range(len(history.islands) if few else 0)
    ]
    # One grid for all curves, so that they form one array.
    grid = np.unique(np.concatenate([x, best[0], *(at for at, _ in island_curves)]))
    values = (
        np.stack([_stepped(at, costs, grid) for at, costs in island_curves], axis=1)
        if few
        else _stepped(x, shown.best, grid)
    )
    _draw(panel, grid, scale.drawn(shown, values), shown, **step)
    if len(history.islands) > 1:
        look: dict[str, Any] = {"color": _SOFT, "linewidth": 2.2, "alpha": 0.5, "label": "all"}
        panel.plot(grid, scale.drawn(history, _stepped(*best, grid)), **look, **step)


def _stepped(at: Floats, values: Floats, grid: Floats) -> Floats:
    """Evaluate the function that steps to `values` at the positions `at`; NaN before the first."""
    padded = np.concatenate([np.full_like(values[:1], np.nan), values])
    return padded[np.searchsorted(at, grid, side="right")]


def _evenly(count: int, most: int) -> Whole:
    """Return at most `most` evenly spaced integers from 0 to `count - 1`, both included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _is_early(x: Floats, changes: Floats) -> bool:
    """Return whether the last change came so early that a linear axis would not show the others."""
    positive, last = x[x > 0], float(changes[:-1].max(initial=0))
    return positive.size > 0 and last < _EARLY * x[-1] and _LONG * positive[0] < x[-1]


@dataclass(frozen=True)
class _Scale:
    """The vertical axis of costs."""

    reference: float | None
    """None if costs themselves are drawn."""
    is_known: bool
    side: str
    """The side of the reference on which worse costs are: `above` or `below`."""

    @classmethod
    def of(cls, history: History, best_known: float | None) -> Self:
        best = float(history.overall()[-1]) if best_known is None else float(best_known)
        reference = best if best and np.isfinite(best) else None
        return cls(reference, best_known is not None, "below" if history.maximise else "above")

    def drawn(self, history: History, costs: Floats) -> Floats:
        return costs if self.reference is None else history.losses(costs, self.reference)

    def apply(self, axes: Any, what: str) -> None:
        if self.reference is None:
            axes.set_ylabel(f"{what} cost")
            return
        base = "best known" if self.is_known else "final best"
        words = f"{what}: % {self.side}"
        axes.set_ylabel(f"{words}\n{base}" if what == "best" else words)
        low, high = axes.dataLim.intervaly
        if low >= 0 and high > _WIDE * max(low, _FINE):
            logarithmic_from(axes.yaxis, _FINE, high)
            axes.set_ylim(bottom=0)


def _legend(figure: Any, axes: Any) -> None:
    """Add a legend of the islands below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        title="island",
        loc="outside lower center",
        ncols=_COLUMNS,
        handlelength=1.4,
        handletextpad=0.4,
        columnspacing=0.9,
    )


def _draw(axes: Any, x: Floats, values: Floats, history: History, **look: Any) -> None:
    """Draw a curve per island, or bands of many islands."""
    marker = "o" if len(x) == 1 else None
    if values.shape[1] > _FEW:
        rows = np.isfinite(values).any(axis=1)
        if rows.any():
            low, first, middle, third, high = np.nanpercentile(
                values[rows], [0, 25, 50, 75, 100], axis=1
            )
            step = "post" if look.get("drawstyle") == "steps-post" else None
            for lower, upper, alpha in ((low, high, 0.2), (first, third, 0.35)):
                axes.fill_between(
                    x[rows], lower, upper, step=step, color=COLOURS[0], alpha=alpha, linewidth=0
                )
            axes.plot(x[rows], middle, color=COLOURS[0], marker=marker, label="median", **look)
    else:
        for place, column in enumerate(values.T):
            axes.plot(
                x,
                column,
                color=COLOURS[place],
                marker=marker,
                markersize=3,
                label=str(history.islands[place]),
                **look,
            )


def words_of(history: History) -> str:
    """Return the description of the curves."""
    islands = len(history.islands)
    if islands == 1:
        return "One curve, as there is one island."
    if islands <= _FEW:
        return f"One curve for each of {islands} islands; the wide grey curve is the best of all."
    return (
        f"{islands} islands: the line is their median, the bands contain the middle half and all of"
        " them, and the wide grey curve is the best of all."
    )


def draw_best(trace: pa.Table, *, maximise: bool, title: str, axes: Any = None) -> Any:
    """Draw the best cost of all islands against the seconds; return the axes."""
    with style():
        axes = new_axes() if axes is None else axes
    known = trace.filter(trace["best"].is_valid())
    best = known["best"].to_numpy()
    seconds = known["seconds"].to_numpy()
    if best.size:
        # Each island has a row per recorded generation.
        _, first = np.unique(known["generation"].to_numpy(), return_index=True)
        better = np.maximum if maximise else np.minimum
        best = better.accumulate(better.reduceat(best, first))
        # Ranks that do not wait for each other may record a generation after the next one.
        seconds = np.maximum.accumulate(np.maximum.reduceat(seconds, first))
    axes.step(seconds, best, where="post")
    axes.set(xlabel="seconds", ylabel="best profit" if maximise else "best cost", title=title)
    axes.grid(visible=True, alpha=0.3)
    return axes


def draw_phases(ranks: Sequence[Mapping[str, float]], phases: Sequence[str]) -> Any:
    """Return a figure with a bar for each rank, divided into phases."""
    figure = new_figure(WIDTH, min(6.0, 0.9 + 0.16 * len(phases) + 0.22 * len(ranks)))
    axes = figure.add_subplot()
    places, ends = np.arange(len(ranks)), np.zeros(len(ranks))
    for number, name in enumerate(phases):
        seconds = np.array([rank.get(name, 0.0) for rank in ranks])
        axes.barh(places, seconds, left=ends, label=name, color=COLOURS[number % len(COLOURS)])
        ends += seconds
    axes.yaxis.set_major_locator(whole_ticks(12))
    axes.set(xlabel="seconds", ylabel="rank", ylim=(len(ranks) - 0.4, -0.6))
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper left", ncols=3)
    return figure


def draw_matrix(migrants: Migrants, islands: Whole) -> Any:
    """Return a figure of the migrants that were accepted, and those that became the best."""
    edges = (islands[0] - 0.5, islands[-1] + 0.5)
    parts = {"accepted": migrants.accepted, "became the best": migrants.gain > 0}
    sums = {
        title: _shrunk(migrants.matrix(islands, values.astype(np.float64)))
        for title, values in parts.items()
    }
    return matrices(
        {title: np.ma.masked_equal(matrix, 0) for title, matrix in sums.items()},
        ("from island", "to island"),
        height=WIDTH / 2 + 0.35,
        vmin=0,
        extent=(*edges, *edges),
        origin="lower",
    )


def draw_lineage(migrants: Migrants, history: History, lineage: Lineage) -> Any:
    """Return a figure of the chain of migrants that led to the best solution."""
    island, generation, steps = lineage.island, lineage.generation, lineage.steps
    figure = new_figure(WIDTH, HEIGHT * 1.2)
    axes = figure.add_subplot()
    won = np.flatnonzero(migrants.gain > 0)
    won = won[_evenly(len(won), _ARROWS)]
    if won.size:
        axes.plot(
            np.repeat(migrants.generation[won], 3).astype(np.float64),
            np.stack(
                [migrants.source[won], migrants.target[won], np.full(len(won), np.nan)], 1
            ).ravel(),
            color=_SOFT,
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
    return np.asarray(np.add.reduceat(rows, starts, axis=1))
