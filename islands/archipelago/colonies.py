"""The settings of colonies, the islands that belong to each, and those that a rank has."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import ISLAND, NONE
from islands.errors import UsageError
from islands.improvers import ImproverSettings
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
    limited: bool = False
    """Whether the run may reach a limit of evaluations, which kernels check for each individual."""


def islands_of_each(specs: Sequence[ColonySpec]) -> list[range]:
    """Return the islands of each colony: colony 0 has the first ones."""
    ends = accumulate(spec.islands for spec in specs)
    return [range(end - spec.islands, end) for spec, end in zip(specs, ends, strict=True)]


@contextmanager
def of_colony(number: int | None, origin: str = "") -> Iterator[None]:
    """Prefix errors with their origin and the colony's `number`, which is None if it is alone."""
    try:
        with as_settings([] if number is None else _WRITTEN_IN_COLONIES):
            yield
    except UsageError as error:
        raise error if number is None else UsageError(f"{origin}colony {number}: {error}") from None


@dataclass(frozen=True)
class RankIslands:
    """The islands of a run that one rank holds."""

    islands: int
    """The number of islands of the run."""
    numbers: range
    """The islands of this rank."""
    seed: int

    def __post_init__(self) -> None:
        """Reject more islands than random streams can number."""
        if not 0 < self.islands <= MOST_ISLANDS:
            raise UsageError(f"islands={self.islands}: must be from 1 to {MOST_ISLANDS}")

    def within(self, islands: range) -> Self | None:
        """Return the islands of the rank that are among the given ones; None if there are none."""
        numbers = range(
            max(self.numbers.start, islands.start), min(self.numbers.stop, islands.stop)
        )
        return replace(self, numbers=numbers) if numbers else None

    def dealt(self, solutions: Sequence[Solution], first: int) -> list[Sequence[Solution]]:
        """Deal solutions in turn from the island `first` on; return those of each island."""
        return [
            solutions[(island - first) % self.islands :: self.islands] for island in self.numbers
        ]

    def records(self) -> NDArray[np.int64]:
        """Return the records of the islands before generation 0: `Island` of the kernels."""
        records = np.zeros((len(self.numbers), len(ISLAND)), np.int64)
        records[:, [ISLAND.index("best"), ISLAND.index("archived")]] = NONE
        records[:, ISLAND.index("seed")] = self.seed_word
        records[:, ISLAND.index("number")] = self.numbers
        return records

    @property
    def seed_word(self) -> np.int64:
        """The bits of the seed as a signed number, as in the records."""
        return np.uint64(self.seed).astype(np.int64)
