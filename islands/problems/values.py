"""The values of device costs, which are minimised integers, in the sense and unit of a problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from islands.problems import real_costs
from islands.statistics.losses import percent_worse

if TYPE_CHECKING:
    from islands.instances.catalogue import BestKnown

_REAL_TOLERANCE = 1e-9


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
            values = real_costs.value_of(costs)
            return 0.0 - values if self.maximise else values
        return self.value_of(-costs if self.maximise else costs)

    def own_mean(self, total: Any, count: float = 1) -> Any:
        """Return the mean of `count` values in the sense of the instance.

        `total` is their sum, minimised and in units; or an array of such sums.
        """
        return self.value_of(-total if self.maximise else total) / count

    def agrees(self, exact: float | None, shown: float | None) -> bool:
        """Return whether a cost that was computed again confirms the cost that a run shows.

        Integers must be equal; real costs may differ in their last digits.
        """
        if not self.real or exact is None or shown is None:
            return exact == shown
        return math.isclose(exact, shown, rel_tol=_REAL_TOLERANCE, abs_tol=_REAL_TOLERANCE)

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
