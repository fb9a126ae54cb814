"""The utility of knapsack items: profit relative to weight, priced per capacity."""

import math

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances.mkp import MkpFile

UTILITIES = ("lp", "scaled")
"""Prices: the duals of the linear relaxation (Chu and Beasley 1998), or the inverse capacities."""

DIGITS = 9  # significant digits that do not depend on the solver of the relaxation
_SPREAD = 0.1  # maximum change of a price, as a power of two; tuned on the OR-Library

Floats = NDArray[np.float64]


def orders(file: MkpFile, prices: Floats, count: int) -> NDArray[np.int64]:
    """Return `count` orders of all items by decreasing utility at `prices`, one per row.

    The first order uses the exact prices. For the others, prices are perturbed at random, and every
    second one ranks items by profit minus priced weight instead of the ratio. With a single order,
    repair may never reach the best solutions. Items without priced weight are ordered by profit.
    """
    weights = file.weights.astype(np.float64)
    fits = fitting(file)
    profits = file.profits * fits  # other items must not affect how numbers are rounded
    rows = []
    for number in range(count):
        priced = varied(prices, number) @ weights
        utility = by_difference if number % 2 else by_ratio
        ranks = np.where(fits, utility(profits, priced), -np.inf)
        rows.append(np.lexsort((np.where(np.isposinf(ranks), -file.profits, 0), -ranks)))
    return np.array(rows, np.int64)


def prices_of(file: MkpFile, kind: str) -> Floats:
    """Return the price of a unit of each capacity, in units of profit."""
    return _duals(file) if kind == "lp" else _scaled(file)


def varied(prices: Floats, number: int) -> Floats:
    """Return the prices for the order `number`; order 0 uses the exact prices."""
    if number == 0:
        return prices
    # This legacy generator returns the same numbers in all versions of NumPy.
    changes = np.random.RandomState(number).uniform(-_SPREAD, _SPREAD, len(prices))
    result: Floats = prices * 2.0**changes
    return result


def by_ratio(profits: NDArray[np.int64], priced: Floats) -> Floats:
    """Return the profit of each item divided by its priced weight, rounded to `DIGITS`."""
    return rounded(_ratios(profits, priced))


def by_difference(profits: NDArray[np.int64], priced: Floats) -> Floats:
    """Return the profit of each item minus its priced weight, relative to the largest profit."""
    difference = (profits - priced) / max(1, int(profits.max(initial=0)))
    utilities: Floats = np.rint(difference * 10.0**DIGITS)
    return utilities


def _ratios(profits: NDArray[np.int64], priced: Floats) -> Floats:
    free = priced <= 0
    return np.where(free, np.inf, profits / np.where(free, 1.0, priced))


def _scaled(file: MkpFile) -> Floats:
    """Return 1 / capacity for each capacity, scaled to units of profit.

    Items are taken by decreasing ratio of profit to priced weight until they fill the sum of the
    priced capacities; the scale is the ratio of the last one.
    """
    capacities = file.capacities.astype(np.float64)
    shares = np.where(capacities > 0, 1.0 / np.maximum(capacities, 1.0), 0.0)
    priced = shares @ file.weights.astype(np.float64)
    ratios = _ratios(file.profits, priced)
    order = np.argsort(-ratios, kind="stable")
    last = int(np.searchsorted(np.cumsum(priced[order]), shares @ capacities))
    ratio = float(ratios[order[min(last, len(order) - 1)]])
    return shares * ratio if math.isfinite(ratio) and ratio > 0 else shares


def _duals(file: MkpFile) -> Floats:
    """Return the dual values of the capacities in the linear relaxation."""
    from scipy.optimize import linprog

    # HiGHS fails on very large numbers; scaling by powers of two is exact.
    unit, units = _power(file.profits), np.array([_power(row) for row in file.weights])
    most = np.minimum(file.capacities, file.weights.sum(axis=1))
    for method in ("highs", "highs-ipm"):  # if one method fails, the other may succeed
        solved = linprog(
            -file.profits / unit,
            A_ub=file.weights / units[:, np.newaxis],
            b_ub=most / units,
            bounds=[(0, int(fits)) for fits in fitting(file).tolist()],
            method=method,
        )
        if solved.success:
            break
    else:
        raise UsageError(
            f"utilities=lp on {file.name}: the linear relaxation could not be solved:"
            f" {solved.message} Choose utilities=scaled"
        )
    duals: Floats = np.maximum(-solved.ineqlin.marginals, 0.0) * unit / units
    return duals


def rounded(numbers: Floats) -> Floats:
    """Return numbers rounded to the digits that do not depend on the solver."""
    digits = [float(f"{number:.{DIGITS}g}") for number in numbers.ravel().tolist()]
    return np.array(digits).reshape(numbers.shape)


def fitting(file: MkpFile) -> NDArray[np.bool_]:
    """Return which items fit into an empty knapsack."""
    fit: NDArray[np.bool_] = np.all(file.weights <= file.capacities[:, np.newaxis], axis=0)
    return fit


def _power(numbers: NDArray[np.int64]) -> float:
    """Return the power of two that scales the largest number to below 2^20, at least 1."""
    return 2.0 ** max(0, int(numbers.max(initial=0)).bit_length() - 20)
