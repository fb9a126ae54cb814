"""A stated problem as arrays, so that it can be stored with a run and made again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.catalogue import BestKnown
from islands.modelling.data import Members
from islands.modelling.header import Functions, Text
from islands.modelling.kinds import Box, Keys, Order, SolutionKind, Subset
from islands.problems.saved import FACTS, packed

if TYPE_CHECKING:
    from islands.modelling.problem import StatedProblem


class NeedsScriptError(InputError):
    """The problem has a Python function, which only its script defines."""


_KINDS: dict[str, type[SolutionKind]] = {each.name: each for each in (Order, Subset, Keys)}
_LOW, _HIGH, _DATA = "low", "high", "data/"


def saved(problem: StatedProblem) -> dict[str, NDArray[Any]]:
    """Return the arrays from which `restored` makes the problem again."""
    functions, kind, best = problem.functions, problem.kind, problem.best_known
    facts = {
        "solutions": kind.name,
        "size": kind.size,
        "name": problem.name,
        "maximise": problem.maximise,
        "best_known": None if best is None else best.value,
        "python": None if problem.python is None else problem.python[0],
        "functions": None if functions is None else dataclasses.asdict(functions),
        "numbers": [k for k, value in problem.members.items() if isinstance(value, np.generic)],
    }
    arrays: dict[str, NDArray[Any]] = {FACTS: packed(facts)}
    if isinstance(kind, Box):
        arrays |= {_LOW: kind.low, _HIGH: kind.high}
    return arrays | {f"{_DATA}{name}": np.asarray(value) for name, value in problem.members.items()}


def restored(arrays: Mapping[str, NDArray[Any]]) -> StatedProblem:
    """Return the problem that these arrays describe; refuse one with a Python function."""
    from islands.modelling.problem import StatedProblem

    facts = json.loads(arrays[FACTS].tobytes())
    if facts["python"] is not None:
        raise NeedsScriptError(
            f"the cost of {facts['name']} is a Python function ({facts['python']}=), which is not"
            " stored with a run. Name the script that defines it"
        )
    size, texts = int(facts["size"]), facts["functions"]
    kind = (
        Box(arrays[_LOW], arrays[_HIGH])
        if facts["solutions"] == Box.name
        else _KINDS[facts["solutions"]](size)
    )
    found = {key.removeprefix(_DATA): a for key, a in arrays.items() if key.startswith(_DATA)}
    members: Members = {name: a[()] if name in facts["numbers"] else a for name, a in found.items()}
    best = facts["best_known"]
    return StatedProblem(
        kind,
        str(facts["name"]),
        members=members,
        functions=Functions(
            Text(**texts["cost"]),
            None if texts["delta"] is None else Text(**texts["delta"]),
            None if texts["repair"] is None else Text(**texts["repair"]),
            bool(texts["cooperative"]),
        ),
        python=None,
        reference=None,
        maximise=bool(facts["maximise"]),
        best_known=None if best is None else BestKnown(best, "best_known", "the script"),
    )
