"""How useful each item of a knapsack is: by its profit and its weight, which capacities price."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances.mkp import MkpFile

UTILITIES = ("lp", "scaled")
"""Prices: the duals of the linear relaxation (Chu and Beasley 1998), or one over each capacity."""

_DIGITS = 9  # so many are the same whoever has solved the relaxation
_DOUBTS = 0.1  # how far prices are off, as a power of two: measured on the OR-Library

Floats = NDArray[np.float64]


def orders(file: MkpFile, kind: str, count: int) -> NDArray[np.int64]:
    """Return all items from the most useful one on, in up to so many different orders, a row each.

    The first is the one of the prices as they are. For the others, each price is somewhat higher
    or lower; every second one takes the profit less the priced weight, and not their ratio. A
    search that repairs by one order alone may never come to where the best solutions are. Of items
    that cost nothing, the more profitable comes first.
    """
    weights, prices = file.weights.astype(np.float64), prices_of(file, kind)
    fits = _fit(file)
    rows = []
    for number in range(count):
        priced = doubted(prices, number) @ weights
        useful = by_difference if number % 2 else by_ratio
        ranks = np.where(fits, useful(file.profits, priced), -np.inf)
        rows.append(np.lexsort((np.where(np.isposinf(ranks), -file.profits, 0), -ranks)))
    return np.array(rows, np.int64)


def prices_of(file: MkpFile, kind: str) -> Floats:
    """Return the price of a unit of each capacity, in units of profit."""
    return _duals(file) if kind == "lp" else _scaled(file)


def doubted(prices: Floats, number: int) -> Floats:
    """Return the prices of the order of this number; 0 leaves them as they are."""
    if number == 0:
        return prices
    # This old generator gives the same numbers in all versions of NumPy.
    doubts = np.random.RandomState(number).uniform(-_DOUBTS, _DOUBTS, len(prices))
    off: Floats = prices * 2.0**doubts
    return off


def by_ratio(profits: NDArray[np.int64], priced: Floats) -> Floats:
    """Return the profit of each item by its priced weight, of which some digits are kept."""
    ratios = _ratios(profits, priced).tolist()
    return np.array([float(f"{ratio:.{_DIGITS}g}") for ratio in ratios])


def by_difference(profits: NDArray[np.int64], priced: Floats) -> Floats:
    """Return what is left of each profit when the weight is paid, in small parts of the largest."""
    left = (profits - priced) / max(1, int(profits.max(initial=0)))
    parts: Floats = np.rint(left * 10.0**_DIGITS)
    return parts


def _ratios(profits: NDArray[np.int64], priced: Floats) -> Floats:
    free = priced <= 0
    return np.where(free, np.inf, profits / np.where(free, 1.0, priced))


def _scaled(file: MkpFile) -> Floats:
    """Return one over each capacity, times what makes profits of it.

    That is the ratio of the item with which all capacities together are used up, if the items of
    the best ratios are chosen.
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
    """Return what one more unit of each capacity would bring if items could be divided."""
    from scipy.optimize import linprog

    # HiGHS fails on very large numbers; powers of two take nothing from their digits.
    unit, units = _power(file.profits), np.array([_power(row) for row in file.weights])
    most = np.minimum(file.capacities, file.weights.sum(axis=1))
    for method in ("highs", "highs-ipm"):  # what one does not solve, the other may
        solved = linprog(
            -file.profits / unit,
            A_ub=file.weights / units[:, np.newaxis],
            b_ub=most / units,
            bounds=[(0, int(fits)) for fits in _fit(file).tolist()],
            method=method,
        )
        if solved.success:
            break
    else:
        raise UsageError(
            f"utilities=lp on {file.name}: the linear relaxation, whose duals price the capacities,"
            f" was not solved: {solved.message} Choose utilities=scaled"
        )
    duals: Floats = np.maximum(-solved.ineqlin.marginals, 0.0) * unit / units
    return duals


def _fit(file: MkpFile) -> NDArray[np.bool_]:
    """Return which items fit at all."""
    fit: NDArray[np.bool_] = np.all(file.weights <= file.capacities[:, np.newaxis], axis=0)
    return fit


def _power(numbers: NDArray[np.int64]) -> float:
    """Return the power of two by which the largest of some numbers comes to 2^20, if it is more."""
    return 2.0 ** max(0, int(numbers.max(initial=0)).bit_length() - 20)
