"""What the runs of one instance come to together, and the table of all instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Self

from islands.display.table import or_dash
from islands.progress.progress import is_better
from islands.progress.result import Result
from islands.text import count, counted, gap, one_line

KEY = (
    "Hits: runs as good as the best known value, and their mean time. Evals, Time: means of all"
    " runs."
)
HEADER = (
    "  Runs |         Best     Gap |           Mean     Gap    Std dev |        Worst"
    " |  Hits       in |   Evals     Time"
)


@dataclass(frozen=True)
class Standing:
    """The runs of one instance; costs are in the instance's own sense.

    They are those of the runs that have met a feasible solution.
    """

    instance: str
    problem: str
    runs: int
    unmet: int
    """How many of the runs have met no feasible solution."""
    best: float | None
    mean: float | None
    standard_deviation: float | None
    """That of a sample, so that a single run has none."""
    worst: float | None
    best_known: float | None
    gap_best: float | None
    gap_mean: float | None
    hits: int | None
    """How many are at least as good as the best known value, where there is one."""
    hit_seconds: float | None
    """Of the runs that are, the mean."""
    evaluations: float
    """Of all runs the mean, and so are the seconds."""
    seconds: float

    @classmethod
    def of(cls, results: Sequence[Result], *, maximise: bool) -> Self:
        """Return what at least one run of an instance comes to."""
        first = results[0]
        met = [(result.cost, result.gap) for result in results if result.cost is not None]
        ranked = sorted(met, key=lambda each: each[0], reverse=maximise)
        costs = [cost for cost, _ in ranked]
        gaps = [gap for _, gap in met if gap is not None]
        hits = [result for result in results if _hits(result, maximise=maximise)]
        return cls(
            instance=first.instance,
            problem=first.problem,
            runs=len(results),
            unmet=len(results) - len(met),
            best=costs[0] if costs else None,
            mean=fmean(costs) if costs else None,
            standard_deviation=stdev(costs) if len(costs) > 1 else None,
            worst=costs[-1] if costs else None,
            best_known=first.best_known,
            gap_best=ranked[0][1] if ranked else None,
            # From a best known value of 0, only 0 itself has a gap.
            gap_mean=fmean(gaps) if gaps and len(gaps) == len(met) else None,
            hits=len(hits) if first.best_known is not None else None,
            hit_seconds=fmean(result.seconds for result in hits) if hits else None,
            evaluations=fmean(result.evaluations for result in results),
            seconds=fmean(result.seconds for result in results),
        )


def _hits(result: Result, *, maximise: bool) -> bool:
    if result.best_known is None or result.cost is None:
        return False
    return not is_better(result.best_known, result.cost, maximise=maximise)


def table(standings: Sequence[Standing]) -> str:
    """Return the lines that end a series: a row an instance, and what is to be said of some."""
    names = [one_line(each.instance) for each in standings]
    width = max(map(len, ["Instance", *names]))
    lines = [KEY, "", f"{'Instance':{width}}{HEADER}"]
    lines += [f"{name:{width}}{row(each)}" for name, each in zip(names, standings, strict=True)]
    lines += [
        f"{name}: {each.unmet} of {counted(each.runs, 'run')} met no feasible solution,"
        " counted only in Runs, Evals and Time"
        for name, each in zip(names, standings, strict=True)
        if each.unmet
    ]
    return "\n".join(lines)


def row(standing: Standing) -> str:
    """Return one row without the name of its instance, under `HEADER`."""
    deviation, hits = standing.standard_deviation, standing.hits
    return (
        f"{standing.runs:>6} | {or_dash(standing.best):>12} {gap(standing.gap_best):>7} |"
        f" {_rounded(standing.mean):>14} {gap(standing.gap_mean):>7}"
        f" {_rounded(deviation):>10} | {or_dash(standing.worst):>12} |"
        f" {or_dash(hits):>5} {_time(standing.hit_seconds):>8} |"
        f" {count(standing.evaluations):>7} {_time(standing.seconds):>8}"
    )


def _rounded(number: float | None) -> str:
    return "-" if number is None else f"{number:.1f}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.2f}s" if seconds < 1000 else f"{seconds:.0f}s"
