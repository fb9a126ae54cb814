"""The text of islands/keywords.py: the types of the keyword arguments, for editors and mypy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.configuration.spec import GROUPS, GeneralSettings
from islands.many import iter_many
from islands.problems import PROBLEMS
from islands.settings import Settings
from islands.solver import Solver, solve

FILE = Path(__file__).parents[1] / "islands" / "keywords.py"

_HEAD = '''"""The keyword arguments of `solve`, `Solver` and so on, for editors and type checkers.

`docs/generate` writes this file from the settings and the signatures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from islands.algorithms.base import Algorithm
    from islands.algorithms.operators import Crossover, Mutation
    from islands.encodings.base import Encoding
    from islands.improvers.base import Improver
    from islands.migration.topology import Topology
    from islands.parallel import World
    from islands.progress.progress import Callback
'''

_PARTS = {
    "crossover": "str | Crossover | type[Crossover]",
    "mutation": "str | Mutation | type[Mutation]",
    "improver.name": "str | type[Improver]",
    "migration.topology": "str | Topology | type[Topology]",
}
"""Types of the settings that choose a component, which may be a class of a script."""
_SHORT = {
    "improver": f"{_PARTS['improver.name']} | ImproverKeywords",
    "migration": f"{_PARTS['migration.topology']} | MigrationKeywords",
    "record": "RecordKeywords",
    "checkpoint": "CheckpointKeywords",
    "interval": "int",
    "migrants": "int",
    "colonies": "Sequence[str | Mapping[str, Any]]",
    "format": "str",
}
"""Types of the keywords for groups of settings, and of those that are in no group."""


def _types(groups: Iterable[type[Settings]], prefix: str = "") -> dict[str, str]:
    """Return the types of settings by name: a union if the types in the groups differ."""
    kinds: dict[str, set[str]] = {}
    for group in groups:
        for name in group.names():
            kind = group._types()[name].__name__
            is_time = group._declared()[name].metadata["is_time"]
            kinds.setdefault(name, set()).add("float | str" if is_time else kind)
    # A float setting also accepts integers.
    found = {name: "float" if "float" in each else " | ".join(each) for name, each in kinds.items()}
    return {name: _PARTS.get(f"{prefix}{name}", kind) for name, kind in found.items()}


def _arguments(call: Callable[..., Any], *without: str) -> dict[str, str]:
    """Return the types of the keyword arguments of a function, except those in `without`."""
    named = inspect.signature(call).parameters.values()
    only = (each for each in named if each.kind is each.KEYWORD_ONLY and each.name not in without)
    return {each.name: str(each.annotation) for each in only}


def _class(name: str, base: str, sentence: str, types: Mapping[str, str]) -> str:
    lines = "\n".join(f"    {key}: {types[key]}" for key in types)
    return f'\n\nclass {name}({base}, total=False):\n    """{sentence}"""\n\n{lines}\n'


def text() -> str:
    """Return the text of islands/keywords.py."""
    groups = [
        _class(
            f"{name.capitalize()}Keywords",
            "TypedDict",
            f"The settings of `{name}`, as in `{name}={{...}}`.",
            _types([group], f"{name}."),
        )
        for name, group in GROUPS.items()
    ]
    kinds = [*ALGORITHMS.values(), *PROBLEMS.values()]
    every = _types([GeneralSettings, *(kind.Settings for kind in kinds)]) | _SHORT
    of_solve, of_many = _arguments(solve, "session"), _arguments(iter_many)
    free = {name: every[name] for name in every if name not in of_solve}
    inner = {name: free.pop(name) for name in ("threads",)}
    of_solver = {
        name: each
        for name, each in of_solve.items()
        if name in (*GeneralSettings.names(), "algorithm", "encoding", "preset")
        and name not in (*_arguments(Solver), "bound")
    }
    rejected = ("out", "force", "verbose", "share_gpu")
    of_each = {name: each for name, each in of_solve.items() if name not in (*of_many, *rejected)}
    rest = {name: each for name, each in of_solve.items() if name not in of_each}
    classes = [
        _class("_Common", "TypedDict", "The settings that every call takes.", free),
        _class("SolveKeywords", "_Common", "The settings of `solve`.", inner),
        _class("SolverKeywords", "SolveKeywords", "The settings of `Solver`.", of_solver),
        _class(
            "ManyKeywords",
            "_Common",
            "The arguments that apply to every problem of a call.",
            of_each,
        ),
        _class(
            "SessionKeywords", "ManyKeywords", "The arguments of `Session.solve`.", inner | rest
        ),
        _class("SolveManyKeywords", "ManyKeywords", "The arguments of `solve_many`.", of_many),
    ]
    return "".join([_HEAD, *groups, *classes])
