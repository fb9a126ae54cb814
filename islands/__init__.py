"""An island-model solver: metaheuristics as CUDA kernels that also run on a CPU.

`solve` solves a problem and returns a `Result`; `solve_many` solves many problems in one call, and
a `Solver` advances islands step by step. `resume` continues the run in a folder, and `read_run`
returns its result.

`load` returns an instance by name or path; `tsp`, `qap`, `mkp` and `qubo` create a problem from
arrays. `permutation`, `subset`, `choices`, `keys`, `real` and `mixed` create a problem from your
own cost function, which `check_problem` checks; `space` has the types of parameters for `mixed`.
`models` has ready-made problems. `scipy`, `shops`, `frames`, `islands.dimod` and `islands.networkx`
provide the interfaces of other libraries. `Algorithm`, `Encoding` and so on are base classes for
your own components. All errors derive from `IslandsError`.

>>> import islands
>>> square = islands.tsp([[0, 0], [10, 10], [10, 0], [0, 10]])
>>> result = islands.solve(square, generations=10)
>>> result.cost
40.0

Public names are imported on first use, so that importing this package is fast.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from islands import dimod as dimod
    from islands import frames as frames
    from islands import models as models
    from islands import networkx as networkx
    from islands import scipy as scipy
    from islands import shops as shops
    from islands import space as space
    from islands.algorithms.base import Algorithm as Algorithm
    from islands.algorithms.base import Launch as Launch
    from islands.algorithms.base import Schedule as Schedule
    from islands.algorithms.base import Shape as Shape
    from islands.algorithms.operators import Crossover as Crossover
    from islands.algorithms.operators import Mutation as Mutation
    from islands.backends.arguments import Struct as Struct
    from islands.backends.source import Header as Header
    from islands.backends.state import Field as Field
    from islands.check.perform import check_problem as check_problem
    from islands.encodings.base import Encoding as Encoding
    from islands.errors import IslandsError as IslandsError
    from islands.improvers.base import Improver as Improver
    from islands.many import iter_many as iter_many
    from islands.many import solve_many as solve_many
    from islands.migration.topology import Topology as Topology
    from islands.modelling.api import choices as choices
    from islands.modelling.api import keys as keys
    from islands.modelling.api import permutation as permutation
    from islands.modelling.api import real as real
    from islands.modelling.api import subset as subset
    from islands.modelling.mixed import mixed as mixed
    from islands.models import qubo as qubo
    from islands.problems import load as load
    from islands.problems.base import Problem as Problem
    from islands.problems.batches import mkp_batch as mkp_batch
    from islands.problems.batches import qap_batch as qap_batch
    from islands.problems.batches import tsp_batch as tsp_batch
    from islands.problems.data import mkp as mkp
    from islands.problems.data import qap as qap
    from islands.problems.data import tsp as tsp
    from islands.progress.progress import Progress as Progress
    from islands.progress.result import Result as Result
    from islands.settings import Settings as Settings
    from islands.settings import setting as setting
    from islands.solver import Session as Session
    from islands.solver import Solver as Solver
    from islands.solver import solve as solve
    from islands.stored import read_run as read_run
    from islands.stored import resume as resume
else:
    _HOMES = {
        "algorithms.base": "Algorithm Launch Schedule Shape",
        "algorithms.operators": "Crossover Mutation",
        "backends.arguments": "Struct",
        "backends.source": "Header",
        "backends.state": "Field",
        "check.perform": "check_problem",
        "encodings.base": "Encoding",
        "errors": "IslandsError",
        "improvers.base": "Improver",
        "migration.topology": "Topology",
        "modelling.api": "choices keys permutation real subset",
        "modelling.mixed": "mixed",
        "models": "qubo",
        "many": "iter_many solve_many",
        "problems": "load",
        "problems.base": "Problem",
        "problems.batches": "mkp_batch qap_batch tsp_batch",
        "problems.data": "mkp qap tsp",
        "progress.progress": "Progress",
        "progress.result": "Result",
        "settings": "Settings setting",
        "solver": "Session Solver solve",
        "stored": "read_run resume",
    }
    """The modules of the public names."""
    _MODULES = {name: home for home, names in _HOMES.items() for name in names.split()}
    _PACKAGES = ("frames", "models", "scipy", "shops", "space")
    _EXTRAS = ("dimod", "networkx")
    """Modules with an optional dependency; if it is missing, the error says how to install it."""
    __all__ = [*_MODULES, *_PACKAGES]

    def __getattr__(name):
        from importlib import import_module

        if name in _PACKAGES + _EXTRAS:
            return import_module(f"islands.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'islands' has no attribute {name!r}")
        return getattr(import_module(f"islands.{_MODULES[name]}"), name)

    def __dir__():
        return sorted([*__all__, "__version__"])
