"""An island-model solver: metaheuristics as CUDA kernels that also run on a CPU.

`load` returns an instance by its name or path; `tsp`, `qap` and `mkp` make a problem from arrays;
`permutation`, `subset`, `keys` and `real` make a problem from a cost of your own, which
`check_problem` checks. `solve` solves a problem and returns a `Result`; `Solver` lets the caller
advance the islands step by step. The classes are the base classes of your own parts. All errors are
`IslandsError`.

>>> import islands
>>> square = islands.tsp([[0, 0], [10, 10], [10, 0], [0, 10]])
>>> result = islands.solve(square, generations=10)
>>> result.cost
40

Public names are imported when they are first used, so that importing this package is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "Algorithm",
    "Crossover",
    "Encoding",
    "Field",
    "Header",
    "Improver",
    "IslandsError",
    "Launch",
    "Mutation",
    "Problem",
    "Progress",
    "Result",
    "Schedule",
    "Settings",
    "Shape",
    "Solver",
    "Struct",
    "Topology",
    "check_problem",
    "keys",
    "load",
    "mkp",
    "permutation",
    "qap",
    "real",
    "setting",
    "solve",
    "subset",
    "tsp",
]

if TYPE_CHECKING:
    from islands.algorithms.base import Algorithm, Launch, Schedule, Shape
    from islands.algorithms.operators import Crossover, Mutation
    from islands.backends.arguments import Struct
    from islands.backends.source import Header
    from islands.backends.state import Field
    from islands.check.perform import check_problem
    from islands.encodings.base import Encoding
    from islands.errors import IslandsError
    from islands.improvers.base import Improver
    from islands.migration.topology import Topology
    from islands.modelling.api import keys, permutation, real, subset
    from islands.problems import load
    from islands.problems.base import Problem
    from islands.problems.data import mkp, qap, tsp
    from islands.progress.progress import Progress
    from islands.progress.result import Result
    from islands.settings import Settings, setting
    from islands.solver import Solver, solve
else:
    _HOMES = {
        "Algorithm": "islands.algorithms.base",
        "Crossover": "islands.algorithms.operators",
        "Encoding": "islands.encodings.base",
        "Field": "islands.backends.state",
        "Header": "islands.backends.source",
        "Improver": "islands.improvers.base",
        "IslandsError": "islands.errors",
        "Launch": "islands.algorithms.base",
        "Mutation": "islands.algorithms.operators",
        "Problem": "islands.problems.base",
        "Progress": "islands.progress.progress",
        "Result": "islands.progress.result",
        "Schedule": "islands.algorithms.base",
        "Settings": "islands.settings",
        "Shape": "islands.algorithms.base",
        "Solver": "islands.solver",
        "Struct": "islands.backends.arguments",
        "Topology": "islands.migration.topology",
        "check_problem": "islands.check.perform",
        "keys": "islands.modelling.api",
        "load": "islands.problems",
        "mkp": "islands.problems.data",
        "permutation": "islands.modelling.api",
        "qap": "islands.problems.data",
        "real": "islands.modelling.api",
        "setting": "islands.settings",
        "solve": "islands.solver",
        "subset": "islands.modelling.api",
        "tsp": "islands.problems.data",
    }

    def __getattr__(name):
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'islands' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
