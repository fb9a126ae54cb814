"""The rank tests, compared with their definitions and with published values."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

pytest.importorskip("scipy")

from islands.statistics.ranks import against, friedman, holm, mean_ranks

LOSSES = np.random.default_rng(5).integers(0, 6, (7, 4)).astype(float)


def ranks(row: list[float]) -> list[float]:
    """Return the ranks by counting, 1 the least."""
    return [1 + sum(o < v for o in row) + (sum(o == v for o in row) - 1) / 2 for v in row]


def test_ties_share_their_mean_rank() -> None:
    expected = np.mean([ranks(list(row)) for row in LOSSES], axis=0)
    assert mean_ranks(LOSSES) == pytest.approx(list(expected))
    assert mean_ranks(np.array([[3.0, math.inf, math.inf]])) == [1.0, 2.5, 2.5]


def test_friedman_equals_its_formula() -> None:
    # Four blocks agree perfectly on three: chi squared is 4 * (3 - 1), with two degrees of freedom.
    losses = np.tile([1.0, 2.0, 3.0], (4, 1))
    assert friedman(losses) == pytest.approx(math.exp(-8 / 2))
    assert friedman(np.ones((5, 3))) == 1.0
    assert friedman(LOSSES[:, :2]) is None


def test_holm_equals_values_computed_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def exact(differences: list[float]) -> float:
    """Return Wilcoxon's two-sided p-value from all combinations of signs."""
    sizes = ranks([abs(d) for d in differences])
    pairs = list(zip(sizes, differences, strict=True))
    seen = sum(r for r, d in pairs if d > 0)
    half = sum(sizes) / 2
    sums = [
        sum(r for r, s in zip(sizes, s, strict=True) if s)
        for s in product((0, 1), repeat=len(sizes))
    ]
    return sum(abs(each - half) >= abs(seen - half) for each in sums) / len(sums)


def test_wilcoxon_against_the_best_with_all_combinations_of_signs() -> None:
    losses = np.random.default_rng(2).permutation(40).reshape(8, 5).astype(float) ** 2
    best = 2
    p = [exact(list(losses[:, other] - losses[:, best])) for other in (0, 1, 3, 4)]
    found = against(losses, best)
    assert found[best] is None
    assert [found[other] for other in (0, 1, 3, 4)] == pytest.approx(holm(p))


def test_no_solution_is_worse_than_any_difference_between_solutions() -> None:
    best = np.array([100.0, 1, 2, 3, 70, 5, 6])
    other = np.array([math.inf, 0.5, 1.4, 52, 3.7, 99, math.inf])
    losses = np.array([best, other]).T
    infinite = np.where(np.isfinite(other), other - best, 1e9 - best)
    assert against(losses, 0)[1] == pytest.approx(exact(list(infinite)))
    # If it were the smallest or in between, the p-value would differ.
    for wrong in (-1e9, 1, 30):
        assert exact(list(np.where(np.isfinite(other), other - best, wrong))) != pytest.approx(
            exact(list(infinite))
        )


def test_equal_pairs_are_dropped_and_no_solution_is_worst() -> None:
    losses = np.array([[1.0, 1.0, math.inf]] * 6)
    losses[:, 0] += np.arange(6)
    losses[:, 1] = losses[:, 0]
    none, equal, unsolved = against(losses, 0)
    assert (none, equal) == (None, 1.0)
    # All six differ alike: 2 / 2**6, corrected for two tests.
    assert unsolved == pytest.approx(4 / 64)
    assert against(np.full((3, 2), math.inf), 0) == [None, 1.0]
