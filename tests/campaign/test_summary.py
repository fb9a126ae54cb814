"""The summary of an instance agrees with NumPy; its table is aligned, also without solutions."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from results_for_tests import NEAR_BEST_KNOWN, SECONDS, result, summary

from islands.campaign.series import Series
from islands.campaign.summary import Summary, table
from islands.errors import RunError
from islands.problems.scale import Scale
from islands.run import request as request

COSTS = (210, 200, 240, 200, 260)


def test_the_summary_agrees_with_numpy() -> None:
    found = summary(*COSTS)
    assert (found.runs, found.best, found.worst, found.best_known) == (5, 200, 260, 200)
    assert found.mean == pytest.approx(np.mean(COSTS))
    assert found.standard_deviation == pytest.approx(np.std(COSTS, ddof=1))
    assert found.gap_best == 0
    assert found.gap_mean == pytest.approx(np.mean(100 * (np.array(COSTS) / 200 - 1)))
    assert (found.hits, found.hit_seconds) == (2, pytest.approx((2 + 8) / 2))
    assert found.seconds == pytest.approx(np.mean(SECONDS))
    assert found.evaluations == pytest.approx(np.mean(COSTS))


def test_the_best_profit_is_the_largest() -> None:
    found = summary(*COSTS, known=250, maximise=True)
    assert (found.best, found.worst) == (260, 200)
    # A value better than the best-known one also counts as a hit.
    assert (found.hits, found.hit_seconds, found.gap_best) == (1, 16.0, pytest.approx(-4))


@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_a_nearly_equal_cost_is_not_a_hit(known: float, near: float, maximise: bool) -> None:
    # The gap may be too small to differ from zero.
    costs = [(near, 0.0, 4.0), (known, 0.0, 1.0), (near, 0.0, 9.0)]
    runs = [result(cost=c, gap=g, best_known=known, seconds=s) for c, g, s in costs]
    found = Summary.of(runs, Scale(maximise=maximise))
    assert (found.hits, found.hit_seconds, found.best, found.worst) == (1, 1.0, known, near)
    missed = Summary.of(runs[:1], Scale(maximise=maximise))
    assert (missed.hits, missed.hit_seconds) == (0, None)


@pytest.mark.parametrize("without_solution", [0, 5])
@pytest.mark.parametrize("solved", [1, 4])
def test_runs_without_a_solution_do_not_affect_costs(without_solution: int, solved: int) -> None:
    costs = COSTS[:solved]
    runs = [result(cost=None, gap=None, best_known=200)] * without_solution
    runs += [result(cost=cost, gap=2.0 * cost, best_known=200) for cost in costs]
    found = Summary.of(runs, Scale(maximise=False))
    assert (found.runs, found.without_solution) == (solved + without_solution, without_solution)
    assert (found.best, found.worst) == (min(costs), max(costs))
    assert (found.mean, found.gap_mean) == pytest.approx((np.mean(costs), 2 * np.mean(costs)))
    deviation = np.std(costs, ddof=1) if solved > 1 else None
    assert found.standard_deviation == pytest.approx(deviation)


def test_the_bound_is_the_largest_of_all_runs() -> None:
    facts = [(210, 180), (200, 190), (260, None)]
    runs = [result(cost=cost, bound=bound, bound_kind="1-tree") for cost, bound in facts]
    found = Summary.of(runs, Scale(maximise=False))
    assert found.bound == 190
    assert found.bound_gap == pytest.approx(100 * (200 - 190) / 190)
    assert "lower bound 190" in table([found])


def test_unknown_values_are_none() -> None:
    found = summary(210, known=None)
    assert (found.hits, found.gap_best, found.gap_mean, found.hit_seconds) == (None,) * 4
    assert found.standard_deviation is None
    assert summary(210).hits == 0


def test_a_mean_gap_requires_all_gaps() -> None:
    runs = [result(cost=cost, gap=gap, best_known=0) for cost, gap in ((0, 0.0), (3, None))]
    found = Summary.of(runs, Scale(maximise=False))
    assert (found.gap_best, found.gap_mean, found.hits) == (0.0, None, 1)


@pytest.mark.parametrize("without_solution", [0, 1, 2])
def test_a_series_without_any_solution_is_an_error(without_solution: int) -> None:
    costs = [None] * without_solution + [200] * (2 - without_solution)
    runs = [result(cost=cost, gap=None, solution=None) for cost in costs]
    both = [summary(210), Summary.of(runs, Scale(maximise=True))]
    series = Series(Path("a"), 1, runs, both, interrupted=False, suspended=False)
    for cut_short in ({"interrupted": True}, {"suspended": True}):
        replace(series, **cut_short).require_solutions("Fix {}".format)
    with pytest.raises(RunError, match="Fix tsp") if without_solution == 2 else nullcontext():
        series.require_solutions("Fix {}".format)
