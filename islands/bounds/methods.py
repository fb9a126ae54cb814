"""Which bound a problem has, and how long its computation may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.bounds.assignment import bound_of_legs
from islands.bounds.held_karp import Bound, lower_bound
from islands.bounds.knapsack import upper_bound
from islands.problems.base import Problem
from islands.problems.legs import Legs
from islands.problems.mkp import Mkp

IsStopped = Callable[[], bool]


@dataclass(frozen=True)
class BoundMethod:
    """A way to compute a bound of all costs, given a solution."""

    least: float
    """Seconds that it may always take."""
    share: float
    """It may take this share of the time of the run, if that is more."""
    compute: Callable[[Any, NDArray[np.int64], Backend, float, IsStopped], Bound]
    """Return the bound, given the problem, a solution, a device and the seconds."""


def _of_knapsack(
    problem: Mkp, chosen: NDArray[np.int64], device: Backend, seconds: float, is_stopped: IsStopped
) -> Bound:
    profit = int(problem.costs(chosen[np.newaxis])[0])
    return upper_bound(problem.file, profit, seconds, is_stopped)


_TOUR = BoundMethod(2.0, 0.2, lower_bound)
_LEGS = BoundMethod(2.0, 0.2, bound_of_legs)
_KNAPSACK = BoundMethod(20.0, 1.0, _of_knapsack)


def method_for(problem: Problem) -> BoundMethod | None:
    """Return the way to compute a bound for a problem; None: there is none."""
    if problem.layout.is_tour:
        return _LEGS if isinstance(problem.near, Legs) else _TOUR
    return _KNAPSACK if isinstance(problem, Mkp) else None
