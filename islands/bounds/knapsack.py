"""An upper bound on the profit of a knapsack, by relaxations for each number of chosen items.

For every possible number of items in a better subset, the linear relaxation bounds the profit.
Reduced costs then fix items, and HiGHS proves by branch and cut that no better subset of this size
exists, in decreasing order of the relaxations. Sizes not decided in time keep the relaxation, whose
value is computed exactly from rounded prices, as any prices yield a bound.

M. Vasquez, J.-K. Hao: A hybrid approach for the 0-1 multidimensional knapsack problem. IJCAI 2001.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.bounds.held_karp import Bound
from islands.bounds.pricing import TimeLimit
from islands.instances.mkp import MkpFile

LINEAR, BRANCHED = "linear", "branch-and-cut"

_BITS = 24  # of the fractions of prices
_LARGEST = 1 << 31  # numbers up to which HiGHS decides; larger ones exceed its tolerances
_SLACK = 1e-6
_ANY, _NONE = -1, -1  # any number of items; the bound for sizes without subsets
_INFEASIBLE = 2  # HiGHS status in SciPy


class _Relaxation(NamedTuple):
    """The linear relaxation for subsets with a given number of items.

    `value` is its profit or, for subsets of any size, its number of items.
    """

    items: int
    bound: int
    value: float
    reduced: NDArray[np.float64]


def upper_bound(
    file: MkpFile, profit: int, seconds: float, is_stopped: Callable[[], bool] = lambda: False
) -> Bound:
    """Return an upper bound on all profits, given the profit of a subset, in about `seconds`.

    Both are integers, as in the file.
    """
    limit = TimeLimit(seconds, is_stopped)
    whole = _relaxed(file, _ANY)
    if whole is None:
        return Bound(int(file.profits.sum()), LINEAR, limit.elapsed)
    kind, counts = LINEAR, _counts(file, profit, whole, limit)
    value = whole.bound
    if counts is not None:
        bounds = {relaxation.items: relaxation.bound for relaxation in counts}
        largest = max(int(file.profits.max(initial=0)), int(file.weights.max(initial=0)))
        for relaxation in sorted(counts, key=lambda relaxation: -relaxation.bound):
            if largest > _LARGEST or limit.left == 0.0:
                break
            if not _excludes_better(file, profit, relaxation, limit):
                break  # this number of items determines the bound
            bounds[relaxation.items] = profit
            kind = BRANCHED
        value = min(value, max(bounds.values(), default=profit))
    return Bound(max(value, profit), kind, limit.elapsed)


def _counts(
    file: MkpFile, profit: int, whole: _Relaxation, limit: TimeLimit
) -> list[_Relaxation] | None:
    """Return the relaxations for all numbers of items that a better subset may have.

    Return None at the time limit, or if one could not be solved. As the relaxation is concave in
    the number, the search in each direction ends at the first one that is not better.
    """
    relaxations: list[_Relaxation] = []
    below = int(np.floor(whole.value))
    for counts in (range(below + 1, file.size + 1), range(below, -1, -1)):
        for count in counts:
            relaxation = _relaxed(file, count) if limit.left > 0.0 else None
            if relaxation is None:
                return None
            if relaxation.bound <= profit:
                break
            relaxations.append(relaxation)
    return relaxations


def _relaxed(file: MkpFile, count: int) -> _Relaxation | None:
    """Return the relaxation for subsets with this number of items, or None if it is not solved."""
    from scipy.optimize import linprog

    n = file.size
    rows = {} if count == _ANY else {"A_eq": np.ones((1, n)), "b_eq": [count]}
    solved = linprog(
        -file.profits.astype(np.float64),
        A_ub=file.weights.astype(np.float64),
        b_ub=file.capacities.astype(np.float64),
        bounds=(0, 1),
        method="highs",
        **rows,
    )
    if solved.status == _INFEASIBLE:
        return _Relaxation(count, _NONE, -np.inf, np.zeros(n))
    if solved.status != 0:
        return None
    prices = np.maximum(-solved.ineqlin.marginals, 0.0)
    by_count = 0.0 if count == _ANY else -float(solved.eqlin.marginals[0])
    exact = [round(float(price) * 2**_BITS) for price in prices]
    fixed = round(by_count * 2**_BITS)
    total = sum(price * int(most) for price, most in zip(exact, file.capacities, strict=True))
    total += fixed * max(count, 0)
    priced = np.array(exact, object) @ file.weights.astype(object)
    total += sum(
        max(0, (int(profit) << _BITS) - int(price) - fixed)
        for profit, price in zip(file.profits, priced, strict=True)
    )
    reduced = file.profits - prices @ file.weights - by_count
    value = float(solved.x.sum()) if count == _ANY else -float(solved.fun)
    return _Relaxation(count, total >> _BITS, value, reduced)


def _excludes_better(file: MkpFile, profit: int, relaxation: _Relaxation, limit: TimeLimit) -> bool:
    """Return whether HiGHS proves that no subset with this number of items has more profit."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    gap = relaxation.value - profit - 1 + _SLACK
    low = (relaxation.reduced > gap).astype(float)
    high = 1.0 - (-relaxation.reduced > gap)
    ones = np.ones((1, file.size))
    solved = milp(
        -file.profits.astype(np.float64),
        constraints=[
            LinearConstraint(file.weights.astype(np.float64), -np.inf, file.capacities),
            LinearConstraint(ones, relaxation.items, relaxation.items),
            LinearConstraint(file.profits[np.newaxis], profit + 1, np.inf),
        ],
        integrality=np.ones(file.size),
        bounds=Bounds(low, high),
        options={"time_limit": max(0.1, limit.left)},
    )
    return bool(solved.status == _INFEASIBLE)
