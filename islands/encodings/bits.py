"""Bits: one bit per item tells whether it is selected; a gene contains 32 bits."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding

_WORD_BITS = 32


class Bits(Encoding):
    """Subsets as bits; a solution has 1 or 0 for each item."""

    name: ClassVar[str] = "bits"
    header: ClassVar[Header] = Header("encodings/bits.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)

    def __init__(
        self, size: int, block_memory: int | None, decoding: str = "free", *, assigns: bool = False
    ) -> None:
        self._items = size
        self.size = -(-size // _WORD_BITS)
        self.pitch = -(-self.size // 4) * 4

    def defines(self) -> Macros:
        return {}

    def shape(self) -> Struct:
        members = {"n": self.size, "pitch": self.pitch, "items": self._items}
        return Struct(**{name: np.int32(value) for name, value in members.items()})

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        words = np.ascontiguousarray(genomes[:, : self.size]).astype("<u4")
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return bits[:, : self._items].astype(np.int64)

    def holds(self, genomes: NDArray[Any]) -> bool:
        words = np.ascontiguousarray(genomes[:, : self.size]).astype("<u4")
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return not bits[:, self._items :].any()

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.zeros(self.pitch, "<u4")
        packed = np.packbits(solution.astype(np.uint8), bitorder="little")
        genome.view(np.uint8)[: len(packed)] = packed
        return genome.astype(np.uint32)
