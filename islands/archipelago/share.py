"""The share of a rank in the islands of all runs, with the seed and number of each island."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import ISLAND, NONE
from islands.archipelago.sizes import MOST_ISLANDS
from islands.errors import UsageError
from islands.parallel import Deal, World
from islands.problems.base import Solution


class Share:
    """The islands of one rank.

    Concurrent runs have consecutive seeds, and each has the same number of islands.
    """

    def __init__(
        self, islands_a_run: int, runs: int, *, seed: int, world: World, deal: Deal | None = None
    ) -> None:
        """Deal the islands of all runs to the ranks; refuse more than kernels can count."""
        self.islands_a_run, self.islands = islands_a_run, islands_a_run * runs
        if not 0 < self.islands <= MOST_ISLANDS:
            of = f" in each of {runs} concurrent runs" if runs > 1 else ""
            raise UsageError(
                f"islands={islands_a_run}{of}: must be from 1 to {MOST_ISLANDS // runs}"
            )
        self.deal = deal or Deal(self.islands, world.size)
        self.mine = self.deal.held(world.rank)
        """The islands of this rank among those of all runs."""
        run, self.numbers = np.divmod(np.array(self.mine), islands_a_run)
        """The number of each island in its run."""
        self.seeds: NDArray[np.int64] = (run.astype(np.uint64) + np.uint64(seed)).view(np.int64)
        """The seed of the run of each island."""

    def within(self, islands: range) -> Self | None:
        """Return the share of the rank in these islands of a run, or None if it is empty."""
        mine = range(max(self.mine.start, islands.start), min(self.mine.stop, islands.stop))
        if not mine:
            return None
        part, place = copy(self), slice(mine.start - self.mine.start, mine.stop - self.mine.start)
        part.mine, part.numbers, part.seeds = mine, self.numbers[place], self.seeds[place]
        return part

    def dealt(self, solutions: Sequence[Solution], first: int) -> list[Sequence[Solution]]:
        """Deal the solutions in turn from the island `first` on; return those of each island."""
        return [solutions[(each - first) % self.islands :: self.islands] for each in self.mine]

    def new_islands(self) -> NDArray[np.int64]:
        """Return the records of the islands before generation 0: `Island` of the kernels."""
        island = np.zeros((len(self.mine), len(ISLAND)), np.int64)
        island[:, [ISLAND.index("best"), ISLAND.index("archived")]] = NONE
        island[:, ISLAND.index("seed")] = self.seeds
        island[:, ISLAND.index("number")] = self.numbers
        return island
