"""The test of Mann and Whitney, and its effect size, compared with counting."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("scipy")

from islands.statistics.effects import mann_whitney


def smaller(one: list[float], other: list[float]) -> float:
    """Return the share of pairs whose first value is smaller, ties counted half."""
    wins = sum((a < b) + (a == b) / 2 for a in one for b in other)
    return wins / len(one) / len(other)


def exact(one: list[float], other: list[float]) -> float:
    """Return the two-sided p-value from all ways to divide the values into two samples."""
    values = [*one, *other]
    seen = abs(smaller(one, other) - 0.5)
    ways = list(combinations(range(len(values)), len(one)))
    extreme = 0
    for way in ways:
        first = [values[i] for i in way]
        second = [values[i] for i in range(len(values)) if i not in way]
        extreme += abs(smaller(first, second) - 0.5) >= seen - 1e-12
    return extreme / len(ways)


@pytest.mark.parametrize("seed", range(4))
def test_all_divisions_give_the_same_p(seed: int) -> None:
    values = np.random.default_rng(seed).permutation(11).astype(float)
    one, other = list(values[:5]), list(values[5:])
    found = mann_whitney(one, other)
    assert found.p == pytest.approx(exact(one, other))
    assert found.a == pytest.approx(smaller(one, other))


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [([0] * 3, [1] * 3, 0.1), ([0] * 4, [1] * 4, 2 / 70), ([0] * 5, [0, 0, 1, 1, 1], 1 / 6)],
)
def test_p_is_exact_with_ties(one: list[float], other: list[float], p: float) -> None:
    assert mann_whitney(one, other).p == pytest.approx(p)
    assert mann_whitney(one, other).p == pytest.approx(exact(one, other))
    mixed = [3.0, 3.0, 1.0, 7.0, math.inf, 7.0, 3.0]
    assert mann_whitney(mixed, one).p == pytest.approx(exact(mixed, one))


def test_ties_count_half_and_infinite_values_are_the_worst() -> None:
    one, other = [1.0, 2.0, 2.0], [2.0, math.inf, math.inf, 3.0]
    assert mann_whitney(one, other).a == pytest.approx(smaller(one, other))
    assert mann_whitney([math.inf] * 3, [math.inf] * 4).p == 1.0


@pytest.mark.parametrize(
    ("one", "other", "size"),
    [
        ([1, 2, 3], [1, 2, 3], "negligible"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 9], "negligible"),
        ([1, 2, 3], [10, 11, 12], "large"),
        ([10, 11, 12], [1, 2, 3], "large"),
        ([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], "small"),
        ([0, 0, 0, 0, 1], [0, 0, 1, 1, 1], "medium"),
    ],
)
def test_sizes_in_words(one: list[float], other: list[float], size: str) -> None:
    assert mann_whitney(one, other).size == size
