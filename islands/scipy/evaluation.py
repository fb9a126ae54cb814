"""The function that differential evolution minimises, its bounds and its constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.scipy import messages

Vectors = NDArray[np.float64]


@dataclass(frozen=True)
class Variables:
    """The bounds of the variables; variables with equal bounds are not part of the search."""

    low: Vectors
    high: Vectors
    is_integral: NDArray[np.bool_]
    given: Vectors
    """The bounds as passed by the user, a row for each variable."""

    @classmethod
    def of(cls, bounds: Any, integrality: ArrayLike | None) -> Variables:
        """Return the bounds of a call; reject invalid ones."""
        from scipy.optimize import Bounds

        try:
            if isinstance(bounds, Bounds):
                low, high = np.broadcast_arrays(bounds.lb, bounds.ub)
                pairs = np.column_stack([np.ravel(low), np.ravel(high)]).astype(float)
            else:
                pairs = np.array(bounds, float)
        except (TypeError, ValueError):
            raise ValueError(messages.INVALID_BOUNDS) from None
        is_table = pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) > 0
        if not (is_table and np.isfinite(pairs).all()):
            raise ValueError(messages.INVALID_BOUNDS)
        low, high = pairs.T
        if (low > high).any():
            raise ValueError("One of the lower bounds is greater than an upper bound.")
        integral = np.zeros(len(pairs), bool)
        if integrality is not None:
            integral = np.broadcast_to(np.asarray(integrality, bool), len(pairs)).copy()
            low = np.where(integral, np.ceil(low), low)
            high = np.where(integral, np.floor(high), high)
            if (low > high).any():
                raise ValueError(messages.NO_INTEGERS)
        return cls(low, high, integral, pairs)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which variables can take more than one value."""
        return self.low < self.high

    def search_bounds(self) -> tuple[Vectors, Vectors]:
        """Return the bounds of the free variables in the search: for integers, 0.5 further out."""
        free, half = self.free, np.where(self.is_integral, 0.5, 0.0)
        low = np.nextafter(self.low - half, self.low)
        high = np.nextafter(self.high + half, self.high)
        return np.where(half > 0, low, self.low)[free], np.where(half > 0, high, self.high)[free]

    def decoded(self, vectors: Vectors) -> Vectors:
        """Return the values of all variables for vectors of the search; integers are rounded."""
        whole = np.tile(self.low, (len(vectors), 1))
        whole[:, self.free] = vectors
        return np.where(self.is_integral, np.round(whole), whole)


class Constraint:
    """A SciPy constraint: functions of a vector must be between two limits."""

    def __init__(self, values: Callable[[Vectors], Vectors], low: Any, high: Any) -> None:
        self._values, self._low, self._high = values, low, high

    @classmethod
    def of(cls, constraint: Any, *, vectorized: bool) -> Constraint:
        """Return the constraint for a `Bounds`, `LinearConstraint` or `NonlinearConstraint`."""
        from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
        from scipy.sparse import issparse

        if isinstance(constraint, Bounds):
            return cls(lambda rows: rows, constraint.lb, constraint.ub)
        if isinstance(constraint, LinearConstraint):
            matrix = constraint.A.toarray() if issparse(constraint.A) else constraint.A
            matrix = np.atleast_2d(np.asarray(matrix, float))
            return cls(lambda rows: rows @ matrix.T, constraint.lb, constraint.ub)
        if isinstance(constraint, NonlinearConstraint):
            fun = constraint.fun

            def values(rows: Vectors) -> Vectors:
                if vectorized:
                    return np.asarray(fun(rows.T), float).reshape(-1, len(rows)).T
                return np.array([np.atleast_1d(fun(row)) for row in rows], float)

            return cls(values, constraint.lb, constraint.ub)
        raise ValueError("`constraint` of an unknown type is passed.")

    def violations(self, rows: Vectors) -> Vectors:
        """Return the amounts by which values violate the limits, a row for each vector."""
        values = self._values(rows)
        below: Vectors = np.maximum(self._low - values, 0.0)
        above: Vectors = np.maximum(values - self._high, 0.0)
        return below + above


class Function:
    """The user's function with its constraints; counts its calls."""

    def __init__(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        mapped: Callable[[Callable[..., Any], Vectors], Any] | None,
        constraints: list[Constraint],
        variables: Variables,
    ) -> None:
        """Evaluate by `mapped`, which calls a function for each vector; if None, by one call."""
        self._bound = _WithArguments(func, args)
        self._mapped, self._constraints, self.variables = mapped, constraints, variables
        self.calls = 0
        self.is_nan: bool | None = None
        """Whether all values so far are NaN; None before the first value."""

    def one(self, x: Vectors) -> float:
        """Return the value of one vector."""
        return float(self._values(np.asarray(x, float)[np.newaxis])[0])

    def values(self, rows: Vectors) -> tuple[Vectors, Vectors]:
        """Return values and violations; vectors with a violation are not evaluated."""
        violations = self.violations(rows)
        values, feasible = np.full(len(rows), np.inf), violations == 0
        if feasible.any():
            returned = self._values(rows[feasible])
            is_nan = np.isnan(returned)
            self.is_nan = bool(is_nan.all()) and self.is_nan is not False
            values[feasible] = np.where(is_nan, np.inf, returned)
        return values, violations

    def violations(self, rows: Vectors) -> Vectors:
        """Return the sum of the violations of each vector."""
        violations = np.zeros(len(rows))
        for constraint in self._constraints:
            violations += constraint.violations(rows).sum(axis=1)
        return violations

    def _values(self, rows: Vectors) -> Vectors:
        if self._mapped is None:
            self.calls += 1
            numbers = _numbers(self._bound(rows.T.copy()))
            if numbers is None or numbers.size != len(rows):
                raise RuntimeError(messages.INVALID_VALUES)
            return numbers.reshape(-1)
        self.calls += len(rows)
        try:
            values = [*map(_numbers, self._mapped(self._bound, rows))]
        except TypeError as error:
            if "callable" in str(error) or "iterable" in str(error):
                raise RuntimeError(messages.INVALID_MAP) from error
            raise
        single = [value.item() for value in values if value is not None and value.size == 1]
        if len(values) != len(rows) or len(single) != len(rows):
            raise RuntimeError("func(x, *args) must return a scalar value")
        return np.array(single)


def _numbers(returned: Any) -> Vectors | None:
    """Return the result of a function as numbers, or None if it is None."""
    return None if returned is None else np.asarray(returned, float)


@dataclass(frozen=True)
class _WithArguments:
    """A function with fixed arguments after the vector; it can be pickled."""

    func: Callable[..., Any]
    args: tuple[Any, ...]

    def __call__(self, x: Vectors) -> Any:
        return self.func(x.copy(), *self.args)
