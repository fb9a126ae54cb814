"""Bin packing: pack all items into few bins of equal capacity."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.modelling.kinds import whole_number
from islands.models.base import ReadyModel, function_of
from islands.models.drawing import draw_boxes
from islands.models.files import NumberFile
from islands.models.numbers import amounts
from islands.models.plain import Packing
from islands.problems.arguments import name_or
from islands.problems.solution_kinds import ChoicesKind

_MOST = 1 << 16
"""Maximum number of bins: the cost function has two numbers for each."""


class BinPacking(ReadyModel):
    """Pack all items into the fewest bins.

    The sizes of the items in a bin must add up to at most `capacity`; all are whole numbers. An
    overfull bin costs more than a separate bin for each of its items. `bins` is the number of
    available bins, by default a tenth more than first-fit decreasing needs. A solution has the bin
    of each item.

    >>> problem = islands.models.bin_packing([5, 4, 3, 2, 6], 10)
    >>> islands.solve(problem, generations=20).cost
    2
    """

    _cost_file, _state_files = "bin_packing", ("bin_packing_state",)

    sizes: NDArray[np.int64]
    """The size of each item."""
    capacity: int
    """The maximum sum of the sizes in a bin."""
    bins: int
    """The number of bins."""

    def __init__(
        self, sizes: ArrayLike, capacity: int, bins: int | None = None, *, name: str | None = None
    ) -> None:
        self.capacity = capacity = whole_number("capacity", capacity, 2**30)
        self.sizes = size = amounts("sizes", sizes, 1, 2**30)
        if int(size.max()) > capacity:
            raise UsageError(f"sizes: {size.max()} exceeds capacity={capacity}. Leave it out")
        if bins is None:
            bins = _first_fit(size, capacity)
            bins = min(len(size), bins + bins // 10 + 1)  # with room for moves
        self.bins = whole_number("bins", bins, _MOST)
        name = name_or(name, f"binpacking-{len(size)}-{capacity}")
        super().__init__(ChoicesKind(len(size), sizes=self.bins), name)

    def constants(self) -> dict[str, int | bool]:
        """Return the number of bins."""
        return {"BINS": self.bins}

    def data(self) -> dict[str, Any]:
        """Return the sizes and the capacity."""
        return {"size": self.sizes.astype(np.int32), "capacity": self.capacity}

    def exact(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each solution."""
        costs = []
        for bins in solutions:
            load = np.bincount(bins, self.sizes, self.bins)
            count = np.bincount(bins, minlength=self.bins)
            costs.append(int(np.where(load > self.capacity, count + 1, count > 0).sum()))
        return np.array(costs)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the bins."""
        top, bottoms = np.zeros(self.bins), np.zeros(len(self.sizes))
        for i, b in enumerate(solution):
            bottoms[i] = top[b]
            top[b] += self.sizes[i]
        corner = np.asarray(solution) - 0.45, bottoms
        draw_boxes(axes, corner, (0.9, self.sizes), range(len(bottoms)))
        axes.axhline(self.capacity, color="0.4", linewidth=0.8)
        axes.set(xlabel="bin", ylabel="load")

    def _plain(self) -> Packing:
        """Return the sizes and the capacity."""
        return Packing(self.bins, self.sizes.astype(np.int32), self.capacity)


bin_packing = function_of(BinPacking, "bin_packing")


def bound(sizes: ArrayLike, capacity: int) -> int:
    """Return a lower bound, from the sum of the sizes and the items larger than half a bin."""
    size = np.asarray(sizes)
    return max(-(-int(size.sum()) // capacity), int((2 * size > capacity).sum()))


def _first_fit(size: NDArray[Any], capacity: int) -> int:
    """Return the number of bins that first-fit decreasing needs."""
    room: list[int] = []
    for item_size in sorted(size.tolist(), reverse=True):
        k = next((k for k, left in enumerate(room) if left >= item_size), len(room))
        if k == len(room):
            room.append(capacity)
        room[k] -= item_size
    return len(room)


def read(path: Path) -> BinPacking:
    """Return the problem in a file: the number of items, the capacity, and all sizes."""
    with NumberFile.open(path) as file:
        n, capacity = file.numbers(2, "sizes", 1)
        file.expect(f"a packing of {n} items", n)
        sizes = file.numbers(n, "sizes of items")
        file.end()
        return bin_packing(sizes, capacity)
