"""The utility of knapsack items, and the orders that islands use."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from problems_for_tests import knapsack

from islands.problems.mkp import MkpSettings
from islands.problems.utilities import UTILITIES, by_difference, by_ratio, orders, prices_of, varied


@pytest.mark.parametrize("kind", UTILITIES)
def test_islands_use_different_orders_by_utility(kind: str) -> None:
    problem = knapsack(100, 5).adjusted(MkpSettings(utilities=kind, orders=4))
    file, prices = problem.file, prices_of(problem.file, kind)
    found = problem.orders.tolist()
    for number, order in enumerate(found):
        assert sorted(order) == [*range(100)]
        doubts = np.random.RandomState(number).uniform(-0.1, 0.1, 5) if number else np.zeros(5)
        useful = []
        for item in order:
            paid = sum(float(prices[i]) * 2 ** doubts[i] * file.weights[i, item] for i in range(5))
            profit = int(file.profits[item])
            useful.append(profit - paid if number % 2 else profit / paid)
        assert all(one > other - 1e-6 for one, other in itertools.pairwise(useful))
        assert useful[0] > useful[-1]
    assert len({tuple(order) for order in found}) == 4
    assert found[0] == problem.numbering().tolist()
    plain = problem.adjusted(MkpSettings(utilities=kind, orders=1))
    assert plain.orders.tolist() == found[:1]


def test_price_changes_are_the_same_in_all_versions_of_numpy() -> None:
    drawn = varied(np.ones(2), 1)
    assert drawn == pytest.approx(2 ** (0.2 * np.array([0.417022004703, 0.720324493442]) - 0.1))


def test_duals_are_those_of_the_linear_relaxation() -> None:
    """By weak duality, prices give at least the optimum of the relaxation; only duals reach it."""
    for items, constraints in ((30, 1), (60, 5), (100, 30)):
        file = knapsack(items, constraints).file
        divided = scipy.optimize.linprog(
            -file.profits, A_ub=file.weights, b_ub=file.capacities, bounds=(0, 1)
        )
        prices = prices_of(file, "lp")
        left = np.maximum(0, file.profits - prices @ file.weights)
        assert prices.min() >= 0
        assert prices @ file.capacities + left.sum() == pytest.approx(-divided.fun)


def test_large_numbers_have_the_same_prices_as_small_ones() -> None:
    small = knapsack(40, 3).file
    large = replace(
        small,
        profits=small.profits << 30,
        weights=small.weights << 40,
        capacities=small.capacities << 40,
    )
    for kind in UTILITIES:
        assert prices_of(large, kind) * 2.0**10 == pytest.approx(prices_of(small, kind))
        assert (
            orders(large, prices_of(large, kind), 4).tolist()
            == orders(small, prices_of(small, kind), 4).tolist()
        )


def test_last_digits_do_not_change_an_order() -> None:
    profits, priced = np.array([300, 100, 200]), np.array([3.0, 1.0, 2.0])
    off = priced * (1 + np.array([0, 1e-13, -1e-13]))
    for useful in (by_ratio, by_difference):
        assert useful(profits, off).tolist() == useful(profits, priced).tolist()
    assert by_ratio(profits, priced).tolist() == [100, 100, 100]
