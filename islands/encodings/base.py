"""What an encoding is: how a genome is laid out on the device, and which solution it stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros

_NUMBERS_AT_ONCE = 1 << 22


class Encoding(ABC):
    """One kind of genome, for solutions of one size; its kernels are in `kernels/encodings/`."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """Its kernel header."""
    gene: ClassVar[np.dtype[Any]]
    """The type of one gene."""
    solution_kinds: ClassVar[tuple[str, ...]]
    """The kinds of solutions that its genomes stand for."""
    like: ClassVar[str] = ""
    """Another encoding with such genomes: algorithms and operators move them as they do its own."""

    size: int
    """Genes of a genome."""
    pitch: int
    """Genes from one genome to the next in memory; what lies between means nothing."""

    @abstractmethod
    def __init__(
        self, size: int, block_memory: int | None, decoding: str, *, assigns: bool
    ) -> None:
        """Lay genomes out for solutions of `size` items, to be decoded in `block_memory` bytes.

        A solution that `assigns` holds the place of each item, others the item in each place.
        """

    @abstractmethod
    def defines(self) -> Macros:
        """Return the macros that the kernel header is compiled with."""

    @abstractmethod
    def shape(self) -> Struct:
        """Return `encoding::Shape` of the kernel header."""

    @abstractmethod
    def decode(self, genomes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the solution of each row of `genomes`, by NumPy alone."""

    def holds(self, genomes: NDArray[Any]) -> bool:
        """Return whether all rows are such as kernels may be given."""
        return True

    @abstractmethod
    def encode(self, solution: NDArray[np.int64]) -> NDArray[Any]:
        """Return a genome that stands for `solution`."""


def are_orders(rows: NDArray[Any]) -> bool:
    """Return whether each row holds every number from 0 to its length once."""
    size = rows.shape[1]
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, size))
    parts = (rows[first : first + at_once] for first in range(0, len(rows), at_once))
    return all((np.sort(part, axis=1) == np.arange(size)).all() for part in parts)
