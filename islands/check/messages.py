"""The messages about differences that a check finds; each function returns the exception."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.text import counted

_SHOWN = 12
"""Maximum number of entries of a solution in a message."""


class Difference(Exception):  # noqa: N818, as it is not an error
    """The first difference or fault that a check finds."""


def brief(solution: NDArray[Any]) -> str:
    """Return a solution as text, shortened if it is long."""
    entries = ", ".join(map(str, solution[:_SHOWN].tolist()))
    more = len(solution) - _SHOWN
    return f"[{entries}{f', ... {more} more' if more > 0 else ''}]"


def two_costs(
    solution: NDArray[Any], names: tuple[str, str], costs: tuple[Any, Any], equal: NDArray[np.bool_]
) -> Difference:
    """Describe a solution with two costs; `equal` marks the solutions whose costs agree."""
    return Difference(
        f"the solution {brief(solution)} costs {costs[0]} by {names[0]}, but {costs[1]} by"
        f" {names[1]} ({int((~equal).sum())} of {len(equal)} solutions differ). Correct one of them"
    )


def unusable_cost(solution: NDArray[Any], name: str, cost: float, best: float) -> Difference:
    """Describe a cost that is NaN or infinitely good (`best`)."""
    what = "is not a number" if np.isnan(cost) else f"is {best}, better than any other cost"
    return Difference(
        f"the cost of {brief(solution)} by {name} {what}. Return a number, or {-best} if a"
        " solution is infeasible"
    )


def two_violations(
    solution: NDArray[Any], names: tuple[str, str], violations: tuple[float, float]
) -> Difference:
    """Describe a solution with two violations."""
    return Difference(
        f"the solution {brief(solution)} has the violation {violations[0]:g} by {names[0]},"
        f" but {violations[1]:g} by {names[1]}. Correct one of them"
    )


def wrong_delta(
    *,
    name: str,
    move: str,
    ends: NDArray[np.int32],
    solution: NDArray[Any],
    change: Any,
    costs: tuple[Any, Any],
    exact: Any,
) -> Difference:
    """Describe a change that is not `exact`, the difference of the costs before and after."""
    u, v = ends.tolist()
    return Difference(
        f"{name}: {{{u}, {v}}} changes the cost of the solution {brief(solution)} by {change},"
        f" but the costs are {costs[0]} before and {costs[1]} after the {move}, a change of"
        f" {exact}. Correct delta"
    )


def invalid_child(
    name: str, child: NDArray[Any], parents: tuple[NDArray[Any], NDArray[Any]], kind: str
) -> Difference:
    """Describe an invalid child; `kind` says what is valid."""
    return Difference(
        f"{name}: the child {brief(child)} of {_both(parents)} is not {kind}. Correct cross"
    )


def two_children(
    *,
    name: str,
    other: str,
    children: tuple[NDArray[Any], NDArray[Any]],
    parents: tuple[NDArray[Any], NDArray[Any]],
) -> Difference:
    """Describe different children of the same parents, by `name` and by `other`."""
    return Difference(
        f"{name}: the child of {_both(parents)} is {brief(children[0])}, but {brief(children[1])}"
        f" by {other}, with the same random numbers. In cross, initialise what it reads from state,"
        " and draw random numbers only from random"
    )


def _both(parents: tuple[NDArray[Any], NDArray[Any]]) -> str:
    return f"{brief(parents[0])} and {brief(parents[1])}"


def invalid_step(name: str, kind: str) -> Difference:
    """Describe a move to an invalid solution; `kind` says what is valid."""
    return Difference(f"{name}: after apply, the solution is not {kind}. Correct apply")


def wrong_followed_cost(
    *,
    name: str,
    steps: int,
    move: str,
    solution: NDArray[Any],
    price: float | None,
    exact: Any,
    followed: Any,
    words: tuple[str, str],
) -> Difference:
    """Describe a cost after some moves that is not the `exact` cost of the solution.

    `price` is the price per unit of violation; `words` has the function that tracks the cost, and
    what to correct.
    """
    priced = "" if price is None else f", with its violation at {price:g} per unit,"
    return Difference(
        f"{name}: after {counted(steps, 'move')} and a {move} of the solution {brief(solution)},"
        f" the cost{priced} is {exact}, but the {words[0]} gives {followed}. Correct {words[1]}"
    )


def invalid_repair(name: str, before: NDArray[Any], after: NDArray[Any], kind: str) -> Difference:
    """Describe an invalid repaired solution; `kind` says what is valid."""
    return Difference(
        f"{name}: changes the solution {brief(before)} to {brief(after)}, which is not {kind}."
        " Correct repair"
    )


def unstable_repair(
    name: str, solution: NDArray[Any], repaired: NDArray[Any], again: NDArray[Any]
) -> Difference:
    """Describe a repaired solution that a second repair changes."""
    return Difference(
        f"{name}: changes the solution {brief(solution)} to {brief(repaired)}, and this to"
        f" {brief(again)}. Correct repair: it must not change a repaired solution"
    )
