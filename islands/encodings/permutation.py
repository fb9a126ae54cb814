"""Permutations: a genome is the solution itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding, are_orders


class Permutation(Encoding):
    """Orders as permutations of 0 to n - 1."""

    name: ClassVar[str] = "permutation"
    header: ClassVar[Header] = Header("encodings/permutation.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(
        self, size: int, block_memory: int | None, decoding: str = "free", *, assigns: bool = False
    ) -> None:
        self.size = size
        self.pitch = -(-size // 4) * 4

    def defines(self) -> Macros:
        return {}

    def shape(self) -> Struct:
        return Struct(n=np.int32(self.size), pitch=np.int32(self.pitch))

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return genomes[:, : self.size].astype(np.int64)

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_orders(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.arange(self.pitch, dtype=np.int32)
        genome[: self.size] = solution
        return genome
