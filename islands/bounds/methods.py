"""The bound of each kind of problem, and its time limit."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.bounds.assignment import bound_of_legs
from islands.bounds.held_karp import NEAREST, Bound, lower_bound
from islands.bounds.knapsack import upper_bound
from islands.problems.base import Problem
from islands.problems.legs import Legs
from islands.problems.mkp import Mkp
from islands.problems.tsp import Tsp

IsStopped = Callable[[], bool]


@dataclass(frozen=True)
class BoundMethod:
    """A method to compute a bound on all costs, given a solution."""

    least: float
    """Minimum time limit in seconds."""
    share: float
    """Share of the run time that it may take, if this is longer."""
    compute: Callable[[Any, NDArray[np.int64], Backend, float, IsStopped], Bound]
    """Computes the bound from the problem, a solution, a device and the time limit."""


def _of_knapsack(
    problem: Mkp, chosen: NDArray[np.int64], device: Backend, seconds: float, is_stopped: IsStopped
) -> Bound:
    profit = int(problem.costs(chosen[np.newaxis])[0])
    return upper_bound(problem.file, profit, seconds, is_stopped)


def _of_tour(
    problem: Tsp, tour: NDArray[np.int64], device: Backend, seconds: float, is_stopped: IsStopped
) -> Bound:
    near = problem.near
    compute = bound_of_legs if isinstance(near, Legs) else lower_bound
    bound: Bound = compute(problem, tour, device, seconds, is_stopped)
    if near.matrix is None or not isinstance(near.unit, float):
        return bound
    # Matrix entries were rounded by up to half a unit, so a real tour may be shorter.
    return replace(bound, value=max(0, bound.value - problem.entries))


_TOUR = BoundMethod(2.0, 0.2, _of_tour)
_KNAPSACK = BoundMethod(20.0, 1.0, _of_knapsack)


def _known(problem: Problem, *_: object) -> Bound:
    assert problem.lower_bound is not None, "the problem has a bound"
    return Bound(problem.lower_bound, NEAREST, 0.0)


_KNOWN = BoundMethod(0.0, 0.0, _known)


def method_for(problem: Problem) -> BoundMethod | None:
    """Return the method to compute a bound for a problem, or None if there is none."""
    if problem.layout.is_tour:
        return _TOUR
    if problem.lower_bound is not None:
        return _KNOWN
    return _KNAPSACK if isinstance(problem, Mkp) else None
