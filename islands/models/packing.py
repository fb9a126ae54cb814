"""Bin packing: few bins of equal capacity that take all items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.modelling.statement import Statement
from islands.models.files import NumberFile
from islands.models.numbers import amounts
from islands.models.plain import Packing
from islands.models.texts import text_of
from islands.problems.data import name_or
from islands.problems.solution_kinds import Choices

_MOST = 1 << 16
"""The most bins, of which a cost has two numbers each."""


class BinPacking(Model):
    """The problem of `bin_packing`."""

    sizes: NDArray[np.int64]
    """The size of each item."""
    capacity: int
    """The most that the sizes of the items of a bin may add up to."""
    bins: int
    """The number of bins."""

    def __init__(
        self, sizes: ArrayLike, capacity: int, bins: int | None = None, *, name: str | None = None
    ) -> None:
        """Take the arguments of `bin_packing`."""
        self.capacity = capacity = whole_number("capacity", capacity, 2**30)
        self.sizes = size = amounts("sizes", sizes, 1, 2**30)
        if int(size.max()) > capacity:
            raise UsageError(f"sizes: {size.max()} exceeds capacity={capacity}. Leave it out")
        if bins is None:
            bins = _first_fit(size, capacity)
            bins = min(len(size), bins + bins // 10 + 1)  # with room for moves
        self.bins = whole_number("bins", bins, _MOST)
        statement = Statement(
            cost=text_of("bin_packing"),
            state=text_of("bin_packing_state"),
            name=name_or(name, f"binpacking-{len(size)}-{capacity}"),
        )
        super().__init__(Choices(len(size), sizes=self.bins), statement)

    def constants(self) -> dict[str, int | bool]:
        """Return the number of bins."""
        return {"BINS": self.bins}

    def data(self) -> dict[str, Any]:
        """Return the sizes and the capacity."""
        return {"size": self.sizes.astype(np.int32), "capacity": self.capacity}

    def exact(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each solution."""
        found = []
        for own in solutions:
            load = np.bincount(own, self.sizes, self.bins)
            count = np.bincount(own, minlength=self.bins)
            found.append(int(np.where(load > self.capacity, count + 1, count > 0).sum()))
        return np.array(found)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the bins."""
        top = np.zeros(self.bins)
        for i, b in enumerate(solution.tolist()):
            axes.bar(b, self.sizes[i], bottom=top[b], width=0.9, color=f"C{i % 10}")
            top[b] += self.sizes[i]
        axes.axhline(self.capacity, color="0.4", linewidth=0.8)
        axes.set(xlabel="bin", ylabel="load")

    def _plain(self) -> Packing:
        """Return the sizes and the capacity."""
        return Packing(self.bins, self.sizes.astype(np.int32), self.capacity)


@explained
def bin_packing(
    sizes: ArrayLike, capacity: int, bins: int | None = None, *, name: str | None = None
) -> BinPacking:
    """Return the problem of the fewest bins that take all items.

    The sizes of the items of a bin must not exceed `capacity`; all are whole numbers. A bin that
    is too full costs more than a bin for each of its items. `bins` is how many there are, by
    default a tenth more than a simple rule needs. A solution is the bin of each item.

    >>> problem = islands.models.bin_packing([5, 4, 3, 2, 6], 10)
    >>> islands.solve(problem, generations=20).cost
    2
    """
    return BinPacking(sizes, capacity, bins, name=name)


def bound(sizes: ArrayLike, capacity: int) -> int:
    """Return a lower bound: the sum of the sizes, or the items above half of a bin."""
    size = np.asarray(sizes)
    return max(-(-int(size.sum()) // capacity), int((2 * size > capacity).sum()))


def _first_fit(size: NDArray[Any], capacity: int) -> int:
    """Return how many bins are needed if items go to the first with room, the largest first."""
    room: list[int] = []
    for each in sorted(size.tolist(), reverse=True):
        k = next((k for k, left in enumerate(room) if left >= each), len(room))
        if k == len(room):
            room.append(capacity)
        room[k] -= each
    return len(room)


def read(path: Path) -> Model:
    """Return the problem in a file: the number of items, the capacity, and all sizes."""
    with NumberFile.open(path) as file:
        n, capacity = file.numbers(2, "sizes", 1)
        file.expect(f"a packing of {n} items", n)
        sizes = file.numbers(n, "sizes of items")
        file.end()
        return bin_packing(sizes, capacity)
