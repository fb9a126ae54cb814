"""Local search: moves that lower the cost are taken, until there are none or enough are taken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_ITEMS_A_THREAD = 16  # blocks get a thread for so many pieces of work
_MOVES_AT_ONCE = 128  # the first that improves is mostly found soon: more would be tried in vain
_TRIES = 64  # to find one of the first n moves that improve, about
_MOST_ITEMS = 92_681  # the best of all moves is told apart by a number of 32 bits


class LocalSearch(Improver):
    """The search with one kind of move; the kernel is common to all kinds."""

    header: ClassVar[Header] = Header("improvers/local.cuh")
    moves: ClassVar[tuple[str, ...]]
    """The one kind of move, in kernels/moves.cuh."""
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if settings.strategy == "best" and settings.scope == "all" and size > _MOST_ITEMS:
            raise UsageError(
                f"improver.strategy=best: {size} items have too many moves, at most"
                f" {_MOST_ITEMS} may be there. Choose improver.strategy=first"
            )

    def defines(self) -> Macros:
        return {"IMPROVER_MOVE": f"moves::{self.moves[0].capitalize()}"}

    def items(self) -> int:
        """Return the pieces of work for which a block has a thread for each move tried at once."""
        moves = self._moves()
        if self.settings.scope == "all" and self.settings.strategy == "first":
            moves = min(moves, _MOVES_AT_ONCE)
        return _ITEMS_A_THREAD * moves

    def work(self, problem: Problem) -> float:
        of_move, moves, n = problem.delta_items(self.moves[0]), self._moves(), self.size
        if self.settings.strategy == "best":
            return min(self.settings.steps or n, n) * moves * of_move
        whole = self.scans() * moves * of_move
        if not 0 < self.settings.steps <= n:
            return whole
        # So early, moves are soon found, and to make them takes longer.
        return min(whole, self.settings.steps * (_TRIES * of_move + n / 2))

    def scans(self) -> float:
        """Return about how often all moves are tried until none improves."""
        return max(8.0, math.sqrt(self.size))

    def _moves(self) -> int:
        """Return how many there are to be tried."""
        n = self.size
        return n - 1 if self.settings.scope == "position" else n * (n - 1) // 2


class Swap(LocalSearch):
    """Exchanges two entries."""

    name: ClassVar[str] = "swap"
    moves: ClassVar[tuple[str, ...]] = ("swap",)


class TwoOpt(LocalSearch):
    """Reverses a run of entries."""

    name: ClassVar[str] = "two_opt"
    moves: ClassVar[tuple[str, ...]] = ("reversal",)

    def scans(self) -> float:
        return 8.0


class Reinsert(LocalSearch):
    """Takes an entry out and puts it back later."""

    name: ClassVar[str] = "reinsert"
    moves: ClassVar[tuple[str, ...]] = ("insertion",)
