"""Rank the configurations of a tuning by the results of their runs, and print the ranking."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from islands import statistics
from islands.cells.configurations import Configuration, Values, words_of
from islands.cells.tuning import TaskResult
from islands.problems.base import Problem
from islands.statistics import SIGNIFICANT, Losses, against, friedman, mean_ranks, percent_worse
from islands.text import count, counted, fitting, rounded

_TITLES = {"gap": "Gap", "cost": "Cost", "evaluations": "Evaluations"}
_DIGITS = {"gap": 3, "cost": 1, "evaluations": 0}
_VOID = {"evaluations": "The target was not reached"}

TaskResults = Mapping[tuple[int, str], TaskResult]
"""Results by number of the configuration and name of the instance."""


@dataclass(frozen=True)
class RankedConfiguration:
    """The results of one configuration on all instances."""

    configuration: int
    values: Values
    mean_rank: float
    """Mean over all blocks; 1 is the best."""
    loss: float | None
    """Mean gap in per cent, cost or evaluations of the runs that are not void.

    The mean over the instances, like the standard deviation of an instance's runs."""
    standard_deviation: float | None
    hits: int | None
    """Runs at least as good as the best known value; None if no instance has one."""
    void: int
    """Runs without a feasible solution or, with metric `evaluations`, that missed the target."""
    evaluations: float
    """Mean evaluations of a run."""
    seconds: float
    """Mean seconds of a run."""
    p: float | None
    """The p-value against the best configuration; None for the best itself."""


@dataclass(frozen=True)
class Ranking:
    """All configurations, best first."""

    metric: str
    ranked: tuple[RankedConfiguration, ...]
    blocks: int
    friedman: float | None
    """The p-value of Friedman's test."""
    unknown: tuple[str, ...]
    """Instances without a best known value; their gaps are to the best of these runs."""
    has_decimals: bool = False
    """Whether the losses are costs that are not whole numbers."""

    @classmethod
    def of(
        cls,
        configurations: Sequence[Configuration],
        problems: Mapping[str, Problem],
        cells: TaskResults,
        metric: str,
    ) -> Self:
        """Rank the configurations by all runs; ties keep the order of the configurations."""
        losses = {
            name: _losses(problem, [cells[each.number, name] for each in configurations], metric)
            for name, problem in problems.items()
        }
        blocks = np.concatenate(list(losses.values()))
        ranks = mean_ranks(blocks)
        order = sorted(range(len(ranks)), key=lambda column: (ranks[column], column))
        compared = against(blocks, order[0])
        sign = -1 if metric == "cost" and all(each.maximise for each in problems.values()) else 1

        def ranked(column: int) -> RankedConfiguration:
            each = configurations[column]
            own = {name: cells[each.number, name] for name in problems}
            means, deviations = _means(rows[:, column] for rows in losses.values())
            return RankedConfiguration(
                configuration=each.number,
                values=each.values,
                mean_rank=ranks[column],
                loss=sign * statistics.mean(means) if means else None,
                standard_deviation=statistics.mean(deviations) if deviations else None,
                hits=_hits(problems, own),
                void=int(np.isinf(blocks[:, column]).sum()),
                evaluations=statistics.mean(
                    statistics.mean(cell.evaluations) for cell in own.values()
                ),
                seconds=statistics.mean(cell.seconds for cell in own.values()),
                p=compared[column],
            )

        return cls(
            metric=metric,
            ranked=tuple(ranked(column) for column in order),
            blocks=len(blocks),
            friedman=friedman(blocks),
            unknown=tuple(name for name, each in problems.items() if each.best_known is None),
            has_decimals=metric == "cost" and not all(p.scale.is_whole for p in problems.values()),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the ranking as values for JSON."""
        return {
            "metric": self.metric,
            "blocks": self.blocks,
            "friedman_p": self.friedman,
            "configurations": [vars(each) for each in self.ranked],
        }


def _losses(problem: Problem, cells: Sequence[TaskResult], metric: str) -> Losses:
    """Return the loss of each run: one row per seed, one column per configuration."""
    if metric == "evaluations":
        return _columns(
            [
                each if is_done else None
                for each, is_done in zip(c.evaluations, c.reached, strict=True)
            ]
            for c in cells
        )
    sign = -1 if problem.maximise else 1
    costs = _columns([None if cost is None else sign * cost for cost in c.costs] for c in cells)
    solved = costs[np.isfinite(costs)]
    if metric == "cost" or not solved.size:
        return costs
    known = problem.best_known
    best = float(solved.min()) if known is None else sign * known.value
    # A gap in per cent is undefined if the best value is 0: the loss is then the cost itself.
    losses: Losses = percent_worse(costs, best)
    return losses


def _columns(columns: Iterable[Sequence[float | None]]) -> Losses:
    """Return columns of numbers, with infinity for None."""
    whole = [[math.inf if each is None else each for each in column] for column in columns]
    return np.array(whole, np.float64).T


def _means(losses: Iterable[Losses]) -> tuple[list[float], list[float]]:
    """Return means and standard deviations of the runs of each instance that has solutions."""
    solved = [[float(loss) for loss in runs if math.isfinite(loss)] for runs in losses]
    means = [statistics.mean(runs) for runs in solved if runs]
    deviations = [statistics.deviation(runs) for runs in solved]
    return means, [each for each in deviations if each is not None]


def _hits(problems: Mapping[str, Problem], cells: Mapping[str, TaskResult]) -> int | None:
    hits = [
        problem.scale.reaches(cost, problem.best_known.value)
        for name, problem in problems.items()
        if problem.best_known is not None
        for cost in cells[name].costs
    ]
    return sum(hits) if hits else None


def table(ranking: Ranking) -> str:
    """Return the lines at the end of a tuning: one row per configuration, and the test results."""
    header = (
        f"  Rank    No |{_TITLES[ranking.metric]:>12}    Std dev    Hits |   Evals      Time"
        " |       p   Configuration"
    )
    digits = None if ranking.has_decimals else _DIGITS[ranking.metric]
    rows = [_row(each, digits) for each in ranking.ranked]
    return "\n".join([*_legend(ranking), "", header, *rows, "", _verdict(ranking)])


def _legend(ranking: Ranking) -> list[str]:
    lines = [
        f"Rank: mean over {counted(ranking.blocks, 'block')} (an instance with a seed); 1 is the"
        f" best of {len(ranking.ranked)}.",
        "Std dev: of the runs of an instance. p: Wilcoxon's signed-rank test against the best,"
        " corrected by Holm's method.",
    ]
    if ranking.metric == "gap":
        lines[1] = f"Gap: in per cent. {lines[1]}"
        if ranking.unknown:
            names = ", ".join(ranking.unknown)
            lines.append(f"No best known value, gaps are to the best of these runs: {names}.")
    lines += [
        f"{_VOID.get(ranking.metric, 'No feasible solution was found')} by {each.void} of the runs"
        f" of configuration {each.configuration}: these rank last and do not count in its means."
        for each in ranking.ranked
        if each.void
    ]
    return lines


def _row(ranked: RankedConfiguration, digits: int | None) -> str:
    """Return a row; without a number of digits, the magnitude of its numbers decides."""

    def number(value: float | None, width: int) -> str:
        if digits is None and value is not None:
            return f"{fitting(value, width - 1):>{width}}"
        return f"{rounded(value, digits or 0):>{width}}"

    return (
        f"{ranked.mean_rank:>6.2f} {ranked.configuration:>5} |"
        f"{number(ranked.loss, 12)} {number(ranked.standard_deviation, 10)}"
        f" {'-' if ranked.hits is None else ranked.hits:>7} |"
        f" {count(ranked.evaluations):>7} {ranked.seconds:>8.3f}s |"
        f" {'-' if ranked.p is None else f'{ranked.p:.2g}':>7}   {words_of(ranked.values)}"
    )


def _verdict(ranking: Ranking) -> str:
    first, *others = ranking.ranked
    if not others:
        return f"Only configuration {first.configuration} is left."
    alike = [str(each.configuration) for each in others if (each.p or 0) >= SIGNIFICANT]
    better = f"not significantly better than {', '.join(alike)}" if alike else "better than all"
    best = f"Configuration {first.configuration} ranks first, {better}."
    if ranking.friedman is None:
        return best
    differ = "differ" if ranking.friedman < SIGNIFICANT else "do not differ significantly"
    return f"The configurations {differ} (Friedman, p = {ranking.friedman:.2g}). {best}"
