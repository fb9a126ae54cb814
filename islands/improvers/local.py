"""Local search on orders: make moves that lower the cost, until none does or `steps` are made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem

_ITEMS_A_THREAD = 16  # work items per thread of a block
_MOVES_AT_ONCE = 128  # the first improving move is usually found early; more would be wasted
_TRIES = 64  # approximate number of tries to find one of the first n improving moves
_MOST_ITEMS = 92_681  # the index of a move has 32 bits


class LocalSearch(Improver):
    """Local search with one kind of move; all kinds share the kernel."""

    header: ClassVar[Header] = Header("improvers/local.cuh")
    moves: ClassVar[tuple[str, ...]]
    """The one kind of move, in kernels/moves.cuh."""
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if settings.strategy == "best" and settings.scope == "all" and size > _MOST_ITEMS:
            raise UsageError(
                f"improver.strategy=best: {size} items have too many moves; at most"
                f" {_MOST_ITEMS} items are possible. Choose improver.strategy=first"
            )

    def defines(self) -> Macros:
        return {"IMPROVER_MOVE": f"moves::{self.moves[0].capitalize()}"}

    def items(self) -> int:
        """Return work items that give the block a thread for each move that it tries at once."""
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
        # The first improving moves are found quickly, so making them dominates.
        return min(whole, self.settings.steps * (_TRIES * of_move + n / 2))

    def most_calls(self) -> float:
        return self.settings.steps * self._moves() if self.settings.steps else math.inf

    def scans(self) -> float:
        """Return the approximate number of scans over all moves until none improves."""
        return max(8.0, math.sqrt(self.size))

    def _moves(self) -> int:
        """Return the number of moves in a scan."""
        n = self.size
        return n - 1 if self.settings.scope == "position" else n * (n - 1) // 2


class Swap(LocalSearch):
    """Swaps two entries."""

    name: ClassVar[str] = "swap"
    moves: ClassVar[tuple[str, ...]] = ("swap",)


class TwoOpt(LocalSearch):
    """Reverses a segment."""

    name: ClassVar[str] = "two_opt"
    moves: ClassVar[tuple[str, ...]] = ("reversal",)

    def scans(self) -> float:
        return 8.0


class Reinsert(LocalSearch):
    """Moves an entry to a later position."""

    name: ClassVar[str] = "reinsert"
    moves: ClassVar[tuple[str, ...]] = ("insertion",)
