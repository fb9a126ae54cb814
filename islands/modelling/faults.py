"""Wrong values of a user's CUDA functions, which kernels report: kernels/problems/faults.cuh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError
from islands.modelling.kinds import SolutionKind

FAULTS = "_faults"
"""The member of `struct Data` to which kernels report; names of users begin with a letter."""

_INFEASIBLE = "Return a number, or {} if a solution is infeasible"


def no_faults() -> NDArray[np.int64]:
    """Return the words for reports: for each kind of fault, whether there is one, and its value."""
    return np.zeros((len(_MESSAGES), 2), np.int64)


def refuse_faults(words: NDArray[np.int64], kind: SolutionKind, *, maximise: bool) -> None:
    """Raise a `RunError` about the first kind of fault that is reported."""
    for (is_reported, value), message in zip(words.tolist(), _MESSAGES, strict=True):
        if is_reported:
            raise RunError(message(value, kind, maximise))


def _not_a_number(_: int, __: SolutionKind, maximise: bool) -> str:
    return f"cost= returned NaN. {_INFEASIBLE.format('-INFINITY' if maximise else 'INFINITY')}"


def _best_infinity(_: int, __: SolutionKind, maximise: bool) -> str:
    best, worst = ("INFINITY", "-INFINITY") if maximise else ("-INFINITY", "INFINITY")
    return (
        f"cost= returned {best}, which is better than any other cost. {_INFEASIBLE.format(worst)}"
    )


def _too_large(value: int, _: SolutionKind, __: bool) -> str:
    return (
        f"cost= returned {value}: integer costs must be from -2**62 to 2**62. Return double, or"
        " divide costs by a common factor"
    )


def _no_such_entry(value: int, kind: SolutionKind, _: bool) -> str:
    return f"repair= set entry {value}, but entries are from 0 to {kind.size - 1}. Correct repair"


def _wrong_value(value: int, kind: SolutionKind, _: bool) -> str:
    number = np.int64(value).view(np.float64).item()
    return f"repair= set an entry to {number:g}, but a solution is {kind.words}. Correct repair"


def _repeated_item(value: int, kind: SolutionKind, _: bool) -> str:
    return (
        f"repair= made a solution that contains item {value} more than once, but a solution is"
        f" {kind.words}. Correct repair"
    )


_MESSAGES: tuple[Callable[[int, SolutionKind, bool], str], ...] = (
    *(_not_a_number, _best_infinity, _too_large),
    *(_no_such_entry, _wrong_value, _repeated_item),
)
"""The message of each `Fault` of kernels/problems/faults.cuh, in its order."""
