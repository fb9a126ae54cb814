"""The numbers that ranks share when an epoch ends: one row per rank.

All ranks have the same rows, so they compute the same progress and make the same decisions.
"""

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import IslandMeasure
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.real_costs import mean_of
from islands.progress.progress import Progress, is_better

NO_SOLUTION = np.iinfo(np.int64).max
"""The best cost of islands that have found no feasible solution."""
_OF_NO_ISLAND = NO_SOLUTION, NO_SOLUTION, NO_SOLUTION
"""The best of a rank that records no island; it compares greater than any other."""
_LOW_BITS = 32  # of a sum, which a message contains as two numbers
_ABANDONED = 1 << 16  # differs from the numbers of all signals


class StopRequests(NamedTuple):
    """Events outside the islands that can end or delay a run."""

    signals: int
    """The signals that any rank has received, as `islands.engine.signals` numbers them."""
    seconds: float
    """The time on rank 0."""
    is_complete: bool = True
    """Whether no rank has abandoned the latest generations."""

    @classmethod
    def of_all_ranks(
        cls, world: World, signals: int, seconds: float, *, is_complete: bool = True
    ) -> Self:
        """Return the stop requests of all ranks, the same on every rank; collective."""
        if world.size == 1:
            return cls(signals, seconds, is_complete)
        numbers = [signals | (0 if is_complete else _ABANDONED), round(1e9 * seconds)]
        return cls._of(world.allgather_numbers(np.array(numbers, np.int64)).tolist())

    @classmethod
    def _of(cls, rows: Sequence[Sequence[int]]) -> Self:
        merged = 0
        for row in rows:
            merged |= row[0]
        return cls(merged & ~_ABANDONED, rows[0][1] / 1e9, not merged & _ABANDONED)


@dataclass(frozen=True)
class Tally:
    """The sums over all islands, and the best cost; costs are minimised."""

    best: int
    """`NO_SOLUTION` if there is none."""
    best_generation: int
    island: int
    evaluations: int
    total: int
    """The sum of all costs, which may exceed 64 bits."""
    islands: int
    real_total: float = 0.0
    """The sum of all costs if they are real, in the unit of `real_costs`."""
    converged: int = 0
    """The number of islands whose population has converged."""

    @classmethod
    def of(cls, measures: Sequence[IslandMeasure]) -> Self:
        """Return the tally of the islands of one rank.

        The best cost belongs to the island that reached it first; ties go to the lowest number.
        """
        first, evaluations, total, converged = _OF_NO_ISLAND, 0, 0, 0
        for measure in measures:
            cost = NO_SOLUTION if measure.best is None else measure.best
            first = min(first, (cost, measure.best_generation, measure.island))
            evaluations += measure.evaluations
            total += measure.total
            converged += measure.has_converged
        real = math.fsum([measure.real_total for measure in measures])
        return cls(*first, evaluations, total, len(measures), real, converged)

    @classmethod
    def merged(cls, rows: Sequence[Self]) -> Self:
        """Return the tally of all ranks."""
        best, generation, island = min((t.best, t.best_generation, t.island) for t in rows)
        evaluations = sum(row.evaluations for row in rows)
        total = sum(row.total for row in rows)
        islands = sum(row.islands for row in rows)
        real = math.fsum(row.real_total for row in rows)
        converged = sum(row.converged for row in rows)
        return cls(best, generation, island, evaluations, total, islands, real, converged)

    def of_all_ranks(self, world: World, signals: int, seconds: float) -> tuple[Self, StopRequests]:
        """Return the tally and the stop requests of all ranks; collective."""
        if world.size == 1:
            return self, StopRequests(signals, seconds)
        return self.of_rows(world.allgather_numbers(self.row(signals, seconds)))

    def row(self, signals: int, seconds: float) -> NDArray[np.int64]:
        """Return the numbers of a rank, with its stop requests, as a message."""
        numbers = [signals, round(1e9 * seconds), self.best, self.best_generation, self.island]
        numbers += [self.evaluations, *divmod(self.total, 1 << _LOW_BITS), self.islands]
        numbers += [np.array(self.real_total).view(np.int64).item(), self.converged]
        return np.array(numbers, np.int64)

    @classmethod
    def of_rows(cls, numbers: NDArray[np.int64]) -> tuple[Self, StopRequests]:
        """Return the tally and the stop requests of the ranks with these rows, rank 0 first."""
        rows = numbers.tolist()
        return cls.merged([cls._of_row(row[2:]) for row in rows]), StopRequests._of(rows)

    @classmethod
    def _of_row(cls, row: Sequence[int]) -> Self:
        best, generation, island, evaluations, high, low, islands, bits, converged = row
        total, real = (high << _LOW_BITS) + low, float(np.int64(bits).view(np.float64))
        return cls(best, generation, island, evaluations, total, islands, real, converged)


def summarise(
    tally: Tally,
    generation: int,
    seconds: float,
    population: float,
    problem: Problem,
    before: Progress | None = None,
    starts: Sequence[int] = (0,),
) -> Progress:
    """Return the progress of all islands; `before` is the progress one epoch ago.

    `population` is the mean over all islands, and `starts` contains the first island of each
    colony. The best solution remains attributed to the island that found it, even after that
    island restarts or others receive the solution.
    """
    scale, individuals = problem.scale, population * tally.islands
    cost = None if tally.best == NO_SOLUTION else scale.user_costs(tally.best)
    if scale.real:
        mean = scale.user_mean(mean_of(tally.real_total, individuals))
    else:
        mean = scale.user_mean(tally.total, individuals)
    island: int | None = None if cost is None else tally.island
    best_generation = 0 if cost is None else tally.best_generation
    if before is not None and not is_better(cost, before.cost, maximise=problem.maximise):
        island, best_generation = before.island, before.best_generation
    return Progress(
        generation=generation,
        evaluations=tally.evaluations,
        seconds=seconds,
        cost=cost,
        island=island,
        best_generation=best_generation,
        mean=mean,
        gap=None if cost is None else problem.gap(cost),
        best_known=problem.best_known.value if problem.best_known is not None else None,
        maximise=problem.maximise,
        has_converged=tally.converged == tally.islands > 0,
        tolerance=scale.tolerance,
        lower_bound=problem.lower_bound,
        colony=None if island is None or not starts[1:] else bisect(starts, island) - 1,
    )
