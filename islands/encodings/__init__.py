"""The encodings by name, in the order in which they are shown, by the kinds of solutions."""

from __future__ import annotations

from islands.encodings.base import Encoding
from islands.encodings.bits import Bits
from islands.encodings.keys import Keys
from islands.encodings.keys_of_subset import KeysOfSubset
from islands.encodings.permutation import Permutation

ENCODINGS: dict[str, dict[str, type[Encoding]]] = {
    "keys": {"order": Keys, "subset": KeysOfSubset},
    "permutation": {"order": Permutation},
    "bits": {"subset": Bits},
}

__all__ = ["ENCODINGS", "Encoding"]
