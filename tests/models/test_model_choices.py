"""Models that choose a given number of items, compared with all choices."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.models import diversity, medians

N, SIZE = 9, 4
POINTS = np.random.default_rng(12).integers(0, 50, (N, 2))
WAYS = np.abs(POINTS[:, np.newaxis] - POINTS).sum(axis=2)
SEARCH = {"algorithm": "tempering", "generations": 40, "seed": 1}


def ways(chosen: Any) -> int:
    return sum(min(int(WAYS[i][j]) for j in chosen) for i in range(N))


def spread(chosen: Any) -> int:
    return sum(int(WAYS[i][j]) for i, j in combinations(chosen, 2))


def test_the_shortest_ways_are_those_of_all_choices(backend: Backend) -> None:
    best = min(ways(each) for each in combinations(range(N), SIZE))
    problem = islands.models.p_median(WAYS, SIZE)
    result = islands.solve(problem, **SEARCH, backend=backend.name)
    assert result.cost == ways(np.flatnonzero(result.solution)) == best
    assert sum(result.solution) == SIZE


def test_the_largest_spread_is_that_of_all_choices(backend: Backend) -> None:
    best = max(spread(each) for each in combinations(range(N), SIZE))
    problem = islands.models.max_diversity(WAYS, SIZE)
    result = islands.solve(problem, **SEARCH, backend=backend.name)
    assert result.cost == spread(np.flatnonzero(result.solution)) == best
    assert sum(result.solution) == SIZE


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


@pytest.mark.slow
@pytest.mark.parametrize("model", [islands.models.p_median, islands.models.max_diversity])
@pytest.mark.parametrize("size", [1, SIZE, N])
def test_states_agree_with_costs(model: Any, size: int) -> None:
    checked = str(islands.check_problem(model(WAYS, size), samples=60))
    assert "480 of 480 moves as costs" in checked


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.float64])
def test_the_longest_way_of_a_small_type_is_no_limit(dtype: Any) -> None:
    problem = islands.models.p_median(np.array([[0, 255], [255, 0]], dtype), 1)
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    # A way without a place is 256; a place too many or too few costs 513.
    wanted = [2 * 256 + 513, 255, 255, 513]
    assert problem.costs(every).tolist() == problem.program_costs(every, "cpu").tolist() == wanted


def test_a_file_of_a_network_is_read(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("4 4 1\n1 2 3\n2 3 4\n3 4 1\n1 2 2\n")  # the last edge of a pair counts
    assert medians.read(path).cost(np.array([0, 1, 0, 0])) == 2 + 4 + 5


def test_a_file_of_distances_is_read(tmp_path: Path) -> None:
    path = tmp_path / "far.txt"
    path.write_text("3 2\n0 1 1.5\n0 2 4\n1 2 2\n")
    assert diversity.read(path).cost(np.array([1, 0, 1])) == 4
