"""How useful each item of a knapsack is: its profit a weight, with a price for each capacity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from islands.instances.mkp import MkpFile

UTILITIES = ("lp", "scaled")
"""Prices: the duals of the linear relaxation (Chu and Beasley 1998), or one over each capacity."""

_DIGITS = 9  # so many are the same whoever has solved the relaxation

Floats = NDArray[np.float64]


def utilities(file: MkpFile, kind: str) -> Floats:
    """Return the utility of each item; none is below -1, which those have that fit nowhere."""
    weights = file.weights.astype(np.float64)
    prices = _duals(file) if kind == "lp" else _scaled(file)
    priced = prices @ weights
    free = priced <= 0
    useful = np.where(free, np.inf, file.profits / np.where(free, 1.0, priced))
    fits = (file.weights <= file.capacities[:, np.newaxis]).all(axis=0)
    return np.where(fits, _rounded(useful), -1.0)


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
