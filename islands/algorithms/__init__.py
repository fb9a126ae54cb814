"""The algorithms by name, in the order in which they are shown."""

from __future__ import annotations

from islands.algorithms.base import Algorithm
from islands.algorithms.brkga import Brkga

ALGORITHMS: dict[str, type[Algorithm]] = {"brkga": Brkga}

__all__ = ["ALGORITHMS", "Algorithm"]
