"""Local search and tabu search on subsets: only feasible ones are improved, and they remain so.

Local search applies exchanges that raise the profit, until there is none or `steps` are made. Tabu
search applies the best allowed exchange that fits, even if it lowers the profit: a changed item is
tabu for some steps, unless the result is better than any subset so far.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem


_EXCHANGES = 3  # approximate number of exchanges that a local search makes
_TABU_STEPS = 100
_MOST_ITEMS = 92_681  # limit of 32-bit indices of pairs of items


class CoreImprover(Improver):
    """A search that exchanges items of the core: all items, or those of medium utility."""

    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)
    moves: ClassVar[tuple[str, ...]] = ("exchange",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        self.core = min(settings.core or size, size)
        if self.core > _MOST_ITEMS:
            raise UsageError(
                f"improver.core={settings.core}: {self.core} items have too many exchanges; at"
                f" most {_MOST_ITEMS} items are possible. Choose improver.core=60"
            )

    def items(self) -> int:
        return self.core

    def reads(self, problem: Problem) -> tuple[float, float]:
        """Return the approximate memory reads for all items, and for all pairs of items."""
        item_reads = self.core * problem.evaluation.reads("exchange")
        return item_reads, self.core * item_reads


class SubsetSearch(CoreImprover):
    """Local search with exchanges of at most `most` items; all sizes share the kernel."""

    header: ClassVar[Header] = Header("improvers/subset.cuh")
    most: ClassVar[int]
    """Maximum number of items that one exchange changes."""

    scans: ClassVar[float]
    """Approximate number of scans over all pairs; most larger exchanges are skipped."""

    def defines(self) -> Macros:
        return {"SUBSET_MOST": str(self.most)}

    def work(self, problem: Problem) -> float:
        item_reads, pair_reads = self.reads(problem)
        share = min(1.0, (self.settings.steps or _EXCHANGES) / _EXCHANGES)
        return share * (2 * item_reads + self.scans * pair_reads)


class Flip(SubsetSearch):
    """Adds an item."""

    name: ClassVar[str] = "flip"
    most: ClassVar[int] = 1
    scans: ClassVar[float] = 0.0


class ExchangeSearch(SubsetSearch):
    """Adds an item, or exchanges one item for another."""

    name: ClassVar[str] = "exchange"
    most: ClassVar[int] = 2
    scans: ClassVar[float] = 0.2


class Exchange21(SubsetSearch):
    """Like `exchange`, but also exchanges one item for two, or two for one."""

    name: ClassVar[str] = "exchange21"
    most: ClassVar[int] = 3
    scans: ClassVar[float] = 1.0


class Exchange22(SubsetSearch):
    """Like `exchange21`, but also exchanges two items for two others."""

    name: ClassVar[str] = "exchange22"
    most: ClassVar[int] = 4
    scans: ClassVar[float] = 25.0


class SubsetTabu(CoreImprover):
    """Tabu search that makes `steps` exchanges and returns the best subset found."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/subset_tabu.cuh")

    def steps(self) -> int:
        return self.settings.steps or _TABU_STEPS

    def work(self, problem: Problem) -> float:
        # Items are sorted by profit, so only the beginning of each row is read.
        item_reads, pair_reads = self.reads(problem)
        return self.steps() * (4 * item_reads + pair_reads / 200)

    def tenures(self) -> tuple[int, int]:
        low, high = self.settings.tenure_low, self.settings.tenure_high
        root = math.sqrt(self.core)
        return round(low * root), round(high * root)
