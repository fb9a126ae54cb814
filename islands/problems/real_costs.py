"""Real costs on the device: doubles as 64-bit integers with the same order (core/costs.cuh)."""

import math
from typing import Any

import numpy as np

_LARGEST = np.iinfo(np.int64).max
INFINITE = 0x7FF0000000000000
"""The integer for an infinite cost, which marks an infeasible solution."""
NOT_A_NUMBER = 0x7FF8000000000000
"""The integer for NaN, which is worse than all others."""

UNIT_OF_SUMS = 2.0**64
"""The unit of sums of costs, so that the sum over all individuals of a run is finite."""


def mean_of(total: float, count: float) -> float:
    """Return the mean of costs from their sum."""
    return total / count * UNIT_OF_SUMS


def ordered(costs: Any) -> Any:
    """Return the integers for a NumPy or CuPy array of real costs."""
    bits = (costs + 0.0).view(np.int64)
    units = np.where(bits < 0, bits ^ _LARGEST, bits)
    return np.where(np.isnan(costs), NOT_A_NUMBER, units)


def real_of(units: Any) -> Any:
    """Return the real cost for an integer or an array, which may be masked."""
    bits = np.asarray(units, np.int64)
    values = np.where(bits < 0, bits ^ _LARGEST, bits).view(np.float64)
    if isinstance(units, np.ma.MaskedArray):
        return np.ma.MaskedArray(values, units.mask)
    return float(values) if bits.ndim == 0 else values


_REAL_TOLERANCE = 1e-9


def agree(exact: float | None, shown: float | None, *, real: bool) -> bool:
    """Return whether costs are equal; real ones may differ in the last digits."""
    if not real or exact is None or shown is None:
        return exact == shown
    return math.isclose(exact, shown, rel_tol=_REAL_TOLERANCE, abs_tol=_REAL_TOLERANCE)
