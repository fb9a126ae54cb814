"""The settings of colonies, the islands that belong to each, and those that a rank has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import ISLAND, NONE
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.parallel import Deal, World
from islands.problems.base import Solution
from islands.settings import Settings
from islands.text import as_settings

MOST_ISLANDS = 1 << 24
"""Random streams have 24 bits for the number of an island."""
MOST_INDIVIDUALS = (1 << 30) - 1
"""Kernels count the rows of a population with 32 bits."""
_WRITTEN_IN_COLONIES = ("algorithm", "encoding", "improver", "population", "islands")


@dataclass(frozen=True)
class ColonySpec:
    """The settings of one colony of a run."""

    islands: int
    population: int
    algorithm: str
    encoding: str
    settings: Settings
    improver: ImproverSettings
    decoding: str = ""
    rate: int = 1
    """Generations of the colony in one generation of the run."""


def islands_of_each(specs: Sequence[ColonySpec]) -> list[range]:
    """Return the islands of each colony: colony 0 has the first ones."""
    ends = accumulate(each.islands for each in specs)
    return [range(end - each.islands, end) for each, end in zip(specs, ends, strict=True)]


@contextmanager
def of_colony(number: int | None, origin: str = "") -> Iterator[None]:
    """Prefix errors with their origin and the colony, if there are several."""
    try:
        with as_settings([] if number is None else _WRITTEN_IN_COLONIES):
            yield
    except UsageError as error:
        raise error if number is None else UsageError(f"{origin}colony {number}: {error}") from None


class RankIslands:
    """The islands of one rank."""

    def __init__(self, islands: int, *, seed: int, world: World, deal: Deal | None = None) -> None:
        """Deal the islands of a run to the ranks; refuse more than kernels can count."""
        if not 0 < islands <= MOST_ISLANDS:
            raise UsageError(f"islands={islands}: must be from 1 to {MOST_ISLANDS}")
        self.islands, self.seed = islands, np.uint64(seed).astype(np.int64)
        self.deal = deal or Deal(islands, world.size)
        self.mine = self.deal.held(world.rank)
        """The islands of this rank."""

    def within(self, islands: range) -> Self | None:
        """Return the islands of the rank that are among those given, or None without any."""
        mine = range(max(self.mine.start, islands.start), min(self.mine.stop, islands.stop))
        if not mine:
            return None
        part = copy(self)
        part.mine = mine
        return part

    def dealt(self, solutions: Sequence[Solution], first: int) -> list[Sequence[Solution]]:
        """Deal the solutions in turn from the island `first` on; return those of each island."""
        return [solutions[(each - first) % self.islands :: self.islands] for each in self.mine]

    def new_islands(self) -> NDArray[np.int64]:
        """Return the records of the islands before generation 0: `Island` of the kernels."""
        island = np.zeros((len(self.mine), len(ISLAND)), np.int64)
        island[:, [ISLAND.index("best"), ISLAND.index("archived")]] = NONE
        island[:, ISLAND.index("seed")] = self.seed
        island[:, ISLAND.index("number")] = self.mine
        return island
