"""The base class of encodings: the layout of genomes and the solutions that they represent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.source import Header, Macros

_NUMBERS_AT_ONCE = 1 << 22


class Encoding(ABC):
    """A kind of genome for solutions of one size; the kernels are in `kernels/encodings/`."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """The kernel header."""
    gene: ClassVar[np.dtype[Any]]
    """The type of one gene."""
    solution_kinds: ClassVar[tuple[str, ...]]
    """The kinds of solutions that genomes represent."""
    bounded: ClassVar[bool] = False
    """Whether genes must stay between 0 and 1, as they are the solution itself."""
    like: ClassVar[str] = ""
    """A built-in encoding with the same genomes, whose algorithms and operators are supported."""

    size: int
    """Number of genes per genome."""
    pitch: int
    """Distance between two genomes in memory, in genes; the padding is unused."""

    def __init__(
        self,
        size: int,
        shared_memory: int | None = None,
        decoding: str = "free",
        *,
        assigns: bool = False,
    ) -> None:
        """Define genomes for solutions of `size` items: one gene per item unless overridden.

        `shared_memory` is the memory of a block for decoding, in bytes. With `assigns`, a solution
        contains the place of each item, otherwise the item at each place. Encodings of vectors also
        take their bounds, `low` and `high`.
        """
        self.size = size
        self.pitch = -(-size // 4) * 4

    def defines(self) -> Macros:
        """Return the macros for compiling the kernel header."""
        return {}

    def shape(self) -> Struct:
        """Return `encoding::Shape` of the kernel header."""
        return Struct(n=np.int32(self.size), pitch=np.int32(self.pitch))

    @abstractmethod
    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        """Return the solution of each row of `genomes`, computed with NumPy."""

    def accepts(self, other: Encoding) -> bool:
        """Return whether genomes of another encoding are valid and represent the same solutions."""
        return self.name == other.name

    def holds(self, genomes: NDArray[Any]) -> bool:
        """Return whether all rows are valid genomes."""
        return True

    @abstractmethod
    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        """Return a genome that represents `solution`."""

    def corrected(self, genome: NDArray[Any], solution: NDArray[Any]) -> NDArray[Any]:
        """Return the genome that a kernel writes after it has changed the solution of `genome`."""
        corrected = genome.copy()
        corrected[: self.size] = self.encode(solution)[: self.size]
        return corrected


def are_inside(genes: NDArray[Any]) -> bool:
    """Return whether all genes are in the range of bounded genes; NaN is not."""
    return bool(((genes >= 0) & (genes <= highest(genes.dtype))).all())


def highest(gene: np.dtype[Any]) -> Any:
    """Return the largest bounded gene: 1 for a coordinate, the largest number below 1 for a key."""
    return np.float64(1) if gene == np.float64 else np.nextafter(np.float32(1), np.float32(0))


def are_orders(rows: NDArray[Any]) -> bool:
    """Return whether each row of length n is a permutation of 0 to n - 1."""
    size = rows.shape[1]
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, size))
    parts = (rows[first : first + at_once] for first in range(0, len(rows), at_once))
    return all((np.sort(part, axis=1) == np.arange(size)).all() for part in parts)
