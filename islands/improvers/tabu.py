"""Robust tabu search (Taillard 1991): make the best allowed swap, even if it raises the cost.

The cost difference of every swap is stored if the problem's kernels can update it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from islands.backends.base import Block
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_STEPS_PER_ITEM = 20
_MOST_EVALUATIONS = 1 << 27  # of a search with the default steps: a tenth of a second on a CPU
_MOST_UNCHECKED = 1 << 28  # evaluations without a check for a stop request: 0.25 s on a GPU
_FEWEST_STEPS = 100
_READ_AT_ONCE = 5  # numbers of two rows that a CPU reads in the time of one step of a pair
_MOST_ITEMS = 32_768  # the row and the column of a pair have 16 bits each


class Tabu(Improver):
    """Makes `steps` swaps and returns the best order found."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/tabu.cuh")
    adds_costs: ClassVar[bool] = True
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    moves: ClassVar[tuple[str, ...]] = ("swap",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if size > _MOST_ITEMS:
            raise UsageError(
                f"improver=tabu: {size} items have too many pairs; at most {_MOST_ITEMS} items are"
                " possible. Choose improver=two_opt"
            )

    def steps(self) -> int:
        """Return the number of swaps that it makes."""
        affordable = max(_FEWEST_STEPS, _MOST_EVALUATIONS // max(1, self.items()))
        return self.settings.steps or min(_STEPS_PER_ITEM * self.size, affordable)

    def work(self, problem: Problem) -> float:
        reads = problem.delta_items("swap")
        if problem.swaps is not None:  # each is computed once, from rows in memory, then updated
            return self.items() * (self.steps() + reads / _READ_AT_ONCE)
        return self.items() * self.steps() * reads

    def defines(self) -> Macros:
        takes_long = self.steps() * self.items() > _MOST_UNCHECKED
        return {
            "TABU_ASPIRATION": str(int(self.settings.aspiration > 0)),
            "TABU_CHECKS_STOP": str(int(takes_long)),
        }

    def block(self, problem: Problem) -> Block | None:
        tiles = None if problem.swaps is None else problem.swaps.tiles
        return None if tiles is None or self.settings.aspiration else tiles.block()

    def items(self) -> int:
        return self.size * (self.size - 1) // 2
