"""Quadratic binary problems compared with brute force and with the matrix."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array

import islands


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
