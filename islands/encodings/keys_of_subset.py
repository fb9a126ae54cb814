"""Random keys for subsets: an item is selected if its key is at least 0.5."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding

_IN, _OUT = 0.75, 0.25


class KeysOfSubset(Encoding):
    """A key for each item."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/keys_of_subset.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)

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
        return (genomes[:, : self.size] >= 0.5).astype(np.int64)

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.full(self.pitch, _OUT, np.float32)
        genome[: self.size][solution == 1] = _IN
        return genome
