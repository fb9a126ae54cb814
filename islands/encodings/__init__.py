"""The encodings by name, in the order in which they are shown."""

from __future__ import annotations

from islands.encodings.base import Encoding
from islands.encodings.keys import Keys

ENCODINGS: dict[str, type[Encoding]] = {"keys": Keys}

__all__ = ["ENCODINGS", "Encoding"]
