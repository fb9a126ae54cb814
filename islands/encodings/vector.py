"""Vectors in a box: a gene is a coordinate, scaled to [0, 1]."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding, are_inside


class Vector(Encoding):
    """Points of the box from `low` to `high`; kernels see the unit box."""

    name: ClassVar[str] = "vector"
    header: ClassVar[Header] = Header("encodings/vector.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    solution_kinds: ClassVar[tuple[str, ...]] = ("vector",)
    bounded: ClassVar[bool] = True

    def __init__(
        self,
        size: int,
        block_memory: int | None,
        decoding: str = "free",
        *,
        assigns: bool = False,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
    ) -> None:
        self.size = size
        self.pitch = -(-size // 4) * 4
        self._low = np.broadcast_to(np.asarray(low, np.float64), size)
        self._high = np.broadcast_to(np.asarray(high, np.float64), size)

    def defines(self) -> Macros:
        return {}

    def shape(self) -> Struct:
        return Struct(n=np.int32(self.size), pitch=np.int32(self.pitch))

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        unit = genomes[:, : self.size]
        vectors: NDArray[np.float64] = self._low + (self._high - self._low) * unit
        return np.minimum(vectors, self._high)

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_inside(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        """Return the vector in the unit box; coordinates outside the box move to its bound."""
        width = self._high - self._low
        above = np.asarray(solution, np.float64) - self._low
        unit = np.divide(above, width, out=np.zeros(self.size), where=width > 0)
        genome = np.zeros(self.pitch, self.gene)
        genome[: self.size] = np.clip(unit, 0, 1)
        return genome
