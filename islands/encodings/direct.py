"""Encodings whose genomes are the solution itself, item by item or bit by bit."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.arguments import Struct
from islands.backends.source import Header, Macros
from islands.encodings.base import Encoding, are_inside, are_orders, highest


class Permutation(Encoding):
    """Orders as permutations of 0 to n - 1."""

    name: ClassVar[str] = "permutation"
    header: ClassVar[Header] = Header("encodings/permutation.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return genomes[:, : self.size].astype(np.int64)

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_orders(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.arange(self.pitch, dtype=np.int32)
        genome[: self.size] = solution
        return genome


class Doubled(Encoding):
    """Orders as closed tours through two nodes per item: 2 k, its entry, and 2 k + 1, its exit.

    Lengths between nodes are symmetric even if those between items are not.
    """

    name: ClassVar[str] = "doubled"
    header: ClassVar[Header] = Header("encodings/doubled.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(2 * size)

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        nodes = genomes[:, : self.size].astype(np.int64)
        # A tour may start between the nodes of an item, and may be reversed.
        is_whole = nodes[:, :1] // 2 == nodes[:, 1:2] // 2
        rolled = np.where(is_whole, nodes, np.roll(nodes, 1, axis=1))
        is_reversed = rolled[:, :1] % 2 == 1
        return np.where(is_reversed, rolled[:, ::-1], rolled)[:, ::2] // 2

    def holds(self, genomes: NDArray[Any]) -> bool:
        nodes = genomes[:, : self.size]
        return are_orders(nodes) and all(map(_are_pairs, nodes))

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.arange(self.pitch, dtype=np.int32)
        genome[: self.size] = (2 * np.asarray(solution)[:, np.newaxis] + [0, 1]).reshape(-1)
        return genome


def _are_pairs(nodes: NDArray[Any]) -> bool:
    """Return whether the nodes of each item are adjacent, in the same direction for all items."""
    rolled = nodes if nodes[0] // 2 == nodes[1] // 2 else np.roll(nodes, 1)
    ways = (rolled % 2).reshape(-1, 2)
    return bool((rolled[::2] // 2 == rolled[1::2] // 2).all() and (ways == ways[0]).all())


class RawKeys(Encoding):
    """Keys as single-precision numbers in [0, 1), for a problem with its own decoder."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/numbers.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("keys",)
    bounded: ClassVar[bool] = True

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return genomes[:, : self.size].copy()

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_inside(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.zeros(self.pitch, self.gene)
        genome[: self.size] = np.clip(np.asarray(solution, self.gene), 0, highest(self.gene))
        return genome


class Vector(Encoding):
    """Points of the box from `low` to `high`: a gene is a coordinate scaled to [0, 1]."""

    name: ClassVar[str] = "vector"
    header: ClassVar[Header] = Header("encodings/numbers.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    solution_kinds: ClassVar[tuple[str, ...]] = ("vector",)
    bounded: ClassVar[bool] = True

    def __init__(
        self, size: int, *args: Any, low: ArrayLike = 0.0, high: ArrayLike = 1.0, **kwargs: Any
    ) -> None:
        super().__init__(size)
        self._low = np.broadcast_to(np.asarray(low, np.float64), size)
        self._high = np.broadcast_to(np.asarray(high, np.float64), size)

    def defines(self) -> Macros:
        return {"NUMBERS_ARE_COORDINATES": "1"}

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        unit = genomes[:, : self.size]
        vectors: NDArray[np.float64] = self._low + (self._high - self._low) * unit
        return np.minimum(vectors, self._high)

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_inside(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        """Return the vector in the unit box; coordinates outside the box are clipped."""
        width = self._high - self._low
        above = np.asarray(solution, np.float64) - self._low
        unit = np.divide(above, width, out=np.zeros(self.size), where=width > 0)
        genome = np.zeros(self.pitch, self.gene)
        genome[: self.size] = np.clip(unit, 0, 1)
        return genome


_WORD_BITS = 32


class Bits(Encoding):
    """Subsets as bits; a solution has 1 or 0 for each item."""

    name: ClassVar[str] = "bits"
    header: ClassVar[Header] = Header("encodings/bits.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)

    def __init__(self, size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(-(-size // _WORD_BITS))
        self._items = size

    def shape(self) -> Struct:
        return Struct(**super().shape().members, items=np.int32(self._items))

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return self._bits(genomes)[:, : self._items].astype(np.int64)

    def holds(self, genomes: NDArray[Any]) -> bool:
        return not self._bits(genomes)[:, self._items :].any()

    def _bits(self, genomes: NDArray[Any]) -> NDArray[np.uint8]:
        words = np.ascontiguousarray(genomes[:, : self.size]).astype("<u4")
        return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.zeros(self.pitch, "<u4")
        packed = np.packbits(solution.astype(np.uint8), bitorder="little")
        genome.view(np.uint8)[: len(packed)] = packed
        return genome.astype(np.uint32)
