"""Quadratic binary problems compared with brute force and with the matrix."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array

import islands
from islands.backends.base import Backend

N = 12


def matrix(kind: str) -> Any:
    random = np.random.default_rng(4)
    if kind == "integers":
        return random.integers(-50, 50, (N, N))
    if kind == "real":
        return random.normal(size=(N, N))
    rows, columns = random.integers(0, N, (2, 30))  # some of them twice, some on the diagonal
    return coo_array((random.integers(-9, 9, 30), (rows, columns)), shape=(N, N))


@pytest.mark.parametrize(
    ("kind", "maximise"), [("integers", False), ("real", True), ("sparse", True)]
)
def test_the_optimum_is_that_of_brute_force(backend: Backend, kind: str, maximise: bool) -> None:
    q = matrix(kind)
    dense = q.toarray() if kind == "sparse" else np.asarray(q)
    every = np.array(list(product((0, 1), repeat=N)))
    values = np.einsum("ki,ij,kj->k", every, dense, every)
    best = values.max() if maximise else values.min()
    problem = islands.qubo(q, maximise=maximise)
    result = islands.solve(
        problem, algorithm="tempering", generations=60, seed=1, backend=backend.name
    )
    assert result.cost == pytest.approx(best, rel=1e-12)
    assert isinstance(result.cost, float if kind == "real" else int)
    x = np.asarray(result.solution)
    assert x @ dense @ x == pytest.approx(result.cost, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["integers", "real", "sparse"])
def test_its_state_agrees_with_its_costs(kind: str) -> None:
    checked = islands.check_problem(islands.qubo(matrix(kind)), samples=40)
    assert "320 of 320 moves as costs" in str(checked)


@pytest.mark.parametrize(
    ("q", "n", "best"),
    [
        ({(0, 1): 2, (1, 1): -3, (0, 0): -1}, 2, -3),
        ({(1, 0): -4, (0, 1): 2}, 2, -2),
        (((-1, 5), (0, -2)), 2, -2),  # not values and places, as SciPy reads a tuple
        (np.array([[7, 1], [1, 200]], np.uint64), 2, 0),
        (coo_array((np.array([200, 100], np.uint8), ([0, 0], [0, 0])), shape=(1, 1)), 1, 0),
        ([[1e30, -3e30], [0, 1e30]], 2, -1e30),
    ],
)
def test_all_forms_of_a_matrix_have_its_costs(q: Any, n: int, best: float) -> None:
    problem = islands.qubo(q)
    every = np.array(list(product((0, 1), repeat=n)))
    if isinstance(q, dict):
        entries = [(i, j, value) for (i, j), value in q.items()]
    elif isinstance(q, coo_array):
        entries = [(0, 0, 300)]
    else:
        entries = [(i, j, int(q[i][j])) for i in range(n) for j in range(n)]
    values = [sum(int(v) * x[i] * x[j] for i, j, v in entries) for x in every.tolist()]
    assert problem.program_costs(every, "cpu").tolist() == pytest.approx(values, rel=1e-12)
    assert problem.costs(every).tolist() == pytest.approx(values, rel=1e-12)
    assert min(values) == pytest.approx(best)
