"""The law of restarts against simulated searches."""

from __future__ import annotations

import numpy as np
import pytest

from islands.statistics import RestartLaw

RUNS = 20_000


def searches(start: float, mean: float, shape: tuple[int, ...]) -> np.ndarray:
    return start + np.random.default_rng(7).exponential(mean, shape)


@pytest.mark.parametrize("limit", [np.inf, 6.0, 3.0])
def test_the_parameters_are_found_although_runs_end_at_the_limit(limit: float) -> None:
    times = searches(2.0, 3.0, (RUNS,))
    times[times > limit] = np.inf
    law = RestartLaw.fitted(times.tolist(), limit)
    assert law is not None
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


def test_a_start_below_zero_is_zero() -> None:
    law = RestartLaw.fitted([1.0, 11.0, np.inf], 12.0)
    assert law == RestartLaw(0.0, (1 + 11 + 12) / 2)


def test_other_times_are_far_from_the_law() -> None:
    times = [*np.linspace(1.0, 1.1, 50), *np.linspace(9.0, 9.1, 50)]
    law = RestartLaw.fitted(times, 10.0)
    assert law is not None
    assert law.distance(times) > 0.25


def test_one_arrival_has_no_law() -> None:
    assert RestartLaw.fitted([3.0, np.inf, np.inf], 9.0) is None
    assert RestartLaw.fitted([], 9.0) is None


def test_equal_times_gain_nothing() -> None:
    law = RestartLaw.fitted([4.0, 4.0], 9.0)
    assert law == RestartLaw(4.0, 0.0)
    assert law.gain(8) == 1
    assert law.distance([4.0, 4.0]) == 1
