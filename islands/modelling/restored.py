"""Stated problems that are made again from their arrays, which are stored with a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.catalogue import BestKnown
from islands.modelling.data import Members
from islands.modelling.header import Functions, Text
from islands.modelling.kinds import Box, KeyVectors, Order, SolutionKind, Subset
from islands.modelling.saved import DATA, HIGH, LOW
from islands.problems.saved import FACTS

if TYPE_CHECKING:
    from islands.modelling.problem import StatedProblem

_KINDS: dict[str, type[SolutionKind]] = {each.name: each for each in (Order, Subset, KeyVectors)}


class NeedsScriptError(InputError):
    """The problem has a Python function, which only its script defines."""


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
        Box(arrays[LOW], arrays[HIGH])
        if facts["solutions"] == Box.name
        else _KINDS[facts["solutions"]](size)
    )
    found = {key.removeprefix(DATA): a for key, a in arrays.items() if key.startswith(DATA)}
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
