"""The tests of significance, compared with counting, definitions and published values."""

import math
from itertools import combinations, product

import numpy as np
import pytest

pytest.importorskip("scipy")

import pytest

from islands.statistics import against, friedman, holm, mean_ranks
from islands.studies.bench.gpus_rows import RestartLaw
from islands.studies.papers.xavier2019 import ValuesTable
from islands.studies.significance import mann_whitney, signed_rank

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


def by_all_signs(differences: list[float]) -> float:
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
    p = [by_all_signs(list(losses[:, other] - losses[:, best])) for other in (0, 1, 3, 4)]
    found = against(losses, best)
    assert found[best] is None
    assert [found[other] for other in (0, 1, 3, 4)] == pytest.approx(holm(p))


def test_equal_pairs_are_dropped_and_no_solution_is_worst() -> None:
    losses = np.array([[1.0, 1.0, math.inf]] * 6)
    losses[:, 0] += np.arange(6)
    losses[:, 1] = losses[:, 0]
    none, equal, unsolved = against(losses, 0)
    assert (none, equal) == (None, 1.0)
    # All six differ alike: 2 / 2**6, corrected for two tests.
    assert unsolved == pytest.approx(4 / 64)
    assert against(np.full((3, 2), math.inf), 0) == [None, 1.0]


@pytest.mark.parametrize(
    ("differences", "better"),
    [
        ([-1.0, -2.0, -3.0, -4.0, -5.0], "ours"),
        ([1.0, 2.0, -3.0, 4.0, 5.5, 7.0], "theirs"),
        ([-9.0, 1.0, 2.0, -3.0, 4.0, -20.0, -8.0], "ours"),
        ([1.0, 2.0, -3.0], "neither"),
        ([1.0, -2.0], "ours"),  # half of the sum of the ranks is not an integer
        ([-1.0, 2.0], "theirs"),
    ],
)
def test_p_agrees_with_all_combinations_of_signs(differences: list[float], better: str) -> None:
    found = signed_rank([(100 + each, 100) for each in differences])
    assert found.p == pytest.approx(by_all_signs(differences))
    assert (found.better, found.pairs) == (better, len(differences))


def test_the_papers_values_do_not_differ() -> None:
    # The paper prints 0.68; its table gives 0.71 exactly, and 0.69 by the normal approximation.
    printed = ValuesTable.printed().values()
    found = signed_rank([(each["cuda_value"], each["api_value"]) for each in printed])
    assert found.pairs == 21
    assert round(found.p, 2) == 0.71


def smaller(one: list[float], other: list[float]) -> float:
    """Return the share of pairs whose first value is smaller, ties counted half."""
    wins = sum((a < b) + (a == b) / 2 for a in one for b in other)
    return wins / len(one) / len(other)


def by_all_divisions(one: list[float], other: list[float]) -> float:
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


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [([0] * 3, [1] * 3, 0.1), ([0] * 4, [1] * 4, 2 / 70), ([0] * 5, [0, 0, 1, 1, 1], 1 / 6)],
)
def test_p_is_exact_with_ties(one: list[float], other: list[float], p: float) -> None:
    assert mann_whitney(one, other).p == pytest.approx(p)
    assert mann_whitney(one, other).p == pytest.approx(by_all_divisions(one, other))
    mixed = [3.0, 3.0, 1.0, 7.0, math.inf, 7.0, 3.0]
    assert mann_whitney(mixed, one).p == pytest.approx(by_all_divisions(mixed, one))


def test_ties_count_half_and_infinite_values_are_the_worst() -> None:
    one, other = [1.0, 2.0, 2.0], [2.0, math.inf, math.inf, 3.0]
    assert mann_whitney(one, other).a == pytest.approx(smaller(one, other))
    assert mann_whitney([math.inf] * 3, [math.inf] * 4).p == 1.0


RUNS = 20_000


def searches(start: float, mean: float, shape: tuple[int, ...]) -> np.ndarray:
    return start + np.random.default_rng(7).exponential(mean, shape)


@pytest.mark.parametrize("limit", [np.inf, 6.0, 3.0])
def test_the_parameters_are_found_although_runs_end_at_the_limit(limit: float) -> None:
    times = searches(2.0, 3.0, (RUNS,))
    times[times > limit] = np.inf
    law = RestartLaw.fitted(times.tolist(), limit)
    assert (law.start, law.mean) == pytest.approx((2.0, 3.0), rel=0.05)
    assert law.distance(times.tolist()) < 0.02


def test_the_estimates_of_few_runs_have_no_bias() -> None:
    laws = [RestartLaw.fitted(row.tolist(), np.inf) for row in searches(20.0, 3.0, (RUNS, 5))]
    assert np.mean([law.start for law in laws if law]) == pytest.approx(20, rel=0.01)
    assert np.mean([law.mean for law in laws if law]) == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize("ranks", [1, 2, 4, 16])
def test_the_gain_is_that_of_the_first_of_several_searches(ranks: int) -> None:
    one, first = searches(2.0, 6.0, (RUNS, 1)), searches(2.0, 6.0, (RUNS, ranks)).min(axis=1)
    assert RestartLaw(2.0, 6.0).gain(ranks) == pytest.approx(one.mean() / first.mean(), rel=0.03)


def test_one_arrival_has_no_law() -> None:
    assert RestartLaw.fitted([3.0, np.inf, np.inf], 9.0) is None
    assert RestartLaw.fitted([], 9.0) is None


def test_equal_times_gain_nothing() -> None:
    law = RestartLaw.fitted([4.0, 4.0], 9.0)
    assert law == RestartLaw(4.0, 0.0)
    assert law.gain(8) == 1
    assert law.distance([4.0, 4.0]) == 1
