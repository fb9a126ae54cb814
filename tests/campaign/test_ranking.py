"""Rankings of given costs, compared with results by hand."""

from __future__ import annotations

from dataclasses import replace
from statistics import stdev

import pytest

pytest.importorskip("scipy")

from results_for_tests import called

from islands.campaign import METRICS
from islands.campaign.configurations import Configuration
from islands.campaign.ranking import Ranking, table
from islands.campaign.tuning import TaskResult
from islands.problems.base import Problem

CONFIGURATIONS = [Configuration(0, {}), Configuration(1, {"a": 1}), Configuration(2, {"a": 2})]
PROBLEMS: dict[str, Problem] = {"one": called("one", 100), "two": called("two", None)}


def cell(*costs: float | None) -> TaskResult:
    return TaskResult(
        costs, (10, 30, 20)[: len(costs)], (True, False, True)[: len(costs)], 5.0, 0.5
    )


CELLS = {
    (0, "one"): cell(110, 120),
    (1, "one"): cell(105, 100),
    (2, "one"): cell(105, None),
    (0, "two"): cell(60, 50),
    (1, "two"): cell(40, 80),
    (2, "two"): cell(44, 60),
}


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


def test_costs_and_instances_to_be_maximised() -> None:
    problem = called("one", 100)
    problem.maximise = True  # type: ignore[misc]
    cells = {(0, "one"): cell(90, 99), (1, "one"): cell(100, 101)}
    two = CONFIGURATIONS[:2]
    ranking = Ranking.of(two, {"one": problem}, cells, "gap")
    assert [each.configuration for each in ranking.ranked] == [1, 0]
    assert [each.loss for each in ranking.ranked] == pytest.approx([-0.5, 5.5])
    assert [each.hits for each in ranking.ranked] == [2, 0]
    assert ranking.friedman is None
    costs = Ranking.of(two, {"one": problem}, cells, "cost")
    assert [each.loss for each in costs.ranked] == [100.5, 94.5]
    assert [each.mean_rank for each in costs.ranked] == [1, 2]


def test_costs_have_their_sign_only_if_all_instances_are_maximised() -> None:
    problems = {"one": called("one", None, maximise=True), "two": called("two", None)}
    cells = {(0, "one"): cell(90, 98), (0, "two"): cell(60, 50)}
    (mixed,) = Ranking.of(CONFIGURATIONS[:1], problems, cells, "cost").ranked
    # Otherwise smaller is better, so those to be maximised count negatively.
    assert mixed.loss == (-94 + 55) / 2
    problems["two"] = called("two", None, maximise=True)
    (alike,) = Ranking.of(CONFIGURATIONS[:1], problems, cells, "cost").ranked
    assert alike.loss == (94 + 55) / 2


@pytest.mark.parametrize("metric", ["gap", "cost", "evaluations"])
def test_void_runs_do_not_count_in_means_and_deviations(metric: str) -> None:
    runs = {
        "one": TaskResult(
            (110, None, 130, 100), (10, 20, 40, 50), (True, False, True, True), 5.0, 0.5
        ),
        "two": TaskResult(
            (None, 60, None, None), (10, 20, 40, 50), (False, True, False, False), 5.0, 0.5
        ),
    }
    problems = {"one": called("one", 100), "two": called("two", 50)}
    cells = {(0, name): each for name, each in runs.items()}
    (found,) = Ranking.of(CONFIGURATIONS[:1], problems, cells, metric).ranked
    wanted = {
        "gap": ([10, 30, 0], [20]),
        "cost": ([110, 130, 100], [60]),
        "evaluations": ([10, 40, 50], [20]),
    }
    three, one = wanted[metric]
    assert found.loss == pytest.approx((sum(three) / 3 + sum(one)) / 2)
    # A single run has no deviation.
    assert found.standard_deviation == pytest.approx(stdev(three))
    assert (found.void, found.hits) == (4, 1)


def test_with_evaluations_runs_without_the_target_rank_last() -> None:
    cells = {
        (0, "one"): TaskResult((100, 100, 130), (10, 30, 20), (True, True, False), 5.0, 0.5),
        (1, "one"): TaskResult((100, 100, 100), (8, 40, 50), (True, True, True), 5.0, 0.5),
    }
    ranking = Ranking.of(CONFIGURATIONS[:2], {"one": PROBLEMS["one"]}, cells, "evaluations")
    # Ranks: 2 1, 1 2, 2 1.
    assert [each.configuration for each in ranking.ranked] == [1, 0]
    assert [each.mean_rank for each in ranking.ranked] == pytest.approx([4 / 3, 5 / 3])
    assert [each.loss for each in ranking.ranked] == pytest.approx([98 / 3, 20])
    assert [each.void for each in ranking.ranked] == [0, 1]
    assert "of configuration 0" in table(ranking)


@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_runs_without_a_solution_are_worst_by_every_metric(metric: str, *, maximise: bool) -> None:
    problem = called("one", 100, maximise=maximise)
    good, bad = (100, 1) if maximise else (100, 10**6)
    nothing: tuple[float | None, ...] = (None,) * 6
    # With evaluations only the target counts, not the cost.
    costs = (good,) * 6 if metric == "evaluations" else nothing
    ends = {
        0: TaskResult(costs, (1,) * 6, (False,) * 6, 5.0, 0.5),
        1: TaskResult((bad,) * 6, (10**6,) * 6, (True,) * 6, 5.0, 0.5),
        2: TaskResult((good,) * 6, (10,) * 6, (True,) * 6, 5.0, 0.5),
    }
    cells = {(number, "one"): cell for number, cell in ends.items()}
    ranking = Ranking.of(CONFIGURATIONS, {"one": problem}, cells, metric)
    assert [each.configuration for each in ranking.ranked] == [2, 1, 0]
    assert [each.mean_rank for each in ranking.ranked] == [1, 2, 3]
    assert [each.void for each in ranking.ranked] == [0, 0, 6]
    last = ranking.ranked[-1]
    assert (last.loss, last.standard_deviation) == (None, None)
    # All six differ alike: 2 / 2**6, corrected for two tests.
    assert [each.p for each in ranking.ranked] == [None, *[pytest.approx(4 / 64)] * 2]
    # Two without any solution share the last rank; one with some solutions ranks before them.
    sometimes = replace(ends[1], costs=(None, *[bad] * 5), reached=(False, *[True] * 5))
    cells = {(0, "one"): ends[0], (1, "one"): ends[0], (2, "one"): sometimes}
    ranking = Ranking.of(CONFIGURATIONS, {"one": problem}, cells, metric)
    assert [each.configuration for each in ranking.ranked] == [2, 0, 1]
    ranks = [each.mean_rank for each in ranking.ranked]
    assert ranks == pytest.approx([(2 + 5 * 1) / 6, *[(2 + 5 * 2.5) / 6] * 2])
