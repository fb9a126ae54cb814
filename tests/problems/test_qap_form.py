"""The form of assignment problems in kernels, compared with all exchanges of random assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy_improvers import unequal_pairs
from problems_for_tests import facilities, with_equals

import islands
from islands.instances.qaplib import QapFile
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import Exchanges
from islands.problems.qap_form import alike

FEW: dict[str, Any] = {"islands": 2, "population": 16, "backend": "cpu", "threads": 1}


def equals(n: int = 12, *, turned: bool = False) -> Qap:
    matrices = with_equals(n)
    return Qap(QapFile("equals", None, n, *(matrices[::-1] if turned else matrices)))


def test_indices_are_alike_if_their_exchange_never_changes_a_cost() -> None:
    problem = facilities(7)
    a = problem.file.a.copy()
    a[2] = a[4]
    a[:, 2] = a[:, 4]
    a[2, 4] = a[4, 2] = 9
    a[2, 2] = a[4, 4] = 3
    assert alike(a).tolist() == [0, 1, 2, 3, 2, 5, 6]
    orders = np.array([np.random.default_rng(k).permutation(7) for k in range(30)])
    two, four = np.full(30, 2), np.full(30, 4)
    assert not Exchanges.of(orders, two, four).changes(a, problem.file.b).any()
    a[2, 4] = 8  # no longer symmetric
    assert alike(a).tolist() == list(range(7))
    assert alike(np.zeros((5, 5), np.int64)).tolist() == [0] * 5


def test_facilities_with_different_linear_costs_are_not_alike() -> None:
    linear = np.repeat([[3, 4, 5, 6]], 4, axis=0)
    linear[2, 1] = 7
    zeros = np.zeros((4, 4), np.int64)
    assert alike(zeros, linear).tolist() == [0, 0, 2, 0]
    form = Qap(QapFile("linear", None, 4, zeros, zeros, linear=linear)).form
    assert form.pairs == 3  # of facility 2 with the others
    assert form.places is None


@pytest.mark.parametrize("turned", [False, True])
def test_equal_items_are_consecutive_and_no_pairs(turned: bool) -> None:
    form, problem = equals(turned=turned).form, equals(turned=turned)
    assert form.turned == turned
    assert form.after is not None
    pairs = [(i, j) for i in range(12) for j in range(int(form.after[i]), 12)]
    assert pairs == unequal_pairs(problem)
    assert form.pairs == len(pairs) == 66 - 6 - 1
    assert form.places is not None
    unequal = unequal_pairs(problem, of_places=True)
    assert [form.places[i] != form.places[j] for i, j in unequal] == [True] * (66 - 3)


@pytest.mark.parametrize("turned", [False, True])
def test_kernels_see_the_same_costs(turned: bool) -> None:
    problem = equals(turned=turned)
    form = problem.form
    orders = np.array([np.random.default_rng(k).permutation(12) for k in range(20)])
    seen = problem.layout.to_device(orders)
    assert (problem.layout.from_device(seen) == orders).all()
    assert (problem.layout.from_device(seen[3]) == orders[3]).all()
    for order, cost in zip(seen, problem.costs(orders).tolist(), strict=True):
        assert (form.a * form.b[np.ix_(order, order)]).sum() == cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "turned"), [("tempering", True), ("memetic", True), ("brkga", False)]
)
def test_a_warm_start_is_the_same_assignment(turned: bool, algorithm: str) -> None:
    problem = equals(turned=turned)
    order = np.random.default_rng(4).permutation(12)
    solver = islands.Solver(problem, algorithm=algorithm, **FEW)
    solver.inject([order])
    solver.evolve(3)
    best = solver.best(1)[0]
    assert best.cost == problem.cost(best.solution) <= problem.cost(order)
