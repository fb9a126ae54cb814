from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

import pytest
from results_for_tests import NEAR_BEST_KNOWN, called, ended, filled

from islands.reproduce.cells import Scaled
from islands.reproduce.experiment import Sample
from islands.reproduce.jardim2021 import LiteratureTable
from islands.reproduce.table import SampleTable


def test_statistics_of_a_batch() -> None:
    batch = ended([110, 100, 105, 100], evaluations=50, seconds=8.0)
    sample = Sample.of(called("a", known=100), batch)
    assert sample.gaps == (10.0, 0.0, 5.0, 0.0)
    assert (sample.hits, sample.best_gap, sample.mean_gap) == (2, 0.0, 3.75)
    assert sample.deviation == pytest.approx(stdev([10, 0, 5, 0]))
    assert (sample.mean_evaluations, sample.seconds) == (50, 2.0)


def test_a_best_known_cost_of_0_is_hit_with_gap_0() -> None:
    sample = Sample.of(called("esc16f", known=0), ended([0, 0]))
    assert (sample.hits, sample.mean_gap, sample.deviation) == (2, 0.0, 0.0)


def test_without_a_best_known_value_there_are_no_gaps() -> None:
    sample = Sample.of(called("a", known=None), ended([7]))
    assert (sample.hits, sample.mean_gap, sample.best_gap) == (0, None, None)
    assert sample.deviation is None


def test_a_profit_above_the_best_known_is_a_hit() -> None:
    sample = Sample.of(called("a", known=100, maximise=True), ended([90, None, 101, None]))
    assert (sample.costs, sample.best, sample.without) == ((90, 101), 101, 2)
    assert (sample.hits, sample.best_gap, sample.mean_gap) == (1, -1.0, 4.5)
    assert sample.last_gaps == (10.0, -1.0)
    none = Sample.of(called("a", known=100, maximise=True), ended([None]))
    assert (none.best, none.mean_gap, none.without, none.hits) == (None, None, 1, 0)


@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_a_near_miss_is_not_a_hit(known: float, near: float, maximise: bool) -> None:
    problem = called("a", known, maximise=maximise)
    sample = Sample.of(problem, ended([near, None, known, near]))
    assert (sample.hits, sample.best, sample.best_gap) == (1, known, 0.0)
    assert Sample.of(problem, ended([near])).hits == 0


@pytest.mark.parametrize("costs", [[110], [110, None], [None, 110, None, 100], [110, 105, None]])
def test_deviations_use_the_runs_with_a_solution(costs: list[int | None]) -> None:
    gaps = [cost - 100.0 for cost in costs if cost is not None]
    sample = Sample.of(called("a", known=100), ended(costs))
    assert sample.mean_gap == pytest.approx(fmean(gaps))
    assert sample.deviation == (pytest.approx(stdev(gaps)) if len(gaps) > 1 else None)


def test_ten_runs_by_default() -> None:
    asked: list[int] = []

    def answer(runs: int) -> Any:
        asked.append(runs)
        return ended([1] * runs)

    for runs in (None, 3):
        table = filled(LiteratureTable, answer, runs=runs)
        assert isinstance(table, SampleTable)
        table.sample(called("a", 1))
    assert asked == [10, 3]


def test_times_are_scaled_only_if_generations_were_changed() -> None:
    # 100 of 15000 generations, plus generation 0; a run that ended by another limit is complete.
    sample = Sample.of(called("a", 1), ended([1], generations=100, seconds=2.02))
    for generations, seconds in ((100, 2.02 * 15001 / 101), (None, 2.02)):
        table = filled(LiteratureTable, lambda runs: ended([1]), generations=generations)
        assert isinstance(table, SampleTable)
        assert table.seconds(sample) == pytest.approx(seconds)
        assert isinstance(table.seconds(sample), Scaled) == (generations == 100)
