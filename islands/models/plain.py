"""Models as plain numbers for other solvers, such as solvers of integer programs.

Unlike models, which contain functions, records can be passed to other processes. `Model.plain`
returns one of them if other solvers can handle the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Answered = tuple[list[Any], float]
"""A solution in the form of the model, and its cost."""
Program = tuple[NDArray[np.float64], list[Any]]
"""The costs of the binary variables of an integer program, and its constraints."""


@dataclass(frozen=True)
class Plain:
    """The base class of records."""

    best: float | None = field(default=None, kw_only=True)
    """The best known value."""


@dataclass(frozen=True)
class Covering(Plain):
    """A set covering problem: the costs of columns, and the columns of each row."""

    costs: NDArray[np.int64]
    column: NDArray[np.int32]
    row_first: NDArray[np.int64]

    def program(self) -> Program:
        """Return the integer program of all columns."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array

        shape = len(self.row_first) - 1, len(self.costs)
        rows = csr_array((np.ones(len(self.column)), self.column, self.row_first), shape=shape)
        return self.costs.astype(float), [LinearConstraint(rows, 1, np.inf)]

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return a cover and its cost."""
        return chosen.tolist(), int(self.costs @ chosen)


@dataclass(frozen=True)
class Medians(Plain):
    """A p-median problem: distances of customers, with a row for each place."""

    distances: NDArray[np.int32]
    p: int

    def program(self) -> Program:
        """Return the program with a variable for each place, and for each place and customer."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array, eye_array, hstack, kron

        places, customers = self.distances.shape
        assigned = kron(np.ones((1, places)), eye_array(customers))
        assigned = hstack([csr_array((customers, places)), assigned])
        is_open = kron(eye_array(places), np.ones((customers, 1)))
        is_open = hstack([is_open, -eye_array(self.distances.size)])
        number = np.concatenate([np.ones(places), np.zeros(self.distances.size)])
        return np.concatenate([np.zeros(places), self.distances.flatten()]), [
            LinearConstraint(assigned.tocsr(), 1, 1),
            LinearConstraint(is_open.tocsr(), 0, np.inf),
            LinearConstraint(number[np.newaxis], self.p, self.p),
        ]

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return the chosen places, and the sum of the distances."""
        chosen = chosen[: len(self.distances)]
        shortest = self.distances[chosen.astype(bool)].min(axis=0)
        return chosen.tolist(), int(shortest.sum(dtype=np.int64))


@dataclass(frozen=True)
class Classes(Plain):
    """A partition of items into few classes."""

    most: int
    """The maximum number of classes."""

    def answer(self, classes: NDArray[Any]) -> Answered:
        """Return the class of each item, and the number of classes."""
        return classes.tolist(), len(np.unique(classes))


@dataclass(frozen=True)
class Colouring(Classes):
    """A graph to be coloured with few colours."""

    nodes: int
    edges: NDArray[np.int64]


@dataclass(frozen=True)
class Packing(Classes):
    """Items to be packed into few bins."""

    sizes: NDArray[np.int32]
    capacity: int


@dataclass(frozen=True)
class Quadratic(Plain):
    """A quadratic form of chosen items, which is minimised."""

    single: NDArray[np.float64]
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
    """The items and the coefficient of each pair."""
    sign: int
    """-1 if the cost of the model is the negative of the form."""
    size: int | None = None
    """The number of chosen items, if prescribed."""
    price: float = 0.0
    """The cost of each item too many or too few in the model."""

    @classmethod
    def of_neighbours(
        cls,
        single: NDArray[Any],
        first: NDArray[np.int64],
        other: NDArray[np.int32],
        coefficients: NDArray[Any],
        *,
        maximise: bool,
    ) -> Quadratic:
        """Return the form with these coefficients of pairs, listed for both of their items."""
        sign, two = -1 if maximise else 1, other.astype(np.int64)[: first[-1]]
        one = np.repeat(np.arange(len(first) - 1), np.diff(first))
        once = one > two
        quadratic = sign * coefficients[: len(once)][once].astype(np.float64)
        return cls(sign * single.astype(np.float64), (one[once], two[once], quadratic), sign)

    def cost(self, chosen: NDArray[Any]) -> float:
        """Return the cost of a choice of items."""
        one, two, quadratic = self.pairs
        is_chosen = chosen == 1
        # Not a matrix product, as its threads would wait for each other on busy cores.
        total = self.single[is_chosen].sum() + quadratic[is_chosen[one] & is_chosen[two]].sum()
        if self.size is not None:
            total += self.price * abs(int(is_chosen.sum()) - self.size)
        cost = self.sign * float(total)
        return int(cost) if cost.is_integer() else cost

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return a choice and its cost."""
        return chosen.tolist(), self.cost(chosen)


def whole(values: ArrayLike) -> NDArray[np.int64] | None:
    """Return numbers as integers; None if they are not whole."""
    array = np.asarray(values)
    integers = np.rint(array).astype(np.int64)
    return integers if np.array_equal(integers, array) else None
