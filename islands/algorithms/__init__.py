"""The algorithms by name, in the order in which they are shown."""

from __future__ import annotations

from islands.algorithms.base import Algorithm
from islands.algorithms.brkga import Brkga
from islands.algorithms.cellular import Cellular
from islands.algorithms.de import De

ALGORITHMS: dict[str, type[Algorithm]] = {"brkga": Brkga, "de": De, "cellular": Cellular}

__all__ = ["ALGORITHMS", "Algorithm"]
