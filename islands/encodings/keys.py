"""Random keys (Bean 1994): one number per item; sorting them yields the order.

If solutions assign places, the place of an item is the rank of its key (relative position index).
Initial keys are multiples of 2^-24 in [0, 1), which float32 represents exactly; algorithms may
assign any value. Ties are broken by index.
"""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.source import Header, Macros
from islands.encodings.base import Encoding
from islands.errors import UsageError
from islands.text import option

LEVELS = 1 << 24
"""Number of different initial keys."""
_IN, _OUT = 0.75, 0.25  # keys of selected items and of others

DECODINGS = ("sorted", "plain", "free")
"""How items are sorted: by the block with a bucket sort, by one thread, or by the block with
comparisons. The last supports keys of any value and is required for improvers."""


class Keys(Encoding):
    """Random keys for orders."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/keys.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(
        self,
        size: int,
        shared_memory: int | None = None,
        decoding: str = "sorted",
        *,
        assigns: bool = False,
    ) -> None:
        super().__init__(size)
        self._assigns = assigns
        self.index_bits = max(1, (size - 1).bit_length())
        self._decoding = decoding
        # With this many buckets, the index and all 24 bits of the key fit into a word.
        fewest = max(1, (1 << self.index_bits) >> 8)
        if shared_memory is None:
            self.buckets, most = max(fewest, size), LEVELS
        else:
            words = shared_memory // 4
            self.buckets = max(fewest, min(size // 3, words))
            most = min(LEVELS, 256 << (words.bit_length() - 1))  # `fewest` is a power of two
        if size > most:
            raise UsageError(
                f"{size} items: random keys on this device support at most {most}. Choose"
                f" {option('backend', 'cpu')}, which has a higher limit, or a smaller instance"
            )

    def defines(self) -> Macros:
        decoding = DECODINGS.index(self._decoding)
        return {"KEYS_DECODING": str(decoding), "ENCODING_ASSIGNS": str(int(self._assigns))}

    def shape(self) -> Struct:
        members = {"buckets": np.int32(self.buckets), "index_bits": np.int32(self.index_bits)}
        return Struct(**super().shape().members, **members)

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        order = _sorted_items(genomes[:, : self.size])
        if not self._assigns:
            return order
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(self.size)[np.newaxis], axis=1)
        return places

    def accepts(self, other: Encoding) -> bool:
        # Only the free decoding supports keys of any value.
        is_same = isinstance(other, Keys) and self._decoding in ("free", other._decoding)
        return super().accepts(other) and is_same

    def holds(self, genomes: NDArray[Any]) -> bool:
        keys = genomes[:, : self.size]
        return self._decoding == "free" or bool(((keys >= 0) & (keys < 1)).all())

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        """Return evenly spaced keys in [0, 1) in the order of `solution`."""
        keys = np.zeros(self.pitch, np.float32)
        if self._assigns:
            keys[: self.size] = self._even[solution]
        else:
            keys[solution] = self._even
        return keys

    def corrected(self, genome: NDArray[Any], solution: NDArray[Any]) -> NDArray[Any]:
        """Return the same keys in the order of `solution`; equal keys are raised to differ.

        The upper halves of the kernel's words are integers in the order of the keys.
        """
        bits = (genome[: self.size] + np.float32(0)).view(np.uint32)
        sortable = np.where(bits >> 31, np.uint32(0) - bits, bits | np.uint32(1 << 31))
        steps = np.arange(self.size)
        raised = np.maximum.accumulate(np.sort(sortable).astype(np.int64) - steps) + steps
        words = raised.astype(np.uint32)
        keys = np.where(words >> 31, words & np.uint32(0x7FFFFFFF), np.uint32(0) - words)
        corrected = genome.copy()
        if self._assigns:
            corrected[: self.size] = keys.view(np.float32)[solution]
        else:
            corrected[solution] = keys.view(np.float32)
        return corrected

    @cached_property
    def _even(self) -> NDArray[np.float32]:
        steps = np.arange(self.size, dtype=np.int64) * LEVELS // self.size
        return steps.astype(np.float32) / np.float32(LEVELS)


class KeysOfSubset(Encoding):
    """Random keys for subsets: an item is selected if its key is at least 0.5."""

    name: ClassVar[str] = "keys"
    header: ClassVar[Header] = Header("encodings/keys_of_subset.cuh")
    gene: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    solution_kinds: ClassVar[tuple[str, ...]] = ("subset",)

    def decode(self, genomes: NDArray[Any]) -> NDArray[Any]:
        return (genomes[:, : self.size] >= 0.5).astype(np.int64)

    def encode(self, solution: NDArray[Any]) -> NDArray[Any]:
        genome = np.full(self.pitch, _OUT, np.float32)
        genome[: self.size][solution == 1] = _IN
        return genome

    def corrected(self, genome: NDArray[Any], solution: NDArray[Any]) -> NDArray[Any]:
        """Return the keys, mirrored for each item whose selection differs."""
        corrected, keys = genome.copy(), genome[: self.size]
        mirrored = np.float32(1) - keys
        fits = (mirrored >= 0.5) == (solution == 1)  # a key of 0.5 is its own mirror image
        changed = np.where(fits, mirrored, np.float32(_OUT))
        corrected[: self.size] = np.where((keys >= 0.5) == (solution == 1), keys, changed)
        return corrected


def _sorted_items(keys: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the items of each row in the order of their keys; ties are broken by index.

    NumPy sorts integers several times faster than it argsorts floats.
    """
    bits = (keys.astype(np.float32) + np.float32(0)).view(np.uint32)  # -0 becomes 0
    # As unsigned integers, negative floats are reversed and above the positive ones.
    ordered = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64)
    words = ordered << np.uint64(32) | np.arange(keys.shape[1], dtype=np.uint64)
    words.sort(axis=1)
    return (words & np.uint64(0xFFFFFFFF)).astype(np.int64)
