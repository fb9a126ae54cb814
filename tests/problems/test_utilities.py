"""The utility of knapsack items, and the orders that islands use."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from problems_for_tests import knapsack

import islands
from islands.errors import UsageError
from islands.instances.mkp import MkpFile
from islands.problems.mkp import MkpSettings
from islands.problems.utilities import (
    UTILITIES,
    by_difference,
    by_ratio,
    orders,
    prices_of,
    varied,
)


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


def test_scaled_prices_are_in_units_of_profit() -> None:
    """The second of three items fills all capacities, so its profit equals its priced weight."""
    capacities, weights = np.array([10, 20]), np.array([[4, 7, 8], [8, 12, 2]])
    file = MkpFile("three", None, np.array([40, 30, 10]), weights, capacities)
    prices = prices_of(file, "scaled")
    assert prices @ weights[:, 1] == pytest.approx(30)
    assert prices[0] / prices[1] == pytest.approx(2)


def test_islands_repair_by_their_own_order() -> None:
    problem, asked = knapsack(100, 5), {"population": 8, "stop": "generations=1", "backend": "cpu"}
    digests = [
        [islands.solve(problem, islands=count, orders=orders, **asked).digest for orders in (1, 16)]
        for count in (1, 2)
    ]
    assert digests[0][0] == digests[0][1], "the first island has the plain order"
    assert digests[1][0] != digests[1][1]


def test_an_item_that_fits_nowhere_leaves_the_orders_of_the_others() -> None:
    usual = knapsack(20, 3).file
    profits = np.append(usual.profits, 10**15)
    weights = np.column_stack([usual.weights, usual.capacities + 1])
    more = replace(usual, profits=profits, weights=weights)
    prices = prices_of(usual, "lp")
    assert (orders(more, prices, 6)[:, :-1] == orders(usual, prices, 6)).all()


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


def test_single_capacity_is_priced_by_the_fractional_item() -> None:
    weights, profits = np.array([[5, 4, 3, 2]]), np.array([50, 36, 24, 2])
    file = MkpFile("four", None, profits, weights, np.array([7]))
    assert prices_of(file, "lp") == pytest.approx([36 / 4])
    assert orders(file, prices_of(file, "lp"), 1).tolist() == [[0, 1, 2, 3]]


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


def test_unsolved_relaxation_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = SimpleNamespace(success=False, message="Too hard.")
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: failed)
    assert knapsack(9, 2).defines()["MKP_ORDERS"] == "16", "what is only looked at needs no prices"
    with pytest.raises(
        UsageError, match=r"utilities=lp on knapsack: .* Too hard\. Choose utilities=scaled"
    ):
        _ = knapsack(9, 2).orders


def test_items_that_never_fit_are_not_in_the_relaxation() -> None:
    """Very heavy items may prevent a solution by HiGHS, and must not change prices."""
    file = knapsack(20, 3).file
    heavy = np.full((3, 5), 1 << 50)
    wider = replace(
        file,
        profits=np.concatenate([file.profits, np.full(5, 1 << 40)]),
        weights=np.concatenate([file.weights, heavy], axis=1),
    )
    assert prices_of(wider, "lp") == pytest.approx(prices_of(file, "lp"))
    assert (
        orders(wider, prices_of(wider, "lp"), 1)[0, :20].tolist()
        == orders(file, prices_of(file, "lp"), 1)[0].tolist()
    )


def test_items_that_cost_nothing_are_ordered_by_profit() -> None:
    weights = np.array([[0, 0, 0, 0, 6, 6], [4, 4, 4, 4, 1, 1]])
    profits, capacities = np.array([1, 2, 1, 30, 40, 40]), np.array([9, 18])
    file = MkpFile("free", None, profits, weights, capacities)
    assert prices_of(file, "lp")[1] == 0
    assert orders(file, prices_of(file, "lp"), 1).tolist() == [[3, 1, 0, 2, 4, 5]]


def test_last_digits_do_not_change_an_order() -> None:
    profits, priced = np.array([300, 100, 200]), np.array([3.0, 1.0, 2.0])
    off = priced * (1 + np.array([0, 1e-13, -1e-13]))
    for useful in (by_ratio, by_difference):
        assert useful(profits, off).tolist() == useful(profits, priced).tolist()
    assert by_ratio(profits, priced).tolist() == [100, 100, 100]
