"""An island-model solver: metaheuristics as CUDA kernels that also run on a CPU.

Importing this package loads nothing but names; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["IslandsError", "Problem", "Result", "Solver", "load", "solve"]

if TYPE_CHECKING:
    from islands.errors import IslandsError
    from islands.problems import load
    from islands.problems.base import Problem
    from islands.run.result import Result
    from islands.solver import Solver, solve
else:
    _HOMES = {
        "IslandsError": "islands.errors",
        "Problem": "islands.problems.base",
        "Result": "islands.run.result",
        "Solver": "islands.solver",
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
