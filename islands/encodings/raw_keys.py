"""Random keys that are the solution itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding, are_inside, highest


class RawKeys(Encoding):
    """Keys as single-precision numbers in [0, 1), for a problem with a decoder of its own."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/raw_keys.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("keys",)
    bounded: ClassVar[bool] = True

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
        return genomes[:, : self.size].copy()

    def holds(self, genomes: NDArray[Any]) -> bool:
        return are_inside(genomes[:, : self.size])

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.zeros(self.pitch, self.gene)
        genome[: self.size] = np.clip(np.asarray(solution, self.gene), 0, highest(self.gene))
        return genome
