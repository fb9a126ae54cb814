"""Local search on subsets: exchanges that raise the profit, until there are none or enough made.

Only feasible subsets are improved, and they stay so.
"""

from __future__ import annotations

from typing import ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

_MOST_THINGS = 92_681  # pairs that leave are told apart by a number of 32 bits


class NearSubset(Improver):
    """A search that exchanges things of the core, which is all or those of doubtful utility."""

    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)
    moves: ClassVar[tuple[str, ...]] = ("exchange",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        self.core = min(settings.core or size, size)
        if self.core > _MOST_THINGS:
            raise UsageError(
                f"improver.core={settings.core}: {self.core} things have too many exchanges, at"
                f" most {_MOST_THINGS} may be there. Choose improver.core=60"
            )

    def items(self) -> int:
        return self.core


class SubsetSearch(NearSubset):
    """The search with exchanges of one size, and smaller ones; the kernel is common to all."""

    header: ClassVar[Header] = Header("improvers/subset.cuh")
    most: ClassVar[int]
    """How many things change at once at most."""

    def defines(self) -> Macros:
        return {"SUBSET_MOST": str(self.most)}


class Flip(SubsetSearch):
    """Takes a thing in."""

    name: ClassVar[str] = "flip"
    most: ClassVar[int] = 1


class Exchange(SubsetSearch):
    """Takes one in for another one too."""

    name: ClassVar[str] = "exchange"
    most: ClassVar[int] = 2


class Exchange21(SubsetSearch):
    """Takes one in for two, and two for one, too."""

    name: ClassVar[str] = "exchange21"
    most: ClassVar[int] = 3


class Exchange22(SubsetSearch):
    """Takes two in for two others too."""

    name: ClassVar[str] = "exchange22"
    most: ClassVar[int] = 4
