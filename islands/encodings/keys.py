"""Random keys (Bean 1994): a number for each item; sorting them gives the order.

If solutions assign places, the place of an item is the rank of its key (relative position index).
Initial keys are multiples of 2^-24 in [0, 1), which float32 represents exactly; an algorithm may
give keys any value. Equal keys are ordered by index.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.encodings.base import Encoding
from islands.errors import UsageError
from islands.text import option

LEVELS = 1 << 24
"""Number of different initial keys."""


DECODINGS = ("sorted", "plain", "free")
"""How items are sorted: by the block with a bucket sort, by one thread, or by the block with
comparisons, which supports keys of any value and is required for improvers."""


class Keys(Encoding):
    """Random keys for orders."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/keys.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(
        self,
        size: int,
        block_memory: int | None,
        decoding: str = "sorted",
        *,
        assigns: bool = False,
    ) -> None:
        self.size = size
        self._assigns = assigns
        self.pitch = -(-size // 4) * 4
        self.index_bits = max(1, (size - 1).bit_length())
        self._decoding = decoding
        # With this number of buckets, a word has room for the index and all 24 bits of the key.
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
                f"{size} items: random keys on this device support at most {most}. Choose"
                f" {option('backend', 'cpu')}, which has a higher limit, or a smaller instance"
            )

    def defines(self) -> Macros:
        decoding = DECODINGS.index(self._decoding)
        return {"KEYS_DECODING": str(decoding), "ENCODING_ASSIGNS": str(int(self._assigns))}

    def shape(self) -> Struct:
        members = (self.size, self.pitch, self.buckets, self.index_bits)
        names = ("n", "pitch", "buckets", "index_bits")
        return Struct(**{name: np.int32(value) for name, value in zip(names, members, strict=True)})

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        order = np.argsort(genomes[:, : self.size], axis=1, kind="stable").astype(np.int64)
        return np.argsort(order, axis=1) if self._assigns else order

    def holds(self, genomes: NDArray[Any]) -> bool:
        if self._decoding not in ("sorted", "plain"):
            return True
        keys = genomes[:, : self.size]
        return bool(((keys >= 0) & (keys < 1)).all())

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        """Return keys evenly spaced over [0, 1) in the order of `solution`."""
        keys = np.zeros(self.pitch, np.float32)
        steps = np.arange(self.size, dtype=np.int64) * LEVELS // self.size
        even = steps.astype(np.float32) / np.float32(LEVELS)
        if self._assigns:
            keys[: self.size] = even[solution]
        else:
            keys[solution] = even
        return keys


def _power_of_two(number: int) -> int:
    """Return the largest power of two that is at most `number`."""
    return 1 << (number.bit_length() - 1)
