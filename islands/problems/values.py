"""The values of device costs, which are minimised integers, in the sense and unit of a problem.

Real costs are, on the device, 64-bit integers with the same order as doubles (core/costs.cuh).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from islands.statistics import percent_worse

if TYPE_CHECKING:
    from islands.instances.catalogue import BestKnown

_LARGEST = np.iinfo(np.int64).max
INFINITE = 0x7FF0000000000000
"""The integer for an infinite cost, which marks an infeasible solution."""
NOT_A_NUMBER = 0x7FF8000000000000
"""The integer for NaN, which is worse than all others."""

UNIT_OF_SUMS = 2.0**64
"""Sums of costs are in this unit, so that those of all individuals of a run are finite."""


def mean_of(total: float, count: float) -> float:
    """Return the mean of costs from their sum."""
    return total / count * UNIT_OF_SUMS


def ordered(costs: Any) -> Any:
    """Return the integers for an array of real costs, of NumPy or CuPy."""
    bits = (costs + 0.0).view(np.int64)
    found = np.where(bits < 0, bits ^ _LARGEST, bits)
    return np.where(np.isnan(costs), NOT_A_NUMBER, found)


def real_of(units: Any) -> Any:
    """Return the real cost for an integer, or an array for an array, which may be masked."""
    bits = np.asarray(units, np.int64)
    values = np.where(bits < 0, bits ^ _LARGEST, bits).view(np.float64)
    if isinstance(units, np.ma.MaskedArray):
        return np.ma.MaskedArray(values, units.mask)
    return float(values) if bits.ndim == 0 else values


_REAL_TOLERANCE = 1e-9


def agree(exact: float | None, shown: float | None, *, real: bool) -> bool:
    """Return whether costs are equal; real ones may differ in their last digits."""
    if not real or exact is None or shown is None:
        return exact == shown
    return math.isclose(exact, shown, rel_tol=_REAL_TOLERANCE, abs_tol=_REAL_TOLERANCE)


class Values:
    """The sense, the unit and the best known value of a problem."""

    maximise: bool = False
    best_known: BestKnown | None = None
    unit: int = 1
    """Costs, on the device and in NumPy, are integers in units of `1 / unit`, to be exact."""
    real: bool = False
    """Whether costs are floating-point numbers; on the device, integers with the same order."""

    def value_of(self, units: Any) -> Any:
        """Return the value of a number of units, or of an array of them.

        It is an integer unless costs have decimals. Decimals are exact up to 15 digits.
        """
        return units if self.unit == 1 else units / self.unit

    def own_sense(self, costs: Any) -> Any:
        """Return the values of device costs, which are minimised, in the sense of the instance."""
        if self.real:
            values = real_of(costs)
            return 0.0 - values if self.maximise else values
        return self.value_of(-costs if self.maximise else costs)

    def own_mean(self, total: Any, count: float = 1) -> Any:
        """Return the mean of `count` values in the sense of the instance.

        `total` is their sum, minimised and in units; or an array of such sums.
        """
        return self.value_of(-total if self.maximise else total) / count

    def agrees(self, exact: float | None, shown: float | None) -> bool:
        """Return whether a cost that was computed again confirms the cost that a run shows."""
        return agree(exact, shown, real=self.real)

    def gap(self, cost: float) -> float | None:
        """Return how much worse `cost` is than the best known value, in percent; None: unknown."""
        if self.best_known is None:
            return None
        best = self.best_known.value
        if self.real and best:
            return float(percent_worse(np.float64(cost), float(best), maximise=self.maximise))
        worse = best - cost if self.maximise else cost - best
        if best == 0:
            return 0.0 if worse == 0 else None
        return 100.0 * worse / abs(best)
