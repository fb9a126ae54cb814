"""What ranks tell each other when an epoch ends: a row of numbers each, the same for all to see.

From the same rows, every rank finds the same progress and takes the same decisions by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from islands.archipelago.measure import IslandMeasure
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress, is_better

UNMET = np.iinfo(np.int64).max
"""The best of islands that have met no feasible solution."""
_LOW_BITS = 32


_GAVE_UP = 1 << 16  # beside the numbers of signals


class Calls(NamedTuple):
    """What can end a run or delay it, whatever its islands do."""

    signals: int
    """Those that have come to any rank, as `islands.run.signals` counts them."""
    seconds: float
    """The time by the clock of rank 0."""
    is_whole: bool = True
    """Whether no rank has given up the generations before."""

    @classmethod
    def shared(cls, world: World, signals: int, seconds: float, *, is_whole: bool = True) -> Self:
        """Return the same on every rank; collective."""
        own = [signals | (0 if is_whole else _GAVE_UP), _nanoseconds(seconds)]
        return cls._of(world.share(np.array(own, np.int64)).tolist())

    @classmethod
    def _of(cls, rows: Sequence[Sequence[int]]) -> Self:
        said = 0
        for row in rows:
            said |= row[0]
        return cls(said & ~_GAVE_UP, rows[0][1] / 1e9, not said & _GAVE_UP)


@dataclass(frozen=True)
class Tally:
    """The sums of all islands, and the best of them: costs are minimised."""

    best: int
    """`UNMET` where there is none."""
    best_generation: int
    island: int
    evaluations: int
    total_high: int
    total_low: int
    """The lower 32 bits of the sum, which need not fit 64 together."""
    islands: int

    @property
    def total(self) -> int:
        """The sum of all costs."""
        return (self.total_high << _LOW_BITS) + self.total_low

    @classmethod
    def of(cls, measures: Sequence[IslandMeasure]) -> Self:
        """Return the tally of the islands of one rank.

        A best cost belongs to the island that reached it first, and of these to the lowest.
        """
        best, generation, island = min(
            (UNMET if m.best is None else m.best, m.best_generation, m.island) for m in measures
        )
        evaluations = sum(measure.evaluations for measure in measures)
        total = sum(measure.total for measure in measures)
        high, low = divmod(total, 1 << _LOW_BITS)
        return cls(best, generation, island, evaluations, high, low, len(measures))

    @classmethod
    def together(cls, rows: Sequence[Self]) -> Self:
        """Return the tally of all ranks."""
        best, generation, island = min((t.best, t.best_generation, t.island) for t in rows)
        evaluations = sum(row.evaluations for row in rows)
        high, low = divmod(sum(row.total for row in rows), 1 << _LOW_BITS)
        islands = sum(row.islands for row in rows)
        return cls(best, generation, island, evaluations, high, low, islands)

    def shared(self, world: World, signals: int, seconds: float) -> tuple[Self, Calls]:
        """Return the tally of all ranks and what calls; collective."""
        own = [signals, _nanoseconds(seconds), self.best, self.best_generation, self.island]
        own += [self.evaluations, self.total_high, self.total_low, self.islands]
        rows = world.share(np.array(own, np.int64)).tolist()
        return self.together([type(self)(*row[2:]) for row in rows]), Calls._of(rows)


def summarise(
    tally: Tally,
    generation: int,
    seconds: float,
    population: int,
    problem: Problem,
    before: Progress | None = None,
) -> Progress:
    """Return where all islands together stand, `before` being where they stood an epoch ago.

    A best stays that of the island that found it when others receive the solution, and when the
    island restarts.
    """
    cost = None if tally.best == UNMET else problem.own_sense(tally.best)
    found: tuple[int | None, int] = (tally.island, tally.best_generation)
    if cost is None:
        found = None, 0
    if before is not None and not is_better(cost, before.cost, maximise=problem.maximise):
        found = (before.island, before.best_generation)
    return Progress(
        generation=generation,
        evaluations=tally.evaluations,
        seconds=seconds,
        cost=cost,
        island=found[0],
        best_generation=found[1],
        mean=problem.own_sense(tally.total) / (population * tally.islands),
        gap=None if cost is None else problem.gap(cost),
        best_known=problem.best_known.value if problem.best_known is not None else None,
        maximise=problem.maximise,
    )


def _nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)
