"""Tabu search near a subset: the best exchange that is allowed and fits, even if it lowers profit.

An item that has changed sides may not change again for a while, unless that leads to more profit
than any subset so far.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.improvers.subset import NearSubset

if TYPE_CHECKING:
    from islands.problems.base import Problem

_STEPS = 100


class SubsetTabu(NearSubset):
    """Takes `steps` exchanges and leaves the best subset met."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/subset_tabu.cuh")

    def steps(self) -> int:
        return self.settings.steps or _STEPS

    def work(self, problem: Problem) -> float:
        # Things come in the order of their profit, so that few of a row are looked at.
        of_items, of_pairs = self.looks(problem)
        return self.steps() * (4 * of_items + of_pairs / 200)

    def tenures(self) -> tuple[int, int]:
        low, high = self.settings.tenure_low, self.settings.tenure_high
        root = math.sqrt(self.core)
        return round(low * root), round(high * root)
