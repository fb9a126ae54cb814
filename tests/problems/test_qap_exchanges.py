"""What matrices say about exchanges, compared with all assignments and all exchanges."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from problems_for_tests import facilities

from islands.problems.qap_exchanges import Exchanges, mean_change


@pytest.mark.parametrize("linear", [0, 5000])
@pytest.mark.parametrize("symmetric", ["both", "a", "b", "neither"])
def test_changes_are_differences_of_costs(symmetric: str, linear: int) -> None:
    problem = facilities(9, symmetric=symmetric, diagonal=True, linear=linear)
    draw = np.random.default_rng(3)
    orders = np.array([draw.permutation(9) for _ in range(40)])
    u, v = np.array([draw.choice(9, 2, replace=False) for _ in range(40)]).T
    after = orders.copy()
    rows = np.arange(40)
    after[rows, u], after[rows, v] = orders[rows, v], orders[rows, u]
    expected = problem.costs(after) - problem.costs(orders)
    a, b, extra = problem.file.a, problem.file.b, problem.file.linear
    found = Exchanges.of(orders, u, v).changes(a, b, extra)
    assert found.tolist() == expected.tolist()


def test_the_mean_change_is_that_of_all_exchanges_of_all_assignments() -> None:
    problem = facilities(5, symmetric="neither", diagonal=True)
    orders = np.array(list(permutations(range(5))))
    total = count = 0
    for u, v in combinations(range(5), 2):
        after = orders.copy()
        after[:, [u, v]] = after[:, [v, u]]
        total += int(np.abs(problem.costs(after) - problem.costs(orders)).sum())
        count += len(orders)
    assert mean_change(problem.file.a, problem.file.b) == pytest.approx(total / count, rel=0.03)
