"""The courses of several runs on common scales, and their pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from islands.report.figure import (
    COLOURS,
    HEIGHT,
    WIDTH,
    doubling,
    logarithmic,
    logarithmic_from,
    new_figure,
)
from islands.report.history import Floats
from islands.report.recorded import RecordedRun, method_of
from islands.statistics.losses import percent_worse
from islands.text import one_line

_NOT_METHOD = ("instance", "seed", "backend", "threads", "start", "format", "stop")
"""Settings that do not belong to a method."""
_LONGEST = 60
POINTS = 80


@dataclass(frozen=True)
class Curve:
    """The best cost of one run over time, as a loss, which is minimised."""

    instance: str
    method: str
    seed: int
    seconds: Floats
    loss: Floats
    """In per cent above the reference of the instance; infinite without a solution."""

    @property
    def final(self) -> float:
        """The loss at the end."""
        return float(self.loss[-1])

    def at(self, times: Floats) -> Floats:
        """Return the loss at each time; infinite before the first row."""
        place = np.searchsorted(self.seconds, times, side="right") - 1
        return np.where(place >= 0, self.loss[np.maximum(place, 0)], np.inf)

    def time_to(self, target: float) -> float:
        """Return the first time with a loss of at most `target`; infinite if there is none."""
        reached = self.loss <= target
        return float(self.seconds[reached.argmax()]) if reached.any() else np.inf


@dataclass(frozen=True)
class Reference:
    """What losses of an instance are relative to."""

    value: float
    is_known: bool
    """Whether it is the best known value, and not the best of these runs."""


def curves_of(runs: Sequence[RecordedRun]) -> tuple[list[Curve], dict[str, Reference]]:
    """Return the curves of runs with rows, and the reference of each instance."""
    methods = methods_of([run.settings for run in runs])
    courses = [
        (run, method, run.history.seconds, run.history.overall())
        for run, method in zip(runs, methods, strict=True)
        if run.history is not None
    ]
    references: dict[str, Reference] = {}
    for instance in dict.fromkeys(run.instance for run, *_ in courses):
        mine = [(run, best) for run, _, _, best in courses if run.instance == instance]
        known = next((run.best_known for run, _ in mine if run.best_known is not None), None)
        references[instance] = _reference(known, [(run.maximise, best) for run, best in mine])
    curves = [
        Curve(
            run.instance,
            method,
            int(run.settings.get("seed", 0)),
            seconds,
            _losses(best, references[run.instance].value, maximise=run.maximise),
        )
        for run, method, seconds, best in courses
    ]
    return curves, references


def _reference(known: float | None, found: Iterable[tuple[bool, Floats]]) -> Reference:
    if known is not None:
        return Reference(known, True)
    ends = [(maximise, best[-1]) for maximise, best in found if not np.isnan(best[-1])]
    if not ends:
        return Reference(0.0, False)
    better = max if ends[0][0] else min
    return Reference(float(better(end for _, end in ends)), False)


def _losses(best: Floats, reference: float, *, maximise: bool) -> Floats:
    """Return losses in per cent; if the reference is 0, the differences themselves."""
    losses = percent_worse(best, reference, maximise=maximise)
    # Add 0.0, as a difference may be -0.0.
    return np.where(np.isnan(best), np.inf, losses + 0.0)


def methods_of(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for the method of each run: its algorithm and what distinguishes it.

    These are the settings in which runs of an algorithm on the same instance differ.
    """
    seen: dict[tuple[object, str, str], set[str]] = {}
    for each in settings:
        for name, value in each.items():
            key = (each.get("instance"), method_of(each), name)
            seen.setdefault(key, set()).add(json.dumps(value))
    differing: dict[str, dict[str, None]] = {}
    for (_, algorithm, name), values in seen.items():
        if len(values) > 1 and name not in _NOT_METHOD:
            differing.setdefault(algorithm, {})[name] = None
    return [_name(each, [*differing.get(method_of(each), {})]) for each in settings]


def _name(settings: Mapping[str, Any], differing: Sequence[str]) -> str:
    words = [f"{name}={settings[name]}" for name in differing if name in settings]
    return one_line(" ".join([method_of(settings), *words]), _LONGEST)


def shared_instances(curves: Sequence[Curve]) -> list[str]:
    """Return the instances that all methods have run."""
    methods = {curve.method for curve in curves}
    run_by: dict[str, set[str]] = {}
    for curve in curves:
        run_by.setdefault(curve.instance, set()).add(curve.method)
    return [instance for instance, those in run_by.items() if those == methods]


def times_of(curves: Sequence[Curve]) -> Floats:
    """Return times on a logarithmic scale, from the first rows to the last ones."""
    last = max(float(curve.seconds[-1]) for curve in curves)
    positive = [float(s) for c in curves for s in c.seconds[:3] if s > 0]
    first = min([*positive, last]) or 1e-3
    return np.geomspace(first, max(last, 1.001 * first), POINTS)


def bands(curves: Sequence[Curve], times: Floats) -> Floats:
    """Return the quartiles of the losses at each time, one row each; infinite without solutions."""
    losses = np.stack([curve.at(times) for curve in curves])
    found: Floats = np.quantile(losses, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return found


def target_of(curves: Sequence[Curve]) -> float:
    """Return the median of the final losses, which half of the runs reach."""
    return float(np.quantile([c.final for c in curves], 0.5, method="inverted_cdf"))


def times_to_targets(curves: Sequence[Curve]) -> dict[str, list[tuple[str, int, float]]]:
    """Return instance, seed and time to the target of its instance for the runs of each method."""
    targets = {
        instance: target_of([c for c in curves if c.instance == instance])
        for instance in dict.fromkeys(curve.instance for curve in curves)
    }
    found: dict[str, list[tuple[str, int, float]]] = {}
    for curve in curves:
        target = targets[curve.instance]
        time = curve.time_to(target) if np.isfinite(target) else np.inf
        found.setdefault(curve.method, []).append((curve.instance, curve.seed, time))
    return found


def profiles(times: Mapping[str, Sequence[tuple[str, int, float]]]) -> dict[str, Floats]:
    """Return the performance ratios of each method: its time over the least, of each problem.

    A problem is an instance with a seed that all methods have run (Dolan and More 2002).
    """
    tables = {
        method: {(instance, seed): time for instance, seed, time in rows}
        for method, rows in times.items()
    }
    common = set.intersection(*(set(each) for each in tables.values()))
    least = {key: min(table[key] for table in tables.values()) for key in common}
    return {
        method: np.sort(
            [
                np.inf if not np.isfinite(table[key]) else _ratio(table[key], least[key])
                for key in sorted(common)
            ]
        )
        for method, table in tables.items()
    }


def _ratio(time: float, least: float) -> float:
    shortest = 1e-3  # seconds; shorter times are equal
    return max(time, shortest) / max(least, shortest)


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


Points = Sequence[tuple[int, float]]
"""Numbers of ranks with their speed-ups."""
_MARKERS = ("o", "s", "D", "^", "v", "<", ">", "p")


def draw_speed_ups(panels: Mapping[str, Mapping[str, Points]]) -> Any:
    """Return a figure with a panel of curves for each kind of speed-up; one name has one look."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    figure = new_figure(WIDTH * max(1, len(panels)), HEIGHT + 0.13 * len(names))
    drawn = dict[str, Any]()
    for axes, (title, curves) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        ranks = sorted({number for points in curves.values() for number, _ in points})
        (drawn["ideal"],) = axes.plot(ranks, ranks, color="#808080", linestyle=":")
        for name, points in curves.items():
            place = names.index(name)
            look = {**_look(place), "linestyle": "-", "marker": _MARKERS[place % len(_MARKERS)]}
            (drawn[name],) = axes.plot(*zip(*points, strict=True), markersize=4, **look)
        axes.set(title=title, xlabel="ranks", ylabel="speed-up over one rank")
        for axis in (axes.xaxis, axes.yaxis):
            doubling(axis)
    figure.legend(drawn.values(), drawn.keys(), loc="outside upper left", ncols=2)
    return figure
