"""Set covering compared with brute force, linear relaxations and layouts of files."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.models.covering import lp_bound, read

RANDOM = np.random.default_rng(8)
COSTS = RANDOM.integers(1, 30, 12)
ROWS = [RANDOM.choice(12, RANDOM.integers(1, 5), replace=False).tolist() for _ in range(20)]


def covers(chosen: Any) -> bool:
    return all(any(chosen[j] for j in row) for row in ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("costs", [COSTS, np.ones(12, int)])
def test_the_best_cover_is_that_of_all_subsets(backend: Backend, costs: Any) -> None:
    best = min(int(costs @ each) for each in product((0, 1), repeat=12) if covers(each))
    problem = islands.models.set_cover(costs, ROWS)
    result = islands.solve(
        problem, algorithm="tempering", generations=40, seed=1, backend=backend.name
    )
    assert covers(result.solution)
    assert result.cost == int(costs @ np.asarray(result.solution)) == best
    assert lp_bound(costs, ROWS) <= best + 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_only_covers_are_best(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 7))
    rows = [draw.choice(n, draw.integers(1, n + 1), replace=False).tolist() for _ in range(4)]
    problem = islands.models.set_cover(draw.integers(0, 5, n), rows)
    chosen = np.array([*product((0, 1), repeat=n)])
    costs = problem.costs(chosen)
    for each in chosen[costs == costs.min()]:
        assert all(any(each[j] for j in row) for row in rows)


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


@pytest.mark.slow
def test_the_state_agrees_with_costs() -> None:
    problem = islands.models.set_cover(COSTS, ROWS)
    assert "480 of 480 moves as costs" in str(islands.check_problem(problem, samples=60))


@pytest.mark.parametrize(
    "text",
    [
        "2 3\n5 6 7\n2 1 2\n1 3\n",  # by rows
        "2 3\n5 1 1\n6 1 1\n7 1 2\n",  # by columns
        "2 3\n9 9 9 9\n2 1 2\n1 3\n",  # unicost
    ],
)
def test_each_layout_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cover.txt"
    path.write_text(text)
    problem = read(path)
    costs = [1, 1, 1] if "9" in text else [5, 6, 7]
    assert problem.cost(np.array([1, 0, 1])) == costs[0] + costs[2]
    assert problem.cost(np.array([1, 1, 0])) == costs[0] + costs[1] + costs[2] + 1
