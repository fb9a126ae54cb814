"""Random keys (Bean 1994): a number in [0, 1) for each thing; sorting them gives the order.

Keys are multiples of 2^-24, which float32 holds exactly; equal keys are ordered by index.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Room
from islands.encodings.base import Encoding
from islands.errors import UsageError

LEVELS = 1 << 24
"""How many different keys there are."""


class Keys(Encoding):
    """Random keys for orders."""

    name: ClassVar[str] = "keys"
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)

    def __init__(self, size: int, block_memory: int | None) -> None:
        """Lay keys out for `size` things; where fast memory is limited, sort in less of it."""
        if size > LEVELS:
            raise UsageError(
                f"{size} things are more than random keys can order, which is {LEVELS}"
            )
        self.size = size
        self.pitch = -(-size // 4) * 4
        self.index_bits = max(1, (size - 1).bit_length())
        self.buckets = self._buckets(block_memory)

    def _buckets(self, block_memory: int | None) -> int:
        fewest = max(1, (1 << self.index_bits) >> 8)
        if block_memory is None:
            return max(fewest, self.size)
        return max(fewest, min(self.size // 3, block_memory // 4))

    def room(self) -> Room:
        return Room(large=4 * self.pitch, small=4 * self.buckets)

    def shape(self) -> Struct:
        members = (self.size, self.pitch, self.buckets, self.index_bits)
        names = ("n", "pitch", "buckets", "index_bits")
        return Struct(**{name: np.int32(value) for name, value in zip(names, members, strict=True)})

    def decode(self, genomes: NDArray[Any]) -> NDArray[np.int64]:
        return np.argsort(genomes[:, : self.size], axis=1, kind="stable").astype(np.int64)

    def encode(self, solution: NDArray[np.int64]) -> NDArray[Any]:
        """Return keys spread evenly over [0, 1) in the order of `solution`."""
        keys = np.zeros(self.pitch, np.float32)
        steps = np.arange(self.size, dtype=np.int64) * LEVELS // self.size
        keys[solution] = steps.astype(np.float32) / np.float32(LEVELS)
        return keys
