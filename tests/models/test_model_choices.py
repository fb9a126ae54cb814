"""Models that choose items: covers, and given numbers of them, compared with all choices."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.models.covering import lp_bound


@pytest.mark.parametrize("seed", range(12))
def test_a_wrong_number_of_items_is_never_best(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n, size = int(draw.integers(2, 8)), int(draw.integers(1, 3))
    ways = np.triu(draw.integers(-6 if seed % 2 else 0, 7, (n, n)), 1)
    ways += ways.T
    equal = np.full((n, n), seed // 2)
    problems = [islands.models.max_diversity(each, size) for each in (ways, equal)]
    if ways.min() >= 0:
        many = draw.integers(0, 7, (20, n))  # customers, so that another place saves much
        problems += [islands.models.p_median(each, size) for each in (ways, equal, many)]
    for problem in problems:
        every = np.array([[*each] for each in product((0, 1), repeat=n)])
        costs = np.array([problem.cost(each) for each in every])
        best = costs.max() if problem.scale.maximise else costs.min()
        assert set(every[costs == best].sum(axis=1).tolist()) == {size}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.float64])
def test_the_longest_way_of_a_small_type_is_no_limit(dtype: Any) -> None:
    problem = islands.models.p_median(np.array([[0, 255], [255, 0]], dtype), 1)
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    # A way without a place is 256; a place too many or too few costs 513.
    wanted = [2 * 256 + 513, 255, 255, 513]
    assert problem.costs(every).tolist() == problem.program_costs(every, "cpu").tolist() == wanted


@pytest.mark.parametrize("seed", range(8))
def test_only_covers_are_best(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 7))
    rows = [draw.choice(n, draw.integers(1, n + 1), replace=False).tolist() for _ in range(4)]
    columns = draw.integers(0, 5, n)
    problem = islands.models.set_cover(columns, rows)
    chosen = np.array([*product((0, 1), repeat=n)])
    costs = problem.costs(chosen)
    for each in chosen[costs == costs.min()]:
        assert all(any(each[j] for j in row) for row in rows)
    assert lp_bound(columns, rows) <= costs.min() + 1e-6


@pytest.mark.slow
def test_a_hidden_partition_is_found(backend: Backend) -> None:
    # Ten columns cover each of 80 rows once, at 1 a row; the others cost more than that.
    random = np.random.default_rng(3)
    order = random.permutation(80)
    columns = [order[8 * k : 8 * k + 8] for k in range(10)]
    columns += [random.choice(80, 9, replace=False) for _ in range(400)]
    rows = [[j for j, own in enumerate(columns) if r in own] for r in range(80)]
    problem = islands.models.set_cover([8] * 10 + [10] * 400, rows)
    assert islands.solve(problem, generations=20, seed=1, backend=backend.name).cost == 80
