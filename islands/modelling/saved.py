"""A stated problem as arrays, so that it can be stored with a run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.modelling.kinds import Box
from islands.problems.saved import FACTS, packed

if TYPE_CHECKING:
    from islands.modelling.problem import StatedProblem

LOW, HIGH, DATA = "low", "high", "data/"
"""Names of arrays: bounds of vectors, and the prefix of the members of the data."""


def saved(problem: StatedProblem) -> dict[str, NDArray[Any]]:
    """Return the arrays from which `modelling.restored` makes the problem again."""
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
        arrays |= {LOW: kind.low, HIGH: kind.high}
    return arrays | {f"{DATA}{name}": np.asarray(value) for name, value in problem.members.items()}
