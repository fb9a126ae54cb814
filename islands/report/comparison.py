"""Draw several runs: their gaps over time, times to a target, and performance profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from islands.report.curves import Curve, bands, times_of
from islands.report.figure import COLOURS, HEIGHT, WIDTH, logarithmic, logarithmic_from, new_figure
from islands.report.history import Floats

_TINY, _WIDE = 1e-3, 20.0
"""Gaps from the first in per cent on have a logarithmic scale, if they differ by the second."""


def draw_gaps(curves: Sequence[Curve], methods: Sequence[str]) -> Any:
    """Return a figure with the median and the quartiles of each method."""
    figure = new_figure(WIDTH, HEIGHT + 0.13 * len(methods))
    axes = figure.add_subplot()
    times, drawn = times_of(curves), [0.0]
    for place, method in enumerate(methods):
        mine = [curve for curve in curves if curve.method == method]
        if not mine:
            continue
        low, middle, high = np.where(np.isinf(b := bands(mine, times)), np.nan, b)
        look = _look(place)
        axes.plot(times, middle, drawstyle="steps-post", label=method, **look)
        if len(mine) > 1:
            axes.fill_between(
                times, low, high, step="post", color=look["color"], alpha=0.2, linewidth=0
            )
        drawn += [float(each) for each in (*middle, *high) if np.isfinite(each)]
    axes.set(xlabel="seconds", ylabel="gap in %")
    logarithmic(axes, times[0], times[-1])
    _scale_gaps(axes, np.array(drawn))
    _legend(figure, methods)
    return figure


def _scale_gaps(axes: Any, gaps: Floats) -> None:
    """Make the axis of gaps logarithmic from a small gap on if they differ much."""
    positive = gaps[gaps > 0]
    if positive.size and positive.max() > _WIDE * (low := max(_TINY, positive.min())):
        logarithmic_from(axes, low, float(positive.max()))
    axes.set_ylim(bottom=0)


def draw_targets(times: Mapping[str, Sequence[tuple[str, int, float]]]) -> Any:
    """Return a figure with the share of runs that have reached the target, over time."""
    figure = new_figure(WIDTH, HEIGHT + 0.13 * len(times))
    axes = figure.add_subplot()
    finite = [time for rows in times.values() for _, _, time in rows if np.isfinite(time)]
    last = max([*finite, 1e-3])
    for place, (method, rows) in enumerate(times.items()):
        reached = np.sort([max(time, 1e-3) for _, _, time in rows if np.isfinite(time)])
        x, y = _steps(reached, len(rows), 1.2 * last)
        axes.plot(x, y, drawstyle="steps-post", label=method, **_look(place))
    axes.set(ylim=(0, 1.03), xlabel="seconds", ylabel="share of runs at the target")
    logarithmic(axes, max(1e-3, min(finite, default=1e-3)), 1.2 * last)
    _legend(figure, list(times))
    return figure


def draw_profiles(ratios: Mapping[str, Floats]) -> Any:
    """Return a figure with the performance profile of each method."""
    figure = new_figure(WIDTH, HEIGHT + 0.13 * len(ratios))
    axes = figure.add_subplot()
    finite = np.concatenate([each[np.isfinite(each)] for each in ratios.values()])
    last = 1.2 * float(finite.max(initial=1.0))
    for place, (method, each) in enumerate(ratios.items()):
        x, y = _steps(each[np.isfinite(each)], len(each), last)
        axes.plot(x, y, drawstyle="steps-post", label=method, **_look(place))
    axes.set(
        xlim=(1.0, last),
        ylim=(0, 1.03),
        xlabel="time to the target, relative to the fastest",
        ylabel="share of problems",
    )
    logarithmic(axes, 1.0, last)
    _legend(figure, list(ratios))
    return figure


def _steps(values: Floats, count: int, last: float) -> tuple[Floats, Floats]:
    """Return the empirical distribution of values, some of `count` of which may be missing."""
    share = np.arange(1, len(values) + 1) / count
    x = np.concatenate([values, [last]])
    return x, np.append(share, share[-1] if len(share) else 0.0)


def _look(place: int) -> dict[str, Any]:
    styles = ("-", "--", ":", "-.")
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": styles[place // len(COLOURS) % len(styles)],
    }


def _legend(figure: Any, methods: Sequence[str]) -> None:
    """Name the methods above the axes, where no curve is."""
    if len(methods) > 1:
        figure.legend(loc="outside upper left", ncols=1 if max(map(len, methods)) > 24 else 2)
