"""Maximum cuts compared with brute force and with sums over edges."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.models.cuts import read

RANDOM = np.random.default_rng(6)
EDGES = [(i, j) for i in range(12) for j in range(i) if RANDOM.random() < 0.5]
WEIGHTS = RANDOM.integers(-5, 20, len(EDGES))


def cut(sides: Any, weights: Any) -> int:
    return sum(int(w) for (i, j), w in zip(EDGES, weights, strict=True) if sides[i] != sides[j])


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_best_cut_is_that_of_all_sides(backend: Backend, weights: Any) -> None:
    own = [1] * len(EDGES) if weights is None else weights
    best = max(cut(sides, own) for sides in product((0, 1), repeat=12))
    problem = islands.models.max_cut(EDGES, weights)
    result = islands.solve(
        problem, algorithm="tempering", generations=30, seed=1, backend=backend.name
    )
    assert result.cost == cut(result.solution, own) == best


@pytest.mark.slow
def test_the_state_agrees_with_costs() -> None:
    problem = islands.models.max_cut([*EDGES, EDGES[0][::-1]], [*WEIGHTS, 7])
    assert "240 of 240 moves as costs" in str(islands.check_problem(problem, samples=30))


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("4 3\n1 2 5\n2 3 -1\n1 4 2\n")
    assert read(path).cost(np.array([1, 0, 0, 0])) == 7
