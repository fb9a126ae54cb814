"""The algorithms by name, in display order."""

from __future__ import annotations

from islands.algorithms.base import Algorithm
from islands.algorithms.brkga import Brkga
from islands.algorithms.cellular import Cellular
from islands.algorithms.de import De
from islands.algorithms.eax import Eax
from islands.algorithms.ga import Ga
from islands.algorithms.growth import Growth
from islands.algorithms.memetic import Memetic
from islands.algorithms.pso import Pso
from islands.algorithms.tempering import Tempering
from islands.custom.parts import PartKind

ALGORITHMS: dict[str, type[Algorithm]] = {
    "brkga": Brkga,
    "de": De,
    "cellular": Cellular,
    "ga": Ga,
    "pso": Pso,
    "memetic": Memetic,
    "tempering": Tempering,
    "eax": Eax,
    "growth": Growth,
}

KIND = PartKind(
    *("algorithm", Algorithm, ALGORITHMS, ALGORITHMS.values()),
    needs=("header", "encodings", "Settings"),
)

__all__ = ["ALGORITHMS", "KIND", "Algorithm"]
