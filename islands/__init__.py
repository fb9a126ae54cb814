"""An island-model solver: metaheuristics as CUDA kernels that also run on a CPU.

Importing this package loads nothing but names; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "Algorithm",
    "Crossover",
    "Encoding",
    "Header",
    "Improver",
    "IslandsError",
    "Mutation",
    "Problem",
    "Result",
    "Solver",
    "Topology",
    "load",
    "solve",
]

if TYPE_CHECKING:
    from islands.algorithms.base import Algorithm
    from islands.algorithms.operators import Crossover, Mutation
    from islands.backends.header import Header
    from islands.encodings.base import Encoding
    from islands.errors import IslandsError
    from islands.improvers.base import Improver
    from islands.migration.topology import Topology
    from islands.problems import load
    from islands.problems.base import Problem
    from islands.run.result import Result
    from islands.solver import Solver, solve
else:
    _HOMES = {
        "Algorithm": "islands.algorithms.base",
        "Crossover": "islands.algorithms.operators",
        "Encoding": "islands.encodings.base",
        "Header": "islands.backends.header",
        "Improver": "islands.improvers.base",
        "IslandsError": "islands.errors",
        "Mutation": "islands.algorithms.operators",
        "Problem": "islands.problems.base",
        "Result": "islands.run.result",
        "Solver": "islands.solver",
        "Topology": "islands.migration.topology",
        "load": "islands.problems",
        "solve": "islands.solver",
    }

    def __getattr__(name):
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'islands' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
