"""The encodings by name, in the order in which they are shown."""

from __future__ import annotations

from islands.encodings.base import Encoding
from islands.encodings.bits import Bits
from islands.encodings.keys import Keys
from islands.encodings.permutation import Permutation

ENCODINGS: dict[str, type[Encoding]] = {"keys": Keys, "permutation": Permutation, "bits": Bits}

__all__ = ["ENCODINGS", "Encoding"]
