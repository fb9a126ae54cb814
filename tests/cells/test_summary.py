"""Summaries of runs and rankings of configurations, compared with NumPy and results by hand."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from results_for_tests import NEAR_BEST_KNOWN, SECONDS, called, result, summary

from islands.cells import METRICS
from islands.cells.configurations import Configuration
from islands.cells.ranking import Ranking
from islands.cells.series import Series
from islands.cells.summary import Summary
from islands.cells.tuning import TaskResult
from islands.errors import RunError
from islands.problems.base import Problem
from islands.problems.scale import Scale

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


pytest.importorskip("scipy")


CONFIGURATIONS = [Configuration(0, {}), Configuration(1, {"a": 1}), Configuration(2, {"a": 2})]
PROBLEMS: dict[str, Problem] = {"one": called("one", 100), "two": called("two", None)}


def ends(
    costs: Sequence[float | None], evaluations: Sequence[int], reached: Sequence[bool]
) -> TaskResult:
    place = {"instance": "one", "configuration": 0, "values": {}, "backend": "cpu", "device": "CPU"}
    times = {"generations": 5.0, "seconds": 0.5, "elapsed": 1.0}
    return TaskResult(costs=costs, evaluations=evaluations, reached=reached, **place, **times)


def cell(*costs: float | None) -> TaskResult:
    return ends(costs, (10, 30, 20)[: len(costs)], (True, False, True)[: len(costs)])


_COSTS = {"one": [(110, 120), (105, 100), (105, None)], "two": [(60, 50), (40, 80), (44, 60)]}
CELLS = {(k, name): cell(*pair) for name, rows in _COSTS.items() for k, pair in enumerate(rows)}


@pytest.mark.slow
def test_ranking_by_hand() -> None:
    ranking = Ranking.of(CONFIGURATIONS, PROBLEMS, CELLS, "gap")
    by_number = {each.configuration: each for each in ranking.ranked}
    assert ranking.blocks == 4
    assert ranking.unknown == ("two",)
    # Blocks: one 110 105 105, one 120 100 -, two 60 40 44, two 50 80 60.
    assert by_number[0].mean_rank == pytest.approx((3 + 2 + 3 + 1) / 4)
    assert by_number[1].mean_rank == pytest.approx((1.5 + 1 + 1 + 3) / 4)
    assert by_number[2].mean_rank == pytest.approx((1.5 + 3 + 2 + 2) / 4)
    assert [each.configuration for each in ranking.ranked] == [1, 2, 0]
    # The best cost of any run on `two` is 40.
    assert by_number[0].loss == pytest.approx((15 + (50 + 25) / 2) / 2)
    assert by_number[1].loss == pytest.approx((2.5 + 50) / 2)
    assert by_number[2].loss == pytest.approx((5 + (10 + 50) / 2) / 2)
    assert by_number[1].standard_deviation == pytest.approx((stdev([5, 0]) + stdev([0, 100])) / 2)
    assert by_number[2].standard_deviation == pytest.approx(stdev([10, 50]))
    assert [by_number[number].hits for number in range(3)] == [0, 1, 0]
    assert [by_number[number].void for number in range(3)] == [0, 0, 1]
    assert (by_number[0].evaluations, by_number[0].seconds) == (20, 0.5)
    assert by_number[1].p is None
    assert ranking.friedman is not None


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_runs_without_a_solution_are_worst_by_every_metric(metric: str, *, maximise: bool) -> None:
    problem = called("one", 100, maximise=maximise)
    good, bad = (100, 1) if maximise else (100, 10**6)
    nothing: tuple[float | None, ...] = (None,) * 6
    # With evaluations only the target counts, not the cost.
    costs = (good,) * 6 if metric == "evaluations" else nothing
    found = [
        ends(costs, (1,) * 6, (False,) * 6),
        ends((bad,) * 6, (10**6,) * 6, (True,) * 6),
        ends((good,) * 6, (10,) * 6, (True,) * 6),
    ]
    cells = {(number, "one"): cell for number, cell in enumerate(found)}
    ranking = Ranking.of(CONFIGURATIONS, {"one": problem}, cells, metric)
    assert [each.configuration for each in ranking.ranked] == [2, 1, 0]
    assert [each.mean_rank for each in ranking.ranked] == [1, 2, 3]
    assert [each.void for each in ranking.ranked] == [0, 0, 6]
    last = ranking.ranked[-1]
    assert (last.loss, last.standard_deviation) == (None, None)
    # All six differ alike: 2 / 2**6, corrected for two tests.
    assert [each.p for each in ranking.ranked] == [None, *[pytest.approx(4 / 64)] * 2]
    # Two without any solution share the last rank; one with some solutions ranks before them.
    sometimes = replace(found[1], costs=(None, *[bad] * 5), reached=(False, *[True] * 5))
    cells = {(0, "one"): found[0], (1, "one"): found[0], (2, "one"): sometimes}
    ranking = Ranking.of(CONFIGURATIONS, {"one": problem}, cells, metric)
    assert [each.configuration for each in ranking.ranked] == [2, 0, 1]
    ranks = [each.mean_rank for each in ranking.ranked]
    assert ranks == pytest.approx([(2 + 5 * 1) / 6, *[(2 + 5 * 2.5) / 6] * 2])
