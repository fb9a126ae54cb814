"""A cost in CUDA may call exact functions, with operators that use them as well."""

from __future__ import annotations

import numpy as np
import pytest

import islands

COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += exact::exp(s[i]) * exact::sin(s[i]);
    return sum;
}
"""


@pytest.mark.parametrize("mutation", ["polynomial", "gaussian"])
def test_a_cost_and_a_mutation_share_exact_functions(mutation: str) -> None:
    problem = islands.real(
        -3, 3, 4, cost=COST, reference=lambda x: (np.exp(x) * np.sin(x)).sum(axis=1)
    )
    few = {"generations": 20, "islands": 2, "population": 32, "backend": "cpu"}
    result = islands.solve(problem, algorithm="ga", mutation=mutation, **few)
    assert result.cost == pytest.approx(problem.cost(result.solution), rel=1e-9)
