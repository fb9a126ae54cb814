"""Samples of runs: their instances, statistics, tests, and times."""

from math import sqrt
from pathlib import Path
from statistics import stdev

import pytest
from instance_texts import tsplib_text
from results_for_tests import NEAR_BEST_KNOWN, called, ended, filled
from synthetic import uniform_tsp

from islands.errors import InputError
from islands.instances.catalogue import catalogue
from islands.problems import load
from islands.studies.papers.cells import Scaled, TableRow
from islands.studies.papers.experiment import RunResult, Sample
from islands.studies.papers.jardim2021 import LiteratureTable
from islands.studies.papers.orlib import KINDS, ProblemKind, all_names, first_names, kind
from islands.studies.papers.rows import average, least, standard_error, total
from islands.studies.papers.selection import select
from islands.studies.papers.table import PaperTable
from islands.studies.papers.xavier2019 import ValuesTable, VlsiTable


def test_statistics_of_a_batch() -> None:
    batch = ended([110, 100, 105, 100], evaluations=50, seconds=8.0)
    sample = Sample.of(called("a", known=100), batch)
    assert sample.gaps == [10.0, 0.0, 5.0, 0.0]
    assert (sample.hits, sample.best_gap, sample.mean_gap) == (2, 0.0, 3.75)
    assert sample.deviation == pytest.approx(stdev([10, 0, 5, 0]))
    assert (sample.mean_evaluations, sample.seconds) == (50, 2.0)


def test_a_profit_above_the_best_known_is_a_hit() -> None:
    sample = Sample.of(called("a", known=100, maximise=True), ended([90, None, 101, None]))
    assert (sample.costs, sample.best, sample.without) == ([90, 101], 101, 2)
    assert (sample.hits, sample.best_gap, sample.mean_gap) == (1, -1.0, 4.5)
    assert sample.last_gaps == [10.0, -1.0]
    none = Sample.of(called("a", known=100, maximise=True), ended([None]))
    assert (none.best, none.mean_gap, none.without, none.hits) == (None, None, 1, 0)


@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_a_near_miss_is_not_a_hit(known: float, near: float, maximise: bool) -> None:
    problem = called("a", known, maximise=maximise)
    sample = Sample.of(problem, ended([near, None, known, near]))
    assert (sample.hits, sample.best, sample.best_gap) == (1, known, 0.0)
    assert Sample.of(problem, ended([near])).hits == 0


def test_times_are_scaled_only_if_generations_were_changed() -> None:
    # 100 of 15000 generations, plus generation 0; a run that ended by another limit is complete.
    sample = Sample.of(called("a", 1), ended([1], generations=100, seconds=2.02))
    for generations, seconds in ((100, 2.02 * 15001 / 101), (None, 2.02)):
        table = filled(LiteratureTable, lambda runs: ended([1]), generations=generations)
        assert table.seconds(sample) == pytest.approx(seconds)
        assert isinstance(table.seconds(sample), Scaled) == (generations == 100)


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


pytest.importorskip("scipy")


def took(seconds: float, generations: int = 1000) -> RunResult:
    return RunResult(1, seconds, generations)


@pytest.fixture
def table() -> PaperTable:
    return filled(ValuesTable, lambda runs: ended([1]))


def test_a_shorter_run_is_scaled_by_its_generations(table: PaperTable) -> None:
    assert table.paper_seconds(took(3.5)) == 3.5
    assert not isinstance(table.paper_seconds(took(3.5)), Scaled)
    # 91 of the paper's 1001 generations are computed, including generation 0.
    seconds = table.paper_seconds(took(9.1, 90))
    assert isinstance(seconds, Scaled)
    assert seconds == pytest.approx(100.1)


def test_the_median_of_several_runs_counts(table: PaperTable) -> None:
    three, four = [took(3), took(1), took(2)], [took(4), took(3), took(1), took(2)]
    assert table.median_run(three).seconds == 2
    assert table.median_run(four).seconds == 2


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files with names of the catalogue, and one with another name."""
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path))
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for name in ("national/zi929", "vlsi/xqf131", "vlsi/own5"):
        path = tmp_path / f"{name}.tsp"
        path.parent.mkdir(exist_ok=True)
        path.write_text(tsplib_text(uniform_tsp(5, seed=1)), encoding="utf-8")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("tables", "only", "names"),
    [
        ([ValuesTable, VlsiTable], ["zi929", "vlsi/xqf131"], [["national/zi929"], ["vlsi/xqf131"]]),
        ([VlsiTable], ["own?", "*i/xqf1*1"], [["vlsi/xqf131", "vlsi/own5"]]),
        ([ValuesTable, VlsiTable], ["own5"], [["vlsi/own5"]]),  # others are skipped
    ],
)
def test_instances_are_selected_by_names_and_patterns(
    tables: list[type[PaperTable]], only: list[str], names: list[list[str]]
) -> None:
    assert [[found.name for found in each.available] for each in select(tables, only)] == names


@pytest.mark.usefixtures("here")
def test_missing_instances_are_reported_at_once() -> None:
    for only, count in (([], 20), (["lu980", "zi929"], 1)):
        with pytest.raises(InputError, match=rf"needs {count} missing .*lu980"):
            select([ValuesTable], only)


def test_the_kinds_cover_the_set() -> None:
    assert sorted(all_names()) == sorted(
        entry.full_name for entry in catalogue().set("orlib").entries.values()
    )
    assert first_names()[:4] == [
        *("orlib/mknapcb1-00", "orlib/mknapcb1-10", "orlib/mknapcb1-20", "orlib/mknapcb2-00")
    ]
    for name in all_names():
        entry = catalogue().entry(*name.split("/"))
        assert (kind(name).m, kind(name).n) == (entry.constraints, entry.size)
        assert name in kind(name).instances()
    assert (len(KINDS), KINDS[-1].name) == (27, "30 x 500, 0.75")


@pytest.mark.published
@pytest.mark.parametrize(
    "of", [ProblemKind(5, 100, "0.25"), ProblemKind(10, 250, "0.50"), ProblemKind(30, 100, "0.75")]
)
def test_capacities_have_the_stated_tightness(published: Path, of: ProblemKind) -> None:
    problem = load(of.instances()[-1])
    shares = problem.file.capacities / problem.file.weights.sum(axis=1)
    assert shares == pytest.approx(float(of.tightness), abs=1e-3)
