"""How useful islands find the things of a knapsack."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from problems_for_tests import knapsack

import islands
from islands.instances.mkp import MkpFile
from islands.problems.mkp_settings import MkpSettings
from islands.problems.utilities import UTILITIES, doubted, prices_of


@pytest.mark.parametrize("kind", UTILITIES)
def test_islands_differ_by_how_useful_they_find_things(kind: str) -> None:
    problem = knapsack(100, 5).adjusted(MkpSettings(utilities=kind, orders=4))
    file, prices = problem.file, prices_of(problem.file, kind)
    found = [problem.order_of(island) for island in range(5)]
    for number, order in enumerate(found[:4]):
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
    assert found[0].tolist() == found[4].tolist() == problem.numbering().tolist()
    plain = problem.adjusted(MkpSettings(utilities=kind, orders=1))
    assert plain.order_of(3).tolist() == found[0].tolist()


def test_doubts_are_the_same_in_all_versions_of_numpy() -> None:
    drawn = doubted(np.ones(2), 1)
    assert drawn == pytest.approx(2 ** (0.2 * np.array([0.417022004703, 0.720324493442]) - 0.1))


def test_scaled_prices_are_in_units_of_profit() -> None:
    """The second item of three, by which all capacities are used up, is worth its weight."""
    capacities, weights = np.array([10, 20]), np.array([[4, 7, 8], [8, 12, 2]])
    file = MkpFile("three", None, np.array([40, 30, 10]), weights, capacities)
    prices = prices_of(file, "scaled")
    assert prices @ weights[:, 1] == pytest.approx(30)
    assert prices[0] / prices[1] == pytest.approx(2)


def test_what_an_island_finds_useful_is_what_it_repairs_by() -> None:
    problem, asked = knapsack(100, 5), {"population": 8, "stop": "generations=1", "backend": "cpu"}
    digests = [
        [islands.solve(problem, islands=count, orders=orders, **asked).digest for orders in (1, 16)]
        for count in (1, 2)
    ]
    assert digests[0][0] == digests[0][1], "the first island has the plain order"
    assert digests[1][0] != digests[1][1]
