"""How useful each item of a knapsack is: its profit a weight, with a price for each capacity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from islands.instances.mkp import MkpFile

UTILITIES = ("lp", "scaled")
"""Prices: the duals of the linear relaxation (Chu and Beasley 1998), or one over each capacity."""

_DIGITS = 9  # so many are the same whoever has solved the relaxation
_DOUBTS = 0.1  # how far prices are off, as a power of two: measured on the OR-Library

Floats = NDArray[np.float64]


def orders(file: MkpFile, kind: str, count: int) -> NDArray[np.int64]:
    """Return all items from the most useful one on, in so many different orders, a row each.

    The first is the one of the prices as they are. For the others, each price is somewhat higher
    or lower; every second one takes the profit less the priced weight, and not their ratio. A
    search that repairs by one order alone may never come to where the best solutions are.
    """
    prices = prices_of(file, kind)
    rows = [by_ratio(file, prices)]
    for number in range(1, count):
        # This old generator gives the same numbers in all versions of NumPy.
        doubts = np.random.RandomState(number).uniform(-_DOUBTS, _DOUBTS, len(prices))
        useful = by_difference if number % 2 else by_ratio
        rows.append(useful(file, prices * 2.0**doubts))
    return np.argsort(-np.array(rows), axis=1, kind="stable").astype(np.int64)


def prices_of(file: MkpFile, kind: str) -> Floats:
    """Return the price of a unit of each capacity."""
    return _duals(file) if kind == "lp" else _scaled(file)


def by_ratio(file: MkpFile, prices: Floats) -> Floats:
    """Return the profit of each item by its priced weight."""
    priced = prices @ file.weights.astype(np.float64)
    free = priced <= 0
    useful = np.where(free, np.inf, file.profits / np.where(free, 1.0, priced))
    return _last_where_too_heavy(file, _rounded(useful))


def by_difference(file: MkpFile, prices: Floats) -> Floats:
    """Return what is left of the profit of each item when its weight is paid."""
    left = file.profits - prices @ file.weights.astype(np.float64)
    largest = max(1.0, float(file.profits.max(initial=0)))
    return _last_where_too_heavy(file, np.rint(left / largest * 10.0**_DIGITS))


def _last_where_too_heavy(file: MkpFile, useful: Floats) -> Floats:
    """Return utilities with those of items that fit nowhere below all others."""
    fits = (file.weights <= file.capacities[:, np.newaxis]).all(axis=0)
    return np.where(fits, useful, -np.inf)


def _scaled(file: MkpFile) -> Floats:
    capacities = file.capacities.astype(np.float64)
    return np.where(capacities > 0, 1.0 / np.maximum(capacities, 1.0), 0.0)


def _duals(file: MkpFile) -> Floats:
    """Return what one more unit of each capacity would bring if items could be divided."""
    from scipy.optimize import linprog

    solved = linprog(
        -file.profits.astype(np.float64),
        A_ub=file.weights,
        b_ub=file.capacities,
        bounds=(0, 1),
        method="highs",
    )
    if not solved.success:
        return _scaled(file)
    duals: Floats = np.maximum(-solved.ineqlin.marginals, 0.0)
    return duals


def _rounded(numbers: Floats) -> Floats:
    """Return the numbers to a few digits."""
    return np.array([float(f"{number:.{_DIGITS}g}") for number in numbers.tolist()])
