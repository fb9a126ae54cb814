"""Local search on tours with lists of neighbours: 2-opt and Or-opt.

Or-opt moves up to three consecutive cities. Only moves that join a city and one of its
neighbours are tried, first for the cities near a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.improvers.base import Improver

if TYPE_CHECKING:
    from islands.problems.base import Problem

_READS = 2000  # per city: about ten searches for its best move, with all distances


class OrOpt(Improver):
    """2-opt and Or-opt, until no move improves."""

    name: ClassVar[str] = "or_opt"
    header: ClassVar[Header] = Header("improvers/or_opt.cuh")
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    uses_neighbours: ClassVar[bool] = True
    adds_costs: ClassVar[bool] = True

    def work(self, problem: Problem) -> float:
        share = min(1.0, self.settings.steps / self.size) if self.settings.steps else 1.0
        return share * _READS * self.size
