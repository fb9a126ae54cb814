"""The representation of costs on the device: minimised 64-bit integers."""

import math
from dataclasses import dataclass
from typing import Any

from islands.backends.source import Macros
from islands.problems import priced
from islands.problems.real_costs import agree, real_of

_SUMS = 1e-12
"""Relative difference of two sums of exact lengths that rounding may cause."""


@dataclass(frozen=True)
class Scale:
    """How costs on the device represent those of the problem: sense, unit and violations."""

    maximise: bool = False
    unit: float = 1
    """Costs, on the device and in NumPy, are exact integers in units of `1 / unit`. The user sees
    floats unless the unit is the integer 1; a float unit is that of exact lengths."""
    real: bool = False
    """Whether costs are floating-point numbers, stored on the device as integers with the same
    order."""
    marks: bool = False
    """Whether costs on the device are doubled, with 1 added for infeasible solutions."""
    priced: bool = False
    """Whether costs on the device include the price of a violation: see core/priced.cuh."""
    first_infeasible: int | None = None
    """Minimum cost of infeasible solutions on the device, in units, or None without a limit."""
    adapts_price: bool = False
    """Whether the price may change: see kernels/tempering/adapting_price.cuh."""

    @property
    def is_whole(self) -> bool:
        """Whether the user sees costs as integers."""
        return not self.real and self.unit == 1 and isinstance(self.unit, int)

    @property
    def has_violations(self) -> bool:
        """Whether infeasible solutions have finite costs."""
        return self.marks or self.priced

    def macros(self) -> Macros:
        """Return the macros of kernels that compute and compare costs."""
        return {
            "COSTS_MARKED": str(int(self.marks)),
            "COSTS_REAL": str(int(self.real)),
            **({"COSTS_PRICED": "1"} if self.priced else {}),
        }

    def unmarked(self, costs: Any) -> Any:
        """Return costs without the mark of kernels/core/marks.cuh: a number or an array."""
        return costs >> 1 if self.marks else costs

    def value_of(self, units: Any) -> Any:
        """Return the value of a number of units, or of an array of them.

        It is an integer unless costs have decimals. Decimals are exact up to 15 digits.
        """
        return units if self.unit == 1 and isinstance(self.unit, int) else units / self.unit

    def user_costs(self, costs: Any) -> Any:
        """Return costs on the device as the user sees them, with violations at their price."""
        if self.priced:
            costs = priced.soft(costs, real=self.real)
        if self.real:
            values = real_of(costs)
            return 0.0 - values if self.maximise else values
        return self.value_of(-costs if self.maximise else costs)

    def user_mean(self, total: Any, count: float = 1) -> Any:
        """Return the mean of `count` costs as the user sees it.

        `total` is their sum, minimised and in units, or an array of sums.
        """
        return self.value_of(-total if self.maximise else total) / count

    @property
    def tolerance(self) -> float:
        """The relative difference of costs that counts as equality: 0 except for exact lengths."""
        return _SUMS if isinstance(self.unit, float) else 0.0

    def agrees(self, exact: float | None, shown: float | None) -> bool:
        """Return whether a recomputed cost confirms the one shown by a run."""
        if self.tolerance and exact is not None and shown is not None:
            return math.isclose(exact, shown, rel_tol=self.tolerance)
        return agree(exact, shown, real=self.real)

    def reaches(self, cost: float | None, value: float) -> bool:
        """Return whether a cost is at least as good as a value; False for None."""
        return reaches(cost, value, maximise=self.maximise, tolerance=self.tolerance)


def reaches(cost: float | None, value: float, *, maximise: bool, tolerance: float) -> bool:
    """Return whether a cost is at least as good as a value, up to a relative tolerance."""
    if cost is None or (cost >= value if maximise else cost <= value):
        return cost is not None
    return tolerance > 0 and math.isclose(cost, value, rel_tol=tolerance)
