"""Models as plain numbers, which other programs get: what a problem of `islands.models` is.

A problem is such a model if it has the data and the text of the cost of one, whatever its search
is. Models have functions of their own, which other processes cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands import models
from islands.modelling.model import Model
from islands.models.job_shops import Shop
from islands.problems.base import Problem

Answered = tuple[list[Any], float]
"""A solution as its model has it, and its cost."""
_DECLARED = re.compile(r"\bconstexpr int [^;]*;")
_CONSTANT = re.compile(r"\bconstexpr \w+ (\w+) = (\w+)")


def _data_of(problem: Problem, *examples: Model) -> Mapping[str, Any] | None:
    """Return the data of a problem if it is stated like one of these; None for another one."""
    return next((problem.members for each in examples if _is_like(problem, each)), None)  # type: ignore[attr-defined]


def _is_like(problem: Problem, example: Model) -> bool:
    if not isinstance(problem, Model) or problem.functions is None or example.functions is None:
        return False
    own, other = problem.functions, example.functions
    return (
        _without_numbers(own.cost.code) == _without_numbers(other.cost.code)
        and own.violation is own.repair is None
        and set(problem.members) == set(example.members)
        and (problem.kind.name, problem.kind.own) == (example.kind.name, example.kind.own)
        and problem.maximise == example.maximise
    )


def _without_numbers(code: str) -> str:
    return _DECLARED.sub(lambda found: re.sub(r"\b\d+", "", found[0]), code)


def _constants(problem: Problem) -> dict[str, str]:
    """Return the constants that the text of a cost defines."""
    has_text = isinstance(problem, Model) and problem.functions is not None
    return dict(_CONSTANT.findall(problem.functions.cost.code)) if has_text else {}  # type: ignore[attr-defined]


def _best(problem: Problem) -> float | None:
    return None if problem.best_known is None else problem.best_known.value


def _once(first: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return both nodes of each edge, and which entries of the lists of neighbours they are."""
    two = other.astype(np.int64)[: first[-1]]
    one = np.repeat(np.arange(len(first) - 1), np.diff(first))
    once = one > two
    return one[once], two[once], once


@dataclass(frozen=True)
class JobShop:
    """A job shop, and its best known value."""

    shop: Shop
    best: float | None

    def answer(self, begins: NDArray[Any]) -> Answered:
        """Return the order of the operations, and the end of the last one."""
        # Those that take no time come before others of the same machine.
        order = np.lexsort((np.arange(len(begins)), begins + self.shop.time, begins))
        return order.tolist(), max(end for *_, end in self.shop.schedule(order))


def shop_of(problem: Problem) -> JobShop | None:
    """Return the job shop that a model is; None for another one."""
    found = _data_of(problem, models.job_shop([[0]], [[1]]))
    return None if found is None else JobShop(Shop(**found), _best(problem))


@dataclass(frozen=True)
class Covering:
    """The costs of columns, and the columns of each row."""

    costs: NDArray[np.int64]
    column: NDArray[np.int32]
    row_first: NDArray[np.int64]
    best: float | None

    def program(self) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the costs and the rules of an integer program."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array

        shape = len(self.row_first) - 1, len(self.costs)
        rows = csr_array((np.ones(len(self.column)), self.column, self.row_first), shape=shape)
        return self.costs.astype(float), [LinearConstraint(rows, 1, np.inf)]

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return a cover and its cost."""
        return chosen.tolist(), int(self.costs @ chosen)


def covering_of(problem: Problem) -> Covering | None:
    """Return the covering that a model is; None for another one."""
    found = _data_of(problem, models.set_cover([1], [[0]]))
    if found is None:
        return None
    return Covering(found["cost"], found["column"], found["row_first"], _best(problem))


@dataclass(frozen=True)
class Colouring:
    """A graph whose nodes get few colours."""

    nodes: int
    edges: NDArray[np.int64]
    colours: int
    """The most that are allowed."""
    best: float | None

    def answer(self, colours: NDArray[Any]) -> Answered:
        """Return the keys of a colouring, and the number of its colours."""
        return ((colours + 0.5) / self.colours).tolist(), len(np.unique(colours))


def colouring_of(problem: Problem) -> Colouring | None:
    """Return the graph that a model colours with few colours; None for another one."""
    found = _data_of(problem, models.graph_colouring([[0, 1]]))
    if found is None:
        return None
    one, two, _ = _once(found["first"], found["other"])
    colours = int(_constants(problem)["COLOURS"])
    return Colouring(problem.size, np.stack([two, one], axis=1), colours, _best(problem))


@dataclass(frozen=True)
class Packing:
    """Items that need few bins."""

    sizes: NDArray[np.int32]
    capacity: int
    bins: int
    """The most that are allowed."""
    best: float | None

    def answer(self, bins: NDArray[Any]) -> Answered:
        """Return the keys of a packing, and the number of its bins."""
        return ((bins + 0.5) / self.bins).tolist(), len(np.unique(bins))


def packing_of(problem: Problem) -> Packing | None:
    """Return the packing that a model is; None for another one."""
    found = _data_of(problem, models.bin_packing([1], 1))
    if found is None:
        return None
    bins = int(_constants(problem)["BINS"])
    return Packing(found["size"], int(found["capacity"]), bins, _best(problem))


@dataclass(frozen=True)
class Medians:
    """Ways of customers, a row for each place, of which p are chosen."""

    ways: NDArray[np.int32]
    p: int
    best: float | None

    def program(self) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the costs and the rules of an integer program.

        Its variables are the places, and for each place whether a customer goes there.
        """
        from scipy.optimize import LinearConstraint
        from scipy.sparse import csr_array, eye_array, hstack, kron

        places, customers = self.ways.shape
        goes = kron(np.ones((1, places)), eye_array(customers))
        goes = hstack([csr_array((customers, places)), goes])
        is_there = kron(eye_array(places), np.ones((customers, 1)))
        is_there = hstack([is_there, -eye_array(self.ways.size)])
        number = np.concatenate([np.ones(places), np.zeros(self.ways.size)])
        return np.concatenate([np.zeros(places), self.ways.flatten()]), [
            LinearConstraint(goes.tocsr(), 1, 1),
            LinearConstraint(is_there.tocsr(), 0, np.inf),
            LinearConstraint(number[np.newaxis], self.p, self.p),
        ]

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return the chosen places, and the sum of the ways."""
        chosen = chosen[: len(self.ways)]
        ways = self.ways[chosen.astype(bool)].min(axis=0)
        return chosen.tolist(), int(ways.sum(dtype=np.int64))


def medians_of(problem: Problem) -> Medians | None:
    """Return the p-median problem that a model is; None for another one."""
    found = _data_of(problem, models.p_median([[1]], 1))
    return None if found is None else Medians(found["way"], int(found["size"]), _best(problem))


@dataclass(frozen=True)
class Quadratic:
    """A sum of numbers of single items and of pairs, both chosen, which shall be small."""

    single: NDArray[np.float64]
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
    """The items and the number of each pair."""
    sign: int
    """-1 if the cost is the negative sum."""
    best: float | None
    size: int | None = None
    """The number of chosen items, if it is given."""
    price: float = 0.0
    """What an item too many or too few costs in the model."""

    def model(self) -> Any:
        """Return it in D-Wave's form, in which a wrong number of items has a price."""
        form: Any = import_module("dimod").BinaryQuadraticModel
        single, (one, two, by), constant = self.single, self.pairs, 0.0
        if self.size is not None:
            # For the square of the difference, no less than an item can win.
            pairs, price = np.tril_indices(len(single), -1), self.size * float(np.abs(by).max())
            one, two = (np.concatenate(each) for each in zip((one, two), pairs, strict=True))
            by = np.concatenate([by, np.full(len(pairs[0]), 2 * price)])
            single = single + price * (1 - 2 * self.size)
            constant = price * self.size**2
        return form.from_numpy_vectors(single, (one, two, by), constant, "BINARY")

    def cost(self, chosen: NDArray[Any]) -> float:
        """Return the cost of a choice of items."""
        one, two, by = self.pairs
        is_chosen = chosen == 1
        # No product of matrices, whose threads would wait for each other on busy cores.
        total = self.single[is_chosen].sum() + by[is_chosen[one] & is_chosen[two]].sum()
        if self.size is not None:
            total += self.price * abs(int(is_chosen.sum()) - self.size)
        sum_of = self.sign * float(total)
        return int(sum_of) if sum_of.is_integer() else sum_of

    def answer(self, chosen: NDArray[Any]) -> Answered:
        """Return a choice and its cost."""
        return chosen.tolist(), self.cost(chosen)


def quadratic_of(problem: Problem) -> Quadratic | None:
    """Return the quadratic problem that a model is, also of a cut; None for another one."""
    sign = -1 if problem.maximise else 1
    if (cut := _data_of(problem, models.max_cut([[0, 1]]))) is not None:
        # An edge is between the sides if one of its nodes is chosen: x + y - 2 x y.
        weight = sign * cut["weight"].astype(np.float64)
        single, by = np.add.reduceat(np.append(weight, 0.0), cut["first"][:-1]), -2 * weight
        single[np.diff(cut["first"]) == 0] = 0.0
    else:
        examples = (models.qubo([[by]], maximise=problem.maximise) for by in (1, 0.5))
        if (cut := _data_of(problem, *examples)) is None:
            return _diversity_of(problem)
        single, by = (sign * cut[name].astype(np.float64) for name in ("diagonal", "both"))
    one, two, once = _once(cut["first"], cut["other"])
    return Quadratic(single, (one, two, by[: len(once)][once]), sign, _best(problem))


def _diversity_of(problem: Problem) -> Quadratic | None:
    found = _data_of(problem, models.max_diversity([[0]], 1))
    if found is None:
        return None
    one, two = np.tril_indices(problem.size, -1)
    by, single = -found["distance"][one, two], np.zeros(problem.size)
    size, price = int(found["size"]), float(found["price"])
    return Quadratic(single, (one, two, by), -1, _best(problem), size, price)


def whole(values: ArrayLike) -> NDArray[np.int64] | None:
    """Return numbers as integers; None if they are not whole."""
    array = np.asarray(values)
    integers = np.rint(array).astype(np.int64)
    return integers if np.array_equal(integers, array) else None
