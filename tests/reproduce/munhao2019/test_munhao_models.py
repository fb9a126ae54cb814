from __future__ import annotations

from math import sqrt
from statistics import stdev
from types import SimpleNamespace
from typing import Any

import pytest
from batches_for_tests import called, ended, filled

from islands.problems.base import Problem
from islands.reproduce.cells import TableRow
from islands.reproduce.experiment import Experiment
from islands.reproduce.munhao2019 import facts
from islands.reproduce.munhao2019.comparison import ComparisonTable
from islands.reproduce.munhao2019.figures import MODELS, RUNS, gk, sac94
from islands.reproduce.munhao2019.models import GkTable, Sac94Table
from islands.reproduce.table import PaperTable

SENTO = ("sac94/sento1", "sac94/sento2")


def known(name: str) -> Any:
    return called(name, known=1000, maximise=True)


def rows(table: PaperTable, *names: str) -> list[TableRow]:
    return [row for name in names for row in table.rows(known(name))]


def test_a_group_is_summarised_after_its_last_instance() -> None:
    costs = {"munhao2019-m1": [[990, 1000], [980, 970]], "munhao2019-m2": [[None, 950], [990, 960]]}
    asked: list[str] = []

    def answer(runs: int, preset: str) -> Any:
        asked.append(preset)
        return ended(costs[preset][asked.count(preset) - 1], generations=600, seconds=2e-3 * runs)

    table = filled(Sac94Table, answer, runs=2, here=SENTO)
    assert rows(table, SENTO[0]) == []
    m1, m2 = rows(table, SENTO[1])
    assert {*m1} <= {column.name for column in table.columns()}
    assert (m1["group"], m1["model"], m1["best"], m1["mean"]) == ("sento 30 x 60", "m1", 0.0, 1.5)
    assert m1["deviation"] == pytest.approx((stdev([1, 0]) + stdev([2, 3])) / 2)
    # From the variance of the runs: each of the two instances has two runs.
    assert m1["error"] == pytest.approx(sqrt(0.5 / 2 + 0.5 / 2) / 2)
    assert (m1["hits"], m1["paper_hits"], m1["without"], m1["runs"]) == (1, 0, 0, 4)
    assert (m2["hits"], m2["without"], m2["runs"]) == (0, 1, 4)
    assert m2["mean"] == pytest.approx((5 + 2.5) / 2)
    printed = sac94()["sento 30 x 60"].printed["m1"]
    assert m1["paper_error"] == pytest.approx(printed.deviation / sqrt(2 * RUNS))
    assert m1["milliseconds"] == pytest.approx(2.0)
    assert m1["ratio"] == pytest.approx(564.4665 / 2)
    columns, parts = table.parts()
    assert [part["best"] for part in parts] == [1000, 950, 980, 990]
    assert all({*part} == {column.name for column in columns} for part in parts)
    (fact,) = [fact for fact in table.facts([m1, m2]) if fact.name == "without"]
    assert fact.sentence == "1 of 8 runs found no feasible solution: sac94/sento1 m2 (1)"


def test_the_cpu_is_timed_once_per_group_and_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def run(_: Experiment, problem: Problem, seed: int = 1, **options: Any) -> Any:
        asked.append((problem.instance, options["preset"], options["backend"], options["threads"]))
        return SimpleNamespace(seconds=0.5, generations=600)

    monkeypatch.setattr(Experiment, "run", run)
    costs = ended([990] * 2, generations=600, seconds=0.02)
    table = filled(Sac94Table, lambda runs, preset: costs, runs=2, here=SENTO, threads=(1, 4))
    m1, m2 = rows(table, *SENTO)
    both = [*MODELS.values()]
    assert asked == [(SENTO[0], preset, "cpu", each) for preset in both for each in (1, 4)]
    # Our runs take 10 ms each.
    assert (m1["cpu_1_seconds"], m1["speedup_cpu_4"]) == (0.5, pytest.approx(50))
    assert (m1["paper_speedup"], m2["paper_speedup"]) == (3.96, 7.53)
    names = [column.name for column in table.columns()]
    assert {*m1} <= {*names}
    assert "paper_speedup" in [column.name for column in table.columns() if column.title]
    found = {fact.name: fact for fact in table.facts([m1, m2])}
    assert found["speedup_m2_cpu_1"].value == pytest.approx(50)
    assert found["paper_speedup_m1"].sentence == (
        "m1: our CPU with 1 thread takes 50.0 times as long as ours; our CPU with 4 threads takes"
        " 50.0 times as long as ours; speed-up of these rows in 2019 3.96 on average, printed of"
        " all sets 4.15"
    )


def test_a_group_with_one_selected_instance() -> None:
    table = filled(Sac94Table, lambda runs, preset: ended([1000] * runs), here=SENTO[:1])
    m1, m2 = rows(table, SENTO[0])
    assert (m1["runs"], m2["hits"]) == (RUNS, RUNS)


def test_gaps_of_large_instances_use_the_papers_reference_values() -> None:
    table = filled(GkTable, lambda runs, preset: ended([3698] * runs), here=("gk/gk01",))
    m1, _ = rows(table, "gk/gk01")
    assert gk()["gk01"].reference == 3766
    # Our profit equals the paper's best.
    assert m1["best"] == pytest.approx(m1["paper_best"], abs=1e-5)
    assert m1["wanted"] == 100
    table = filled(GkTable, lambda runs, preset: ended([95231] * runs), here=("gk/gk11",))
    assert rows(table, "gk/gk11")[0]["wanted"] == 500


def row(**cells: Any) -> TableRow:
    usual = {"group": "a", "model": "m1", "mean": 5.0, "paper_mean": 5.0, "error": 0.03}
    usual |= {"paper_error": 0.04, "best": 1.0, "paper_best": 1.0, "hits": 0, "runs": 30}
    return {**usual, "ratio": 100.0, "wanted": 100, **cells}


def test_means_within_two_standard_errors_are_as_good() -> None:
    # The standard error of the difference is 0.05.
    means = [4.9, 5.0, 5.09, 5.11]
    found = {fact.name: fact for fact in facts.mean_facts("m1", [row(mean=mean) for mean in means])}
    assert (found["at_most_the_printed_m1"].value, found["as_good_m1"].value) == (2, 3)


def test_best_gaps_hits_and_ratios_are_counted() -> None:
    some = [
        row(hits=2, paper_hits=0, ratio=700.0, group="b"),
        row(best=1.1, hits=0, paper_hits=4, ratio=300.0, wanted=500, group="gk11"),
        row(best=0.5, hits=1, paper_hits=1),
    ]
    assert facts.best_fact("m1", some).value == 2
    hits = {fact.name: fact for fact in facts.hit_facts("m1", some)}
    assert (hits["hits_m1"].value, hits["paper_hits_m1"].value, hits["rows_hit_m1"].value) == (
        3,
        5,
        2,
    )
    ratios = {fact.name: fact for fact in facts.ratio_facts(some)}
    assert ratios["as_fast_as_wanted"].value == 2
    assert ratios["least_ratio"].sentence == (
        "the paper's milliseconds over ours: from 100 (a m1) to 700 (b m1); the target, 100 or 500,"
        " is reached on 2 of 3 rows"
    )


def test_best_gaps_are_compared_with_both_papers() -> None:
    answers = {"munhao2019-m1": [993, 990], "munhao2019-m2": [1000, 900]}
    table = filled(ComparisonTable, lambda runs, preset: ended(answers[preset]))
    some = rows(table, "sac94/sento1", "sac94/weing1")
    assert {*some[0]} == {column.name for column in table.columns()}
    assert (some[0]["m1_gap"], some[0]["m1_paper_gap"]) == (pytest.approx(0.7), 0.681935)
    assert (some[0]["m2_gap"], some[0]["hembecker_gap"]) == (0.0, 0.605)
    found = {fact.name: fact.value for fact in table.facts(some)}
    assert (found["as_good_as_printed_m1"], found["as_good_as_hembecker_m1"]) == (0, 1)
    assert (found["as_good_as_printed_m2"], found["as_good_as_hembecker_m2"]) == (2, 2)
