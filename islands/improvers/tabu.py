"""Robust taboo search (Taillard 1991): the best exchange that is allowed, even if it is worse.

What each exchange would change is stored where the problem's kernels can keep it up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_STEPS_A_THING = 20
_MOST_EVALUATIONS = 1 << 27  # of a search that is not told its steps: a tenth of a second on a CPU
_MOST_UNSEEN = 1 << 28  # of a search that a GPU does not look up from: a quarter of a second
_FEWEST_STEPS = 100
_MOST_STEPS = 50_000  # kernels count them in sixteen bits
_MOST_ITEMS = 32_768  # a run of pairs is told by 16 bits each for its row and its column


class Tabu(Improver):
    """Takes `steps` exchanges and leaves the best order met."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/tabu.cuh")
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    moves: ClassVar[tuple[str, ...]] = ("swap",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if size > _MOST_ITEMS:
            raise UsageError(
                f"improver=tabu: {size} items have too many pairs, at most {_MOST_ITEMS} may be"
                " there. Choose improver=two_opt"
            )

    def steps(self) -> int:
        """Return how many exchanges it makes."""
        affordable = max(_FEWEST_STEPS, _MOST_EVALUATIONS // max(1, self.items()))
        return self.settings.steps or min(_STEPS_A_THING * self.size, affordable)

    def work(self, problem: Problem) -> float:
        # Of problems that bring the means, what each exchange would change is kept.
        is_kept = "PROBLEM_SWAPS" in problem.defines()
        return self.steps() * self.items() * (1 if is_kept else problem.delta_items("swap"))

    def defines(self) -> Macros:
        takes_long = self.steps() * self.items() > _MOST_UNSEEN
        return {
            "TABU_ASPIRATION": str(int(self.settings.aspiration > 0)),
            "TABU_LOOKS": str(int(takes_long)),
        }

    def items(self) -> int:
        return self.size * (self.size - 1) // 2
