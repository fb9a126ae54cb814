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


DECODINGS = ("sorted", "plain", "host")
"""Who puts the things in order: the block together, one thread from bare keys, or the host."""


class Keys(Encoding):
    """Random keys for orders."""

    name: ClassVar[str] = "keys"
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)

    def __init__(self, size: int, block_memory: int | None, decoding: str = "sorted") -> None:
        self.size = size
        self.pitch = -(-size // 4) * 4
        self.index_bits = max(1, (size - 1).bit_length())
        self._decoding = decoding
        # An item keeps all of a key's 24 bits beside the index where there are so many buckets.
        fewest = max(1, (1 << self.index_bits) >> 8)
        if block_memory is None:
            self.buckets = max(fewest, size)
        else:
            self.buckets = max(fewest, min(size // 3, block_memory // 4))
        most = (
            LEVELS if block_memory is None else min(LEVELS, _power_of_two(block_memory // 4) << 8)
        )
        if size > most:
            raise UsageError(
                f"{size} things: random keys on this device can order at most {most}. "
                "Choose --backend cpu, which can order more, or a smaller instance"
            )

    def defines(self) -> dict[str, str]:
        return {"KEYS_DECODING": str(DECODINGS.index(self._decoding))}

    def room(self) -> Room:
        if self._decoding == "sorted":
            return Room(large=4 * self.pitch, small=4 * self.buckets)
        return Room(large=8 * self.pitch)

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


def _power_of_two(number: int) -> int:
    """Return the largest power of two that is at most `number`."""
    return 1 << (number.bit_length() - 1)
