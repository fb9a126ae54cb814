"""Local search: moves that lower the cost are taken, until there are none or enough are taken."""

from __future__ import annotations

from typing import ClassVar

from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

_THINGS_A_THREAD = 16  # blocks get a thread for so many pieces of work
_MOVES_AT_ONCE = 128  # the first that improves is mostly found soon: more would be tried in vain
_MOST_THINGS = 92_681  # the best of all moves is told apart by a number of 32 bits


class LocalSearch(Improver):
    """The search with one kind of move; the kernel is common to all kinds."""

    header: ClassVar[Header] = Header("improvers/local.cuh")
    moves: ClassVar[tuple[str, ...]]
    """The one kind of move, in kernels/moves.cuh."""
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if settings.strategy == "best" and settings.scope == "all" and size > _MOST_THINGS:
            raise UsageError(
                f"improver.strategy=best: {size} things have too many moves, at most"
                f" {_MOST_THINGS} may be there. Choose improver.strategy=first"
            )

    def defines(self) -> Macros:
        return {"IMPROVER_MOVE": f"moves::{self.moves[0].capitalize()}"}

    def items(self) -> int:
        """Return the pieces of work for which a block has a thread for each move tried at once."""
        if self.settings.scope == "position":
            moves = self.size - 1
        else:
            moves = self.size * (self.size - 1) // 2
            if self.settings.strategy == "first":
                moves = min(moves, _MOVES_AT_ONCE)
        return _THINGS_A_THREAD * moves


class Swap(LocalSearch):
    """Exchanges two entries."""

    name: ClassVar[str] = "swap"
    moves: ClassVar[tuple[str, ...]] = ("swap",)


class TwoOpt(LocalSearch):
    """Reverses a run of entries."""

    name: ClassVar[str] = "two_opt"
    moves: ClassVar[tuple[str, ...]] = ("reversal",)


class Reinsert(LocalSearch):
    """Takes an entry out and puts it back later."""

    name: ClassVar[str] = "reinsert"
    moves: ClassVar[tuple[str, ...]] = ("insertion",)
