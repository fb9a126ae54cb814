"""Square tiles of the pairs of n items, as kernels/core/tile.cuh divides them among threads."""

from __future__ import annotations

from dataclasses import dataclass

from islands.backends.base import Block

_FEWEST_ITEMS = 46  # tabu search of fewer items was faster with deltas in shared memory
_MOST_ITEMS = 200  # both matrices and the tables of tabu search fit into the memory of a block
_SIDES = (4, 5)
_WARP = 32
_REGISTERS = 65_536  # of a multiprocessor


@dataclass(frozen=True)
class Tiles:
    """The tiles of a number of items."""

    items: int
    side: int

    @property
    def count(self) -> int:
        """The number of tiles."""
        across = -(-self.items // self.side)
        return across * (across + 1) // 2

    def block(self) -> Block:
        """Return the threads that they need, and the most blocks that have enough registers."""
        threads = _rounded(max(2 * self.items, self.count))
        registers = 40 + self.side * self.side * 3 // 2
        return Block(threads, _REGISTERS // (threads * registers))


def tiles_of(items: int) -> Tiles | None:
    """Return the fastest tiles for a number of items; None: other methods are faster, or fit."""
    if not _FEWEST_ITEMS <= items <= _MOST_ITEMS:
        return None
    small, large = (Tiles(items, side) for side in _SIDES)
    return small if small.count <= 1.15 * _rounded(2 * items) else large


def _rounded(threads: int) -> int:
    return -(-threads // _WARP) * _WARP
