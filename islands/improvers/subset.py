"""Local search on subsets: exchanges that raise the profit, until there are none or enough made.

Only feasible subsets are improved, and they stay so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_EXCHANGES = 3  # that a search makes, about
_MOST_ITEMS = 92_681  # pairs that leave are told apart by a number of 32 bits


class NearSubset(Improver):
    """A search that exchanges items of the core, which is all or those of doubtful utility."""

    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)
    moves: ClassVar[tuple[str, ...]] = ("exchange",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        self.core = min(settings.core or size, size)
        if self.core > _MOST_ITEMS:
            raise UsageError(
                f"improver.core={settings.core}: {self.core} items have too many exchanges, at"
                f" most {_MOST_ITEMS} may be there. Choose improver.core=60"
            )

    def items(self) -> int:
        return self.core

    def looks(self, problem: Problem) -> tuple[float, float]:
        """Return about how many numbers are looked up, for single items and for pairs of them."""
        of_item = self.core * problem.delta_items("exchange")
        return of_item, self.core * of_item


class SubsetSearch(NearSubset):
    """The search with exchanges of one size, and smaller ones; the kernel is common to all."""

    header: ClassVar[Header] = Header("improvers/subset.cuh")
    most: ClassVar[int]
    """How many items change at once at most."""

    scans: ClassVar[float]
    """About how often all pairs of items are looked at: most larger exchanges cannot gain."""

    def defines(self) -> Macros:
        return {"SUBSET_MOST": str(self.most)}

    def work(self, problem: Problem) -> float:
        of_items, of_pairs = self.looks(problem)
        # Few exchanges are made, and one costs about a third of them all.
        share = min(1.0, (self.settings.steps or _EXCHANGES) / _EXCHANGES)
        return share * (2 * of_items + self.scans * of_pairs)


class Flip(SubsetSearch):
    """Takes an item in."""

    name: ClassVar[str] = "flip"
    most: ClassVar[int] = 1
    scans: ClassVar[float] = 0.0


class Exchange(SubsetSearch):
    """Takes one in for another one too."""

    name: ClassVar[str] = "exchange"
    most: ClassVar[int] = 2
    scans: ClassVar[float] = 0.2


class Exchange21(SubsetSearch):
    """Takes one in for two, and two for one, too."""

    name: ClassVar[str] = "exchange21"
    most: ClassVar[int] = 3
    scans: ClassVar[float] = 1.0


class Exchange22(SubsetSearch):
    """Takes two in for two others too."""

    name: ClassVar[str] = "exchange22"
    most: ClassVar[int] = 4
    scans: ClassVar[float] = 25.0
