"""Upper bounds of knapsacks, compared with optima by brute force and with HiGHS."""

from dataclasses import replace

import numpy as np
import pytest
from problems_for_tests import knapsack
from scipy.optimize import linprog

from islands.bounds.knapsack import LINEAR, upper_bound
from islands.instances.mkp import MkpFile


def optimum(file: MkpFile) -> int:
    choices = (np.arange(2**file.size)[:, np.newaxis] >> np.arange(file.size)) & 1
    fits = (choices @ file.weights.T <= file.capacities).all(axis=1)
    return int((choices[fits] @ file.profits).max())


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 2), (11, 1), (12, 3), (13, 8)])
def test_a_small_optimum_is_proven(n: int, m: int) -> None:
    file = knapsack(n, m, seed=n).file
    best = optimum(file)
    for profit in (best, best - 1, best * 9 // 10):
        found = upper_bound(file, profit, 20.0)
        assert found.value >= best
        assert found.value == best or profit < best


@pytest.mark.parametrize("seed", range(20))
def test_no_subset_is_above_the_bound(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n, m = int(draw.integers(1, 8)), int(draw.integers(1, 4))
    profits, weights = draw.integers(1, 10, n), draw.integers(1, 10, (m, n))
    capacities = weights.sum(axis=1) * int(draw.integers(2, 8)) // 10
    file = MkpFile("small", None, profits, weights, capacities)
    best = optimum(file)
    assert upper_bound(file, best, 20.0).value == best
    for profit in {best - 1, best - 2, best // 2}:
        assert upper_bound(file, profit, 20.0).value >= best


def test_without_time_the_bound_is_that_of_the_relaxation() -> None:
    file = knapsack(60, 5).file
    solved = linprog(
        -file.profits, A_ub=file.weights, b_ub=file.capacities, bounds=(0, 1), method="highs"
    )
    found = upper_bound(file, 1, 0.0)
    assert found.kind == LINEAR
    assert found.value == pytest.approx(-solved.fun, abs=1)
    assert upper_bound(file, 1, 1e9, lambda: True).value == found.value


def test_large_numbers_have_the_exact_bound_of_the_relaxation() -> None:
    file = knapsack(12, 2).file
    large = replace(
        file, profits=file.profits << 34, weights=file.weights << 34,
        capacities=file.capacities << 34,
    )  # fmt: skip
    small, found = upper_bound(file, 1, 0.0), upper_bound(large, 1, 0.0)
    assert found.kind == LINEAR
    assert found.value >> 34 == pytest.approx(small.value, abs=1)
    best = optimum(file)
    assert best << 34 <= upper_bound(large, best << 34, 5.0).value <= found.value
