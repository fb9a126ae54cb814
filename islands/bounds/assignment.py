"""Lower bounds on tours that are directed, open or have fixed edges.

For directed tours, the bound is that of the assignment problem: every item has one successor. For
symmetric tours with fixed edges, these become edges of length zero that a tour need not contain, so
that the bound of Held and Karp applies.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from islands.backends.base import Backend
from islands.bounds.graph import Ints
from islands.bounds.held_karp import Bound, lower_bound
from islands.instances.tsplib import TspFile
from islands.problems.legs import PRICE, Legs
from islands.problems.tsp import Tsp

_MOST_ASSIGNED, _ASSIGNED = 5_000, 1_600
"""Maximum number of items for which an assignment is solved, and for which SciPy needs at most one
second; the time grows cubically."""
_LONGEST = 2**31 - 1

ASSIGNMENT = "assignment"


def bound_of_legs(
    problem: Tsp, tour: Ints, backend: Backend, seconds: float, is_stopped: Callable[[], bool]
) -> Bound:
    """Return a lower bound on the lengths of all tours, given one of them."""
    near = problem.near
    assert isinstance(near, Legs), "other tours are closed and symmetric"
    lengths = near.priced()
    if near.is_directed:
        begin = time.perf_counter()
        value = _assigned(lengths, seconds)
        return Bound(value, ASSIGNMENT, time.perf_counter() - begin)
    matrix = np.minimum(lengths, _LONGEST).astype(np.int32)
    relaxed = Tsp(TspFile(problem.instance, None, near.size, "EXPLICIT", matrix=matrix))
    return lower_bound(relaxed, near.chains.to_items(tour), backend, seconds, is_stopped)


def _assigned(lengths: Ints, seconds: float) -> int:
    """Return the length of an optimal assignment, or a weaker bound if time is short."""
    from scipy.optimize import linear_sum_assignment

    np.fill_diagonal(lengths, PRICE)
    if len(lengths) <= min(_MOST_ASSIGNED, _ASSIGNED * math.cbrt(seconds)):
        rows, columns = linear_sum_assignment(lengths.astype(np.float64))  # exact as doubles
        return int(lengths[rows, columns].sum())
    return max(int(lengths.min(axis=side).sum()) for side in (0, 1))
