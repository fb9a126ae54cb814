"""The summary of the runs of one instance, and the table of all instances."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Self

from islands import statistics
from islands.display.screen import or_dash
from islands.engine.single import gap_to
from islands.problems.scale import Scale
from islands.progress.result import Result
from islands.text import count, counted, fitting, gap, one_line, rounded

_COSTS = "{:>4} | {:>9} {:>7} | {:>10} {:>7} {:>7} | {:>9}"
_EFFORT = "{:>4} | {:>4} {:>8} | {:>7} {:>8}"
_KEY = (
    "Hits: runs that reach the best known value; in: their mean time.\n"
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
    """The sample standard deviation; None for a single run, or if it overflows."""
    worst: float | None
    best_known: float | None
    gap_best: float | None
    gap_mean: float | None
    hits: int | None
    """The number of runs that reach the best known value, if there is one."""
    hit_seconds: float | None
    """The mean time of these runs."""
    evaluations: float
    """The mean over all runs; `seconds` is a mean as well."""
    seconds: float
    bound: float | None = None
    """The largest lower bound that a run has proven, or the smallest upper bound of a profit."""
    bound_gap: float | None = None
    """The gap between the best cost and the bound, in per cent."""
    unproven: int = 0
    """The number of runs that proved no bound in time."""
    side: str = "lower"
    """The kind of bound: `lower` or `upper`."""

    @classmethod
    def of(cls, results: Sequence[Result], scale: Scale) -> Self:
        """Return the summary of one or more runs of an instance."""
        first, maximise = results[0], scale.maximise
        solved = [(result.cost, result.gap) for result in results if result.cost is not None]
        ranked = sorted(solved, key=itemgetter(0), reverse=maximise)
        costs = [cost for cost, _ in ranked]
        gaps = [gap for _, gap in solved if gap is not None]
        best = costs[0] if costs else None
        tightest = min if maximise else max
        bounds = [result.bound for result in results if result.bound is not None]
        bound = tightest(bounds, default=None)
        known = first.best_known
        hits = [r for r in results if known is not None and scale.reaches(r.cost, known)]
        return cls(
            instance=first.instance,
            problem=first.problem,
            runs=len(results),
            without_solution=len(results) - len(solved),
            best=best,
            mean=statistics.mean(costs) if costs else None,
            standard_deviation=statistics.deviation(costs),
            worst=costs[-1] if costs else None,
            best_known=known,
            gap_best=ranked[0][1] if ranked else None,
            # If the best known value is 0, only a cost of 0 has a gap.
            gap_mean=statistics.mean(gaps) if gaps and len(gaps) == len(solved) else None,
            hits=len(hits) if known is not None else None,
            hit_seconds=statistics.mean(result.seconds for result in hits) if hits else None,
            evaluations=statistics.mean(result.evaluations for result in results),
            seconds=statistics.mean(result.seconds for result in results),
            bound=bound,
            bound_gap=None if bound is None or best is None else gap_to(best, bound),
            side="upper" if maximise else "lower",
            unproven=sum(result.bound_estimate is not None for result in results),
        )


def table(summaries: Sequence[Summary]) -> str:
    """Return the final text of a series: a table of costs, a table of effort, and remarks."""
    named = [(one_line(summary.instance), summary) for summary in summaries]
    costs = _COSTS.format("Runs", "Best", "Gap", "Mean", "Gap", "Std dev", "Worst")
    effort = _EFFORT.format("Runs", "Hits", "in", "Evals", "Time")
    lines = []
    for header, row in ((costs, _costs_row), (effort, _effort_row)):
        lines.append(f"{'Instance':{_NAME}} {header}")
        for name, summary in named:
            # A long name is on a separate line.
            lines += [name] if len(name) > _NAME else []
            lines.append(f"{'' if len(name) > _NAME else name:{_NAME}} {row(summary)}")
        lines.append("")
    lines[-1] = _KEY
    lines += [
        f"{name}: {summary.without_solution} of {counted(summary.runs, 'run')} found no feasible"
        " solution, counted only in Runs, Evals and Time"
        for name, summary in named
        if summary.without_solution
    ]
    lines += [f"{name}: {words}" for name, summary in named if (words := _bound_words(summary))]
    return "\n".join(lines)


def _bound_words(summary: Summary) -> str:
    """Return the text on proven bounds; empty if no run has computed one."""
    if summary.bound is not None:
        return f"{summary.side} bound {summary.bound}, gap of the best {gap(summary.bound_gap)}"
    if summary.unproven:
        return f"{counted(summary.unproven, 'run')} proved no bound in time"
    return ""


def _costs_row(summary: Summary) -> str:
    mean = _fitting if isinstance(summary.best, float) else _mean
    best = _cost(summary.best), gap(summary.gap_best)
    means = mean(summary.mean, 10), gap(summary.gap_mean), mean(summary.standard_deviation, 7)
    return _COSTS.format(summary.runs, *best, *means, _cost(summary.worst))


def _effort_row(summary: Summary) -> str:
    hits = or_dash(summary.hits), _time(summary.hit_seconds)
    return _EFFORT.format(summary.runs, *hits, count(summary.evaluations), _time(summary.seconds))


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
