"""The configurations in their order, with what their runs came to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Self

import numpy as np

from islands.problems.base import Problem
from islands.progress.progress import is_better
from islands.tune.cell import Cell
from islands.tune.configurations import Configuration, Values
from islands.tune.statistics import Losses, against, friedman, mean_ranks

Cells = Mapping[tuple[int, str], Cell]
"""By the number of the configuration and the name of the instance."""


@dataclass(frozen=True)
class Standing:
    """What one configuration came to on all instances."""

    configuration: int
    values: Values
    mean_rank: float
    """Over all blocks, 1 the best."""
    loss: float | None
    """The mean gap in per cent, cost or evaluations, of the runs that are not void.

    It is a mean over the instances, and so is the standard deviation of the runs of each."""
    standard_deviation: float | None
    hits: int | None
    """Runs at least as good as the best known value; None where none is known of any instance."""
    void: int
    """Runs that met no feasible solution, or by evaluations did not reach what they had to."""
    evaluations: float
    """Of a run the mean, and so are the seconds."""
    seconds: float
    p: float | None
    """That it is as good as the first one; None of the first itself."""


@dataclass(frozen=True)
class Ranking:
    """All configurations, the best first."""

    metric: str
    standings: tuple[Standing, ...]
    blocks: int
    friedman: float | None
    """That all are alike."""
    unknown: tuple[str, ...]
    """Instances without a best known value, whose gaps are to the best of these runs."""

    @classmethod
    def of(
        cls,
        configurations: Sequence[Configuration],
        problems: Mapping[str, Problem],
        cells: Cells,
        metric: str,
    ) -> Self:
        """Rank the configurations by all of their runs; of equal ones, the first is better."""
        losses = {
            name: _losses(problem, [cells[each.number, name] for each in configurations], metric)
            for name, problem in problems.items()
        }
        blocks = np.concatenate(list(losses.values()))
        ranks = mean_ranks(blocks)
        order = sorted(range(len(ranks)), key=lambda column: (ranks[column], column))
        compared = against(blocks, order[0])
        sign = -1 if metric == "cost" and all(each.maximise for each in problems.values()) else 1

        def standing(column: int) -> Standing:
            each = configurations[column]
            own = {name: cells[each.number, name] for name in problems}
            means, deviations = _means(rows[:, column] for rows in losses.values())
            return Standing(
                configuration=each.number,
                values=each.values,
                mean_rank=ranks[column],
                loss=sign * fmean(means) if means else None,
                standard_deviation=fmean(deviations) if deviations else None,
                hits=_hits(problems, own),
                void=int(np.isinf(blocks[:, column]).sum()),
                evaluations=fmean(fmean(cell.evaluations) for cell in own.values()),
                seconds=fmean(cell.seconds for cell in own.values()),
                p=compared[column],
            )

        return cls(
            metric=metric,
            standings=tuple(standing(column) for column in order),
            blocks=len(blocks),
            friedman=friedman(blocks),
            unknown=tuple(name for name, each in problems.items() if each.best_known is None),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the ranking as JSON takes it."""
        return {
            "metric": self.metric,
            "blocks": self.blocks,
            "friedman_p": self.friedman,
            "configurations": [vars(each) for each in self.standings],
        }


def _losses(problem: Problem, cells: Sequence[Cell], metric: str) -> Losses:
    """Return how bad each run is, a row a seed and a column a configuration."""
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
    # From a best value of 0, a gap in per cent has no meaning: then it counts the cost itself.
    losses: Losses = 100.0 * (costs - best) / (abs(best) or 1)
    return losses


def _columns(columns: Iterable[Sequence[float | None]]) -> Losses:
    """Return columns of numbers, infinity where there is none."""
    whole = [[math.inf if each is None else each for each in column] for column in columns]
    return np.array(whole, np.float64).T


def _means(losses: Iterable[Losses]) -> tuple[list[float], list[float]]:
    """Return mean and standard deviation of the runs of each instance, as far as there are any."""
    solved = [[float(loss) for loss in runs if math.isfinite(loss)] for runs in losses]
    means = [fmean(runs) for runs in solved if runs]
    return means, [stdev(runs) for runs in solved if len(runs) > 1]


def _hits(problems: Mapping[str, Problem], cells: Mapping[str, Cell]) -> int | None:
    hits = [
        not is_better(problem.best_known.value, cost, maximise=problem.maximise)
        for name, problem in problems.items()
        if problem.best_known is not None
        for cost in cells[name].costs
    ]
    return sum(hits) if hits else None
