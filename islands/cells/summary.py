"""The summary of the runs of one instance, and the table of all instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from islands import statistics
from islands.display.screen import or_dash
from islands.engine.single import gap_to
from islands.problems.scale import Scale
from islands.progress.result import Result
from islands.text import count, counted, fitting, gap, one_line, rounded

COSTS = "Runs |      Best     Gap |       Mean     Gap Std dev |     Worst"
EFFORT = "Runs | Hits       in |   Evals     Time"
KEY = (
    "Hits: runs that reach the best-known value; in: their mean time.\n"
    "Evals, Time: means over all runs."
)
_NAME = 14
"""Width of the column of instances; rows then fit a terminal of 80 columns."""


@dataclass(frozen=True)
class Summary:
    """The summary of the runs of one instance; costs have the sign of the objective.

    Costs and gaps cover only the runs with a feasible solution.
    """

    instance: str
    problem: str
    runs: int
    without_solution: int
    """The number of runs without a feasible solution."""
    best: float | None
    mean: float | None
    standard_deviation: float | None
    """The sample standard deviation; None for a single run, or beyond all doubles."""
    worst: float | None
    best_known: float | None
    gap_best: float | None
    gap_mean: float | None
    hits: int | None
    """The number of runs that reach the best-known value, if there is one."""
    hit_seconds: float | None
    """The mean time of these runs."""
    evaluations: float
    """The mean over all runs, as for the seconds."""
    seconds: float
    bound: float | None = None
    """The largest lower bound that a run has proven, or the smallest upper one of a profit."""
    bound_gap: float | None = None
    """The gap between the best cost and the bound, in per cent."""
    unproven: int = 0
    """The number of runs that proved no bound in time."""
    side: str = "lower"
    """Whether the bound is a lower or an upper one."""

    @classmethod
    def of(cls, results: Sequence[Result], scale: Scale) -> Self:
        """Return the summary of one or more runs of an instance."""
        first, maximise = results[0], scale.maximise
        solved = [(result.cost, result.gap) for result in results if result.cost is not None]
        ranked = sorted(solved, key=lambda each: each[0], reverse=maximise)
        costs = [cost for cost, _ in ranked]
        gaps = [gap for _, gap in solved if gap is not None]
        best = costs[0] if costs else None
        tightest = min if maximise else max
        bound = tightest((each.bound for each in results if each.bound is not None), default=None)
        hits = [result for result in results if _hits(result, scale)]
        return cls(
            instance=first.instance,
            problem=first.problem,
            runs=len(results),
            without_solution=len(results) - len(solved),
            best=best,
            mean=statistics.mean(costs) if costs else None,
            standard_deviation=statistics.deviation(costs),
            worst=costs[-1] if costs else None,
            best_known=first.best_known,
            gap_best=ranked[0][1] if ranked else None,
            # If the best-known value is 0, only a cost of 0 has a gap.
            gap_mean=statistics.mean(gaps) if gaps and len(gaps) == len(solved) else None,
            hits=len(hits) if first.best_known is not None else None,
            hit_seconds=statistics.mean(result.seconds for result in hits) if hits else None,
            evaluations=statistics.mean(result.evaluations for result in results),
            seconds=statistics.mean(result.seconds for result in results),
            bound=bound,
            bound_gap=None if bound is None or best is None else gap_to(best, bound),
            side="upper" if maximise else "lower",
            unproven=sum(result.bound_estimate is not None for result in results),
        )


def _hits(result: Result, scale: Scale) -> bool:
    return result.best_known is not None and scale.reaches(result.cost, result.best_known)


def table(summaries: Sequence[Summary]) -> str:
    """Return the final tables of a series, of costs and of effort, and remarks."""
    names = [one_line(each.instance) for each in summaries]
    lines = []
    for header, row in ((COSTS, costs_row), (EFFORT, effort_row)):
        lines.append(f"{'Instance':{_NAME}} {header}")
        for name, each in zip(names, summaries, strict=True):
            # A long name has a line of its own.
            lines += [name] if len(name) > _NAME else []
            lines.append(f"{'' if len(name) > _NAME else name:{_NAME}} {row(each)}")
        lines.append("")
    lines[-1] = KEY
    lines += [
        f"{name}: {each.without_solution} of {counted(each.runs, 'run')} found no feasible"
        " solution, counted only in Runs, Evals and Time"
        for name, each in zip(names, summaries, strict=True)
        if each.without_solution
    ]
    lines += [
        f"{name}: {words}"
        for name, each in zip(names, summaries, strict=True)
        if (words := _bound_words(each))
    ]
    return "\n".join(lines)


def _bound_words(summary: Summary) -> str:
    """Return the text on proven bounds; empty if no run has computed one."""
    if summary.bound is not None:
        return f"{summary.side} bound {summary.bound}, gap of the best {gap(summary.bound_gap)}"
    if summary.unproven:
        return f"{counted(summary.unproven, 'run')} proved no bound in time"
    return ""


def costs_row(summary: Summary) -> str:
    """Return one row under `COSTS`, without the instance's name."""
    mean = _fitting if isinstance(summary.best, float) else _mean
    return (
        f"{summary.runs:>4} | {_cost(summary.best):>9} {gap(summary.gap_best):>7} |"
        f" {mean(summary.mean, 10):>10} {gap(summary.gap_mean):>7}"
        f" {mean(summary.standard_deviation, 7):>7} | {_cost(summary.worst):>9}"
    )


def effort_row(summary: Summary) -> str:
    """Return one row under `EFFORT`, without the instance's name."""
    return (
        f"{summary.runs:>4} | {or_dash(summary.hits):>4} {_time(summary.hit_seconds):>8} |"
        f" {count(summary.evaluations):>7} {_time(summary.seconds):>8}"
    )


def _mean(value: float | None, width: int) -> str:
    """Return a number in a column, with one decimal if there is room for it."""
    exact = rounded(value, 1)
    return exact if len(exact) <= width else rounded(value)


def _fitting(value: float | None, width: int) -> str:
    return "-" if value is None else fitting(value, width)


def _cost(cost: float | None) -> str:
    return fitting(cost, 9) if isinstance(cost, float) else or_dash(cost)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f}s" if seconds < 1000 else f"{seconds:.0f}s"
