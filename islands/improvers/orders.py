"""Local searches on orders: descent by one kind of move, 2-opt with Or-opt, and tabu search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from islands.backends.base import Block
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

if TYPE_CHECKING:
    from islands.problems.base import Problem


_ITEMS_A_THREAD = 16  # work items per thread of a block
_MOVES_AT_ONCE = 128  # the first improving move is usually found early; more would be wasted
_TRIES = 64  # approximate number of tries to find one of the first n improving moves
_MOST_MOVED = 92_681  # limit of 32-bit move indices


class LocalSearch(Improver):
    """Local search with one kind of move; all kinds share the kernel."""

    header: ClassVar[Header] = Header("improvers/local.cuh")
    moves: ClassVar[tuple[str, ...]]
    """The kind of move, in kernels/moves.cuh."""
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if settings.strategy == "best" and settings.scope == "all" and size > _MOST_MOVED:
            raise UsageError(
                f"improver.strategy=best: {size} items have too many moves; at most"
                f" {_MOST_MOVED} items are possible. Choose improver.strategy=first"
            )

    def defines(self) -> Macros:
        return {"IMPROVER_MOVE": f"moves::{self.moves[0].capitalize()}"}

    def items(self) -> int:
        """Return the number of work items for which each simultaneous move gets a thread."""
        moves = self._moves()
        if self.settings.scope == "all" and self.settings.strategy == "first":
            moves = min(moves, _MOVES_AT_ONCE)
        return _ITEMS_A_THREAD * moves

    def work(self, problem: Problem) -> float:
        move_reads, moves, n = problem.evaluation.reads(self.moves[0]), self._moves(), self.size
        if self.settings.strategy == "best":
            return min(self.settings.steps or n, n) * moves * move_reads
        whole = self.scans() * moves * move_reads
        if not 0 < self.settings.steps <= n:
            return whole
        # The first improving moves are found quickly, so most of the work is to apply them.
        return min(whole, self.settings.steps * (_TRIES * move_reads + n / 2))

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


_STEPS_PER_ITEM = 20
_MOST_EVALUATIONS = 1 << 27  # of a search with the default steps: a tenth of a second on a CPU
_MOST_UNCHECKED = 1 << 28  # evaluations between checks for a stop request: 0.25 s on a GPU
_FEWEST_STEPS = 100
_READ_AT_ONCE = 5  # entries of two rows that a CPU reads in the time of one step of a pair
_MOST_PAIRED = 32_768  # the row and the column of a pair have 16 bits each


class Tabu(Improver):
    """Makes `steps` swaps and returns the best order found."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/tabu.cuh")
    adds_costs: ClassVar[bool] = True
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    moves: ClassVar[tuple[str, ...]] = ("swap",)

    def __init__(self, settings: ImproverSettings, size: int) -> None:
        super().__init__(settings, size)
        if size > _MOST_PAIRED:
            raise UsageError(
                f"improver=tabu: {size} items have too many pairs; at most {_MOST_PAIRED} items are"
                " possible. Choose improver=two_opt"
            )

    def steps(self) -> int:
        """Return the number of swaps that it makes."""
        affordable = max(_FEWEST_STEPS, _MOST_EVALUATIONS // max(1, self.items()))
        return self.settings.steps or min(_STEPS_PER_ITEM * self.size, affordable)

    def work(self, problem: Problem) -> float:
        reads = problem.evaluation.reads("swap")
        if problem.swaps is not None:  # cost changes are computed once from rows, then updated
            return self.items() * (self.steps() + reads / _READ_AT_ONCE)
        return self.items() * self.steps() * reads

    def defines(self) -> Macros:
        takes_long = self.steps() * self.items() > _MOST_UNCHECKED
        return {
            "TABU_ASPIRATION": str(int(self.settings.aspiration > 0)),
            "TABU_CHECKS_STOP": str(int(takes_long)),
            "PAIRS_A_RUN": "8",  # short runs leave fewer entries unused behind a row of few pairs
        }

    def block(self, problem: Problem) -> Block | None:
        tiles = None if problem.swaps is None else problem.swaps.tiles
        return None if tiles is None or self.settings.aspiration else tiles.block()

    def items(self) -> int:
        return self.size * (self.size - 1) // 2
