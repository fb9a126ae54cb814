"""The default search of vectors follows rotated valleys, where the one before it stood still."""

from __future__ import annotations

import numpy as np
import pytest

import islands

N = 10
COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double y = 0;
        for (int j = 0; j < n; ++j) y += data.turn[i * n + j] * (s[j] - data.shift[j]);
        sum += data.weight[i] * y * y;
    }
    return sum;
}"""


@pytest.mark.slow
def test_a_rotated_ellipsoid_is_solved() -> None:
    random = np.random.default_rng(1)
    turn, _ = np.linalg.qr(random.standard_normal((N, N)))
    shift, weight = random.uniform(-4, 4, N), 10.0 ** (6 * np.arange(N) / (N - 1))
    data = {"turn": turn, "shift": shift, "weight": weight}
    few = {"evaluations": 400_000, "islands": 2, "seed": 1, "backend": "cpu"}
    found = islands.solve(islands.real(-5, 5, N, cost=COST, data=data), **few)
    assert found.cost is not None
    assert found.cost < 1e-10
    assert np.abs(found.solution - shift).max() < 1e-5
