"""Curves of the best costs of several runs over time, on a common scale, and their pictures."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from islands.report import figure as drawing
from islands.report.figure import COLOURS, HEIGHT, WIDTH
from islands.report.history import Floats, History
from islands.report.recorded import RecordedRun, method_of
from islands.text import one_line

_NOT_METHOD = ("instance", "seed", "backend", "threads", "start", "format", "stop")
"""Settings in which runs of the same method may differ."""
_LONGEST = 60
Points = Sequence[tuple[int, float]]
"""Numbers of ranks with their speed-ups."""
MARKERS = "osD^v<>ph*XP"
"""Markers of curves, in order."""
_TINY, _WIDE = 1e-3, 20.0
"""If gaps differ by a factor above `_WIDE`, their axis is logarithmic from `_TINY` per cent on."""
POINTS = 80
_SHORTEST = 1e-3
"""Minimum seconds that are distinguished; shorter times count as equal."""


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
    """The value that losses of an instance are relative to."""

    value: float
    is_known: bool
    """Whether it is the best known value, and not the best of these runs."""


def curves_of(runs: Sequence[RecordedRun]) -> tuple[list[Curve], dict[str, Reference]]:
    """Return the curves of the runs that have recorded rows, and the reference of each instance."""
    references: dict[str, Reference] = {}
    recorded = [run for run in runs if run.history is not None]
    for instance in dict.fromkeys(run.instance for run in recorded):
        references[instance] = _reference([run for run in recorded if run.instance == instance])
    curves = [
        Curve(
            run.instance,
            method,
            int(run.settings.get("seed", 0)),
            run.history.seconds,
            _losses(run.history, references[run.instance].value),
        )
        for run, method in zip(runs, methods_of([run.settings for run in runs]), strict=True)
        if run.history is not None
    ]
    return curves, references


def _reference(runs: Sequence[RecordedRun]) -> Reference:
    """Return the reference of the runs of one instance, all of which have recorded rows."""
    known = [run.best_known for run in runs if run.best_known is not None]
    if known:
        return Reference(known[0], True)
    histories = [run.history for run in runs if run.history is not None]
    ends = [float(history.overall()[-1]) for history in histories]
    better = max if histories[0].maximise else min
    return Reference(better((end for end in ends if not np.isnan(end)), default=0.0), False)


def _losses(history: History, reference: float) -> Floats:
    """Return losses in per cent; if the reference is 0, the differences themselves."""
    best = history.overall()
    # Add 0.0, as a difference may be -0.0.
    return np.where(np.isnan(best), np.inf, history.losses(best, reference) + 0.0)


def methods_of(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for the method of each run: the algorithm, and settings that distinguish it.

    These are the settings in which runs of an algorithm on the same instance differ.
    """
    values = defaultdict[tuple[object, str, str], set[str]](set)
    for run in settings:
        for name, value in run.items():
            values[run.get("instance"), method_of(run), name].add(json.dumps(value))
    differing = defaultdict[str, dict[str, None]](dict)
    for (_, algorithm, name), texts in values.items():
        if len(texts) > 1 and name not in _NOT_METHOD:
            differing[algorithm][name] = None
    return [_name(run, [*differing[method_of(run)]]) for run in settings]


def _name(settings: Mapping[str, Any], differing: Sequence[str]) -> str:
    words = [f"{name}={settings[name]}" for name in differing if name in settings]
    return one_line(" ".join([method_of(settings), *words]), _LONGEST)


def shared_instances(curves: Sequence[Curve]) -> list[str]:
    """Return the instances that all methods have run."""
    run_by = defaultdict[str, set[str]](set)
    for curve in curves:
        run_by[curve.instance].add(curve.method)
    methods = set[str]().union(*run_by.values())
    return [instance for instance, names in run_by.items() if names == methods]


def times_of(curves: Sequence[Curve]) -> Floats:
    """Return logarithmically spaced times, from the first rows to the last ones."""
    last = max(float(curve.seconds[-1]) for curve in curves)
    positive = [float(s) for c in curves for s in c.seconds[:3] if s > 0]
    first = min([*positive, last]) or 1e-3
    return np.geomspace(first, max(last, 1.001 * first), POINTS)


def bands(curves: Sequence[Curve], times: Floats) -> Floats:
    """Return the quartiles of the losses at each time, one row each; infinite without solutions."""
    losses = np.stack([curve.at(times) for curve in curves])
    quartiles: Floats = np.quantile(losses, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return quartiles


def target_of(curves: Sequence[Curve]) -> float:
    """Return the median of the final losses, which half of the runs reach."""
    return float(np.quantile([c.final for c in curves], 0.5, method="inverted_cdf"))


def times_to_targets(curves: Sequence[Curve]) -> dict[str, list[tuple[str, int, float]]]:
    """Return instance, seed and time to the target of its instance for the runs of each method."""
    targets = {
        instance: target_of([c for c in curves if c.instance == instance])
        for instance in dict.fromkeys(curve.instance for curve in curves)
    }
    times: dict[str, list[tuple[str, int, float]]] = {}
    for curve in curves:
        target = targets[curve.instance]
        time = curve.time_to(target) if np.isfinite(target) else np.inf
        times.setdefault(curve.method, []).append((curve.instance, curve.seed, time))
    return times


def profiles(times: Mapping[str, Sequence[tuple[str, int, float]]]) -> dict[str, Floats]:
    """Return the performance ratios of each method: its time on each problem over the shortest one.

    A problem is an instance with a seed that all methods have run (Dolan and More 2002).
    """
    tables = {
        method: {(instance, seed): time for instance, seed, time in rows}
        for method, rows in times.items()
    }
    common = sorted(set.intersection(*(set(table) for table in tables.values())))
    rows = [[table[key] for key in common] for table in tables.values()]
    seconds = np.array(rows).clip(min=_SHORTEST)
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isinf(seconds), np.inf, seconds / seconds.min(axis=0))
    return dict(zip(tables, np.sort(ratios), strict=True))


def final_losses(curves: Sequence[Curve]) -> tuple[list[str], Floats]:
    """Return the methods, and their final losses on the problems that all of them have run.

    A method is a column; a problem, an instance with a seed, is a row.
    """
    finals: dict[str, dict[tuple[str, int], float]] = {}
    for curve in curves:
        finals.setdefault(curve.method, {})[curve.instance, curve.seed] = curve.final
    of_methods = list(finals.values())
    common = sorted(set.intersection(*(set(losses) for losses in of_methods))) if finals else []
    return [*finals], np.array([[losses[key] for losses in of_methods] for key in common])


def draw_gaps(curves: Sequence[Curve], methods: Sequence[str]) -> Any:
    """Return a figure with the median and the quartiles of each method."""
    figure = drawing.new_figure(WIDTH, HEIGHT + 0.13 * len(methods))
    axes = figure.add_subplot()
    times, drawn, labels = times_of(curves), [0.0], list[str]()
    for place, method in enumerate(methods):
        own_curves = [curve for curve in curves if curve.method == method]
        if not own_curves:
            continue
        low, middle, high = np.where(np.isinf(b := bands(own_curves, times)), np.nan, b)
        look, label = curve_look(place), method
        if np.isnan(middle).all():
            solved = sum(np.isfinite(curve.final) for curve in own_curves)
            label += f" (no median: {solved} of {len(own_curves)} runs found a solution)"
        labels.append(label)
        axes.plot(times, middle, drawstyle="steps-post", label=label, **look)
        if len(own_curves) > 1:
            axes.fill_between(
                times, low, high, step="post", color=look["color"], alpha=0.2, linewidth=0
            )
        drawn += [float(gap) for gap in (*middle, *high) if np.isfinite(gap)]
    axes.set(xlabel="seconds", ylabel="gap in %", xlim=(times[0], times[-1]))
    drawing.logarithmic(axes.xaxis, times[0], times[-1])
    _scale_gaps(axes, np.array(drawn))
    _legend(figure, labels)
    return figure


def _scale_gaps(axes: Any, gaps: Floats) -> None:
    """Make the axis of gaps logarithmic above a small gap if the gaps differ a lot."""
    positive = gaps[gaps > 0]
    if positive.size and positive.max() > _WIDE * (low := max(_TINY, positive.min())):
        drawing.logarithmic_from(axes.yaxis, low, float(positive.max()))
    axes.set_ylim(bottom=0)


def draw_targets(times: Mapping[str, Sequence[tuple[str, int, float]]]) -> Any:
    """Return a figure with the share of runs that have reached the target, over time."""
    reached = {
        method: np.array([time for *_, time in rows]).clip(min=_SHORTEST)
        for method, rows in times.items()
    }
    finite = np.concatenate([times[np.isfinite(times)] for times in reached.values()])
    first, last = (finite.min(), finite.max()) if finite.size else (_SHORTEST, _SHORTEST)
    labels = {"xlabel": "seconds", "ylabel": "share of runs at the target"}
    return _draw_shares(reached, float(first), 1.2 * float(last), **labels)


def draw_profiles(ratios: Mapping[str, Floats]) -> Any:
    """Return a figure with the performance profile of each method."""
    finite = np.concatenate([values[np.isfinite(values)] for values in ratios.values()])
    last = 1.2 * float(finite.max(initial=1.0))
    labels = {"xlabel": "time to the target, relative to the fastest"}
    labels["ylabel"] = "share of problems"
    return _draw_shares(ratios, 1.0, last, xlim=(1.0, last), **labels)


def _draw_shares(values: Mapping[str, Floats], first: float, last: float, **axis: Any) -> Any:
    """Return a figure with the empirical distribution of each method, without infinite values.

    The legend shows the number of finite values of a method, unless all are finite.
    """
    figure = drawing.new_figure(WIDTH, HEIGHT + 0.13 * len(values))
    axes, labels = figure.add_subplot(), list[str]()
    for place, (method, sample) in enumerate(values.items()):
        x = np.sort(sample[np.isfinite(sample)])
        share = np.arange(len(x) + 1) / len(sample)
        labels.append(method if len(x) == len(sample) else f"{method} ({len(x)} of {len(sample)})")
        look = {"drawstyle": "steps-post", "label": labels[-1], **curve_look(place)}
        axes.plot([*x, last], [*share[1:], share[-1]], **look)
    axes.set(ylim=(0, 1.03), **axis)
    drawing.logarithmic(axes.xaxis, first, last)
    _legend(figure, labels)
    return figure


def curve_look(place: int) -> dict[str, Any]:
    """Return the colour and the line of a curve; curves with the same colour have other lines."""
    styles = ("-", "--", ":", "-.")
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": styles[place // len(COLOURS) % len(styles)],
    }


def _legend(figure: Any, labels: Sequence[str]) -> None:
    """Add a legend above the axes; a single method has one only if its label has a note."""
    if len(labels) > 1 or any(label.endswith(")") for label in labels):
        figure.legend(loc="outside upper left", ncols=1 if max(map(len, labels)) > 24 else 2)


def draw_speed_ups(panels: Mapping[str, Mapping[str, Points]]) -> Any:
    """Return a figure with a panel for each kind of speed-up; a curve looks the same in all."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    figure = drawing.new_figure(WIDTH * max(1, len(panels)), HEIGHT + 0.13 * len(names))
    drawn = dict[str, Any]()
    for axes, (title, curves) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        ranks = sorted({number for points in curves.values() for number, _ in points})
        (drawn["ideal"],) = axes.plot(ranks, ranks, color="#808080", linestyle=":")
        for name, points in curves.items():
            place = names.index(name)
            look = {**curve_look(place), "linestyle": "-", "marker": MARKERS[place % len(MARKERS)]}
            (drawn[name],) = axes.plot(*zip(*points, strict=True), markersize=4, **look)
        axes.set(title=title, xlabel="ranks", ylabel="speed-up over one rank")
        for axis in (axes.xaxis, axes.yaxis):
            drawing.doubling(axis)
    figure.legend(drawn.values(), drawn.keys(), loc="outside upper left", ncols=2)
    return figure
