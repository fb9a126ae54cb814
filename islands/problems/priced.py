"""The costs by which kernels compare solutions with violations, in NumPy.

Infeasible solutions have compared costs above those of all feasible ones, in a range of their own:
see kernels/core/priced.cuh.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.real_costs import ordered

LARGEST_COST = 2**60
"""The largest absolute value of an integer cost with a violation."""
_LARGEST_REAL = 2.0**300
_PRICE_FACTOR = 64.0
"""Price of a violation divided by its estimated value: large, as too low a price prevents feasible
solutions and too high a price does little harm. Tempering starts with a 16th of the price and
adapts it."""
# The range of compared costs of infeasible solutions, from _FIRST to below _END. A cost of zero is
# at _BASE, and a unit is worth _STEP. Real costs are the bits of doubles: 1324 << 52 is 2**301.
_FIRST, _BASE, _END, _STEP = (
    {False: 2 * LARGEST_COST, True: 1324 << 52},
    {False: 3 * LARGEST_COST, True: 1655 << 52},
    {False: 2**63 - 1, True: 1987 << 52},
    {False: 1, True: 4},
)


def first_infeasible(*, real: bool) -> int:
    """Return the smallest compared cost of infeasible solutions."""
    return _FIRST[real]


def compared(
    costs: NDArray[Any], violations: NDArray[Any], price: NDArray[Any] | float, *, real: bool
) -> NDArray[np.int64]:
    """Return the compared costs for minimised costs and violations."""
    amounts = violations.astype(np.float64)
    is_violated = amounts > 0
    with np.errstate(over="ignore", invalid="ignore"):
        penalty = price * amounts
        if real:
            sums = np.where(is_violated, costs + penalty, costs)
            units = ordered(np.clip(sums, -_LARGEST_REAL, _LARGEST_REAL))
        else:
            added = np.clip(penalty, 1.0, 2.0 * LARGEST_COST).astype(np.int64)
            units = np.minimum(np.where(is_violated, costs + added, costs), LARGEST_COST)
    moved = _BASE[real] + (units >> 2 if real else units)
    result = np.where(is_violated, moved, units)
    if real:
        result = np.where(np.isposinf(costs), ordered(costs), result)
    return np.asarray(result, np.int64)


def soft(units: Any, *, real: bool) -> Any:
    """Return compared costs, a number or an array, with violations added at their price."""
    if isinstance(units, int):
        is_priced = _FIRST[real] <= units < _END[real]
        return (units - _BASE[real]) * _STEP[real] if is_priced else units
    is_priced = (units >= _FIRST[real]) & (units < _END[real])
    result = np.where(is_priced, np.where(is_priced, units - _BASE[real], 0) * _STEP[real], units)
    is_masked = isinstance(units, np.ma.MaskedArray)
    return np.ma.MaskedArray(result, units.mask) if is_masked else result


def price_of(costs: NDArray[Any], violations: NDArray[Any]) -> float:
    """Return the price per unit of violation, a power of two, from some random solutions.

    It is the ratio of cost differences to violation differences, times a factor; 0 if unknown.
    """
    finite = costs[np.isfinite(costs)].astype(np.float64)
    amounts = violations[np.isfinite(violations)].astype(np.float64)
    cost = _mean_difference(finite)
    amount = _mean_difference(amounts) or float(amounts.max(initial=0.0))
    if not (cost > 0 and amount > 0):
        return 0.0
    return float(2.0 ** np.clip(np.ceil(np.log2(_PRICE_FACTOR * cost / amount)), -900, 900))


def _mean_difference(values: NDArray[np.float64]) -> float:
    return float(np.abs(np.diff(values)).mean()) if len(values) > 1 else 0.0
