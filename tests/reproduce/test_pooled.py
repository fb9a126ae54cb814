"""Summaries of groups of instances use the runs that have a solution."""

from __future__ import annotations

from math import sqrt
from statistics import stdev

import pytest
from results_for_tests import called, ended

from islands.reproduce.cells import Scaled, TableRow
from islands.reproduce.experiment import Sample
from islands.reproduce.table import average, least, standard_error, total

COSTS = [[90, None, 96], [None, None, None], [80, 70, 60], [None, 99, None]]


def parts(*runs: list[int | None]) -> list[TableRow]:
    problem = called("a", known=100, maximise=True)
    samples = [Sample.of(problem, ended(costs)) for costs in runs]
    return [sample.cells(0.5 + number) for number, sample in enumerate(samples)]


def test_standard_errors_use_the_runs_with_a_solution() -> None:
    # One run, or no run, has no deviation.
    first, third = stdev([10, 4]), stdev([20, 30, 40])
    error = sqrt(first**2 / 2 + third**2 / 3) / 2
    assert standard_error(parts(*COSTS)) == pytest.approx(error)
    assert standard_error(parts(COSTS[0])) == pytest.approx(first / sqrt(2))
    assert standard_error(parts(COSTS[1], COSTS[3])) is None


def test_means_use_the_instances_with_values() -> None:
    found = parts(*COSTS)
    assert average(found, "mean_gap") == pytest.approx((7 + 30 + 1) / 3)
    assert average(found, "deviation") == pytest.approx((stdev([10, 4]) + 10) / 2)
    assert average(found, "seconds") == pytest.approx(2.0)
    assert average(parts(COSTS[1]), "mean_gap") is None
    assert (least(found, "best_gap"), least(parts(COSTS[1]), "best_gap")) == (1.0, None)
    assert [total(found, name) for name in ("runs", "without", "hits")] == [12, 6, 0]


def test_a_mean_with_a_scaled_time_is_scaled() -> None:
    assert isinstance(average([{"seconds": Scaled(2.0)}, {"seconds": 1.0}], "seconds"), Scaled)
    assert not isinstance(average([{"seconds": 2.0}], "seconds"), Scaled)
