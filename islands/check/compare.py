"""Compare costs from two ways, and describe the first difference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.base import Problem

_TOLERANCE = 1e-9
"""Relative difference that real costs may have, because compilers round functions differently."""
_SHOWN = 12  # entries of a solution in messages


def shown(solution: NDArray[Any]) -> str:
    """Return a solution as text, shortened if it is long."""
    entries = ", ".join(map(str, solution[:_SHOWN].tolist()))
    more = len(solution) - _SHOWN
    return f"[{entries}{f', ... {more} more' if more > 0 else ''}]"


def agree(
    first: NDArray[Any], other: NDArray[Any], *, real: bool, size: Any = 0.0
) -> NDArray[np.bool_]:
    """Return where costs agree: integers are equal, real costs almost.

    `size` is the magnitude of numbers from which real costs were computed.
    """
    if not real:
        return np.asarray(first == other)
    most = np.maximum(np.maximum(np.abs(first), np.abs(other)), np.maximum(size, 1.0))
    with np.errstate(invalid="ignore"):
        near = np.abs(first - other) <= _TOLERANCE * most
    return np.asarray((first == other) | (near & np.isfinite(first) & np.isfinite(other)))


def difference(
    problem: Problem,
    solutions: NDArray[Any],
    names: tuple[str, str],
    costs: tuple[NDArray[Any], NDArray[Any]],
) -> str | None:
    """Return a sentence about the first solution with two costs, or None."""
    equal = agree(*costs, real=problem.real)
    if equal.all():
        return None
    k = int(np.argmin(equal))
    one, other = (each[k].item() for each in costs)
    count = int((~equal).sum())
    return (
        f"the solution {shown(solutions[k])} costs {one} by {names[0]}, but {other} by"
        f" {names[1]} ({count} of {len(equal)} solutions differ). Correct one of them"
    )


def improper(problem: Problem, solutions: NDArray[Any], name: str, costs: NDArray[Any]) -> str:
    """Return a sentence about the first cost that cannot be used, or an empty string."""
    if not problem.real:
        return ""
    wrong, fix = np.isnan(costs), "infinity, or minus infinity if costs are maximised,"
    best = np.inf if problem.maximise else -np.inf
    wrong |= costs == best
    if not wrong.any():
        return ""
    k = int(np.argmax(wrong))
    worst = -best
    what = "is not a number" if np.isnan(costs[k]) else f"is {best}, better than any other cost"
    fix = f"Return a number, or {worst} if a solution is infeasible"
    return f"the cost of {shown(solutions[k])} by {name} {what}. {fix}"
