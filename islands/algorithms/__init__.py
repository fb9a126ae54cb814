"""The algorithms by name, in display order, and their crossover and mutation operators.

Each file defines one algorithm: its settings, the arrays of an island, and the launches of a
generation. The kernels are in `kernels/algorithms`. `tempering` is a folder with one kind of chain
per form of problem.

- `Algorithm`: base class; how one generation of the populations becomes the next.
- `Schedule`: the launches of a generation, in order.
- `Crossover` and `Mutation`: operators, with the encodings that they support.

May import `problems`, `encodings`, `improvers`, `backends`, `custom` and the layers below them.
"""

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

_NEEDS = ("header", "encodings", "Settings")
KIND = PartKind("algorithm", Algorithm, ALGORITHMS, ALGORITHMS.values(), _NEEDS)

__all__ = ["ALGORITHMS", "KIND", "Algorithm"]
