"""Tabu search near a subset: the best exchange that is allowed and fits, even if it lowers profit.

A thing that has changed sides may not change again for a while, unless that leads to more profit
than any subset so far.
"""

from __future__ import annotations

import math
from typing import ClassVar

from islands.backends.header import Header
from islands.improvers.subset import NearSubset

_STEPS = 100


class SubsetTabu(NearSubset):
    """Takes `steps` exchanges and leaves the best subset met."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/subset_tabu.cuh")

    def steps(self) -> int:
        return self.settings.steps or _STEPS

    def tenures(self) -> tuple[int, int]:
        low, high = self.settings.tenure_low, self.settings.tenure_high
        root = math.sqrt(self.core)
        return round(low * root), round(high * root)
