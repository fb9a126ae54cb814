"""Wrong values of a user's functions, which kernels report: kernels/problems/faults.cuh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError
from islands.problems.solution_kinds import SolutionKind

FAULTS = "_faults"
"""The member of `struct Data` to which kernels report; names of users begin with a letter."""


@dataclass(frozen=True)
class ProblemWords:
    """What messages say of a problem: the function of its cost, and its solutions."""

    argument: str
    kind: SolutionKind
    maximise: bool


def no_faults() -> NDArray[np.int64]:
    """Return the words for reports: for each kind of fault, whether there is one, and its value."""
    return np.zeros((len(_MESSAGES), 2), np.int64)


def refuse_faults(words: NDArray[np.int64], stated: ProblemWords) -> None:
    """Raise a `RunError` about the first kind of fault that is reported."""
    for (is_reported, value), message in zip(words.tolist(), _MESSAGES, strict=True):
        if is_reported:
            raise RunError(message(value, stated))


def _not_a_number(_: int, stated: ProblemWords) -> str:
    return f"{stated.argument}= returned NaN. {_infeasible(stated)}"


def _best_infinity(_: int, stated: ProblemWords) -> str:
    best = "INFINITY" if stated.maximise else "-INFINITY"
    return (
        f"{stated.argument}= returned {best}, which is better than any other cost."
        f" {_infeasible(stated)}"
    )


def _infeasible(stated: ProblemWords) -> str:
    worst = "-INFINITY" if stated.maximise else "INFINITY"
    return f"Return a number, or {worst} if a solution is infeasible"


def _too_large(value: int, stated: ProblemWords) -> str:
    kind = "double" if stated.argument == "cost" else "float(cost)"
    return (
        f"{stated.argument}= returned {value}: integer costs must be from -2**62 to 2**62. Return"
        f" {kind}, or divide costs by a common factor"
    )


def _no_such_entry(value: int, stated: ProblemWords) -> str:
    last = stated.kind.size - 1
    return f"repair= set entry {value}, but entries are from 0 to {last}. Correct repair"


def _wrong_value(value: int, stated: ProblemWords) -> str:
    number = np.int64(value).view(np.float64).item()
    words = stated.kind.words
    return f"repair= set an entry to {number:g}, but a solution is {words}. Correct repair"


def _repeated_item(value: int, stated: ProblemWords) -> str:
    return (
        f"repair= made a solution that contains item {value} more than once, but a solution is"
        f" {stated.kind.words}. Correct repair"
    )


_MESSAGES: tuple[Callable[[int, ProblemWords], str], ...] = (
    *(_not_a_number, _best_infinity, _too_large),
    *(_no_such_entry, _wrong_value, _repeated_item),
)
"""The message of each `Fault` of kernels/problems/faults.cuh, in its order."""
