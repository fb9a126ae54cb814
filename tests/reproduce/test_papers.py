"""The tables of papers: the copied figures, and rows made from given runs."""

from collections import Counter
from itertools import combinations, permutations, product
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from results_for_tests import called, ended, filled
from synthetic import uniform_tsp

from islands.instances.catalogue import BestKnown, Entry, catalogue
from islands.problems import load
from islands.problems.tsp import Tsp
from islands.studies.papers.cells import TableRow
from islands.studies.papers.dantas2014 import ALL, GapsTable
from islands.studies.papers.jardim2021 import (
    IMPLEMENTATIONS,
    ImplementationsTable,
    LiteratureTable,
    LocalSearchesTable,
)
from islands.studies.papers.munhao2019 import MODELS, RUNS, GkTable, OrLibraryTable, Sac94Table
from islands.studies.papers.orlib import ProblemKind
from islands.studies.papers.soca2010 import (
    FACTORS,
    PLAN,
    CalibrationTable,
    PerformanceTable,
    QualityTable,
)
from islands.studies.papers.table import PaperTable
from islands.studies.papers.xavier2019 import ValuesTable, mean_random_tour

implementations, searches = ImplementationsTable.printed, LocalSearchesTable.printed
literature, quality, performance = (
    each.printed for each in (LiteratureTable, QualityTable, PerformanceTable)
)
gk, orlib, sac94 = (each.groups for each in (GkTable, OrLibraryTable, Sac94Table))
SEARCHES = tuple(LocalSearchesTable.printed_gaps)


def entry(name: str) -> Entry:
    found = catalogue().entry(*name.split("/"))
    assert found is not None, name
    return found


def best_known(name: str) -> BestKnown:
    known = entry(name).best_known
    assert known is not None, name
    return known


def test_the_means_agree_with_the_printed_means() -> None:
    figures = ValuesTable.printed().values()
    assert ValuesTable.means == {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
    assert fmean(each["cuda_value"] for each in figures) == pytest.approx(31_840_933.69, abs=0.01)
    assert fmean(each["api_value"] for each in figures) == pytest.approx(32_068_688.19, abs=0.01)
    assert fmean(each["cuda_seconds"] for each in figures) == pytest.approx(169.48, abs=0.01)
    api = {
        threads: fmean(each[f"api_{threads}_seconds"] for each in figures) for threads in (1, 4, 8)
    }
    assert api == pytest.approx({1: 470.05, 4: 213.42, 8: 187.39}, abs=0.01)


def test_every_instance_of_xavier2019_is_in_order_of_size() -> None:
    sizes = [entry(name).size for name in ValuesTable.printed()]
    assert len(sizes) == 21
    assert sizes == sorted(sizes)


def test_the_mean_over_all_tours() -> None:
    tsp = Tsp(uniform_tsp(7, seed=3, side=100))
    lengths = tsp.costs(np.array(list(permutations(range(7)))))
    assert mean_random_tour(tsp) == pytest.approx(lengths.mean(), rel=1e-12)


@pytest.mark.published
@pytest.mark.parametrize(("name", "length"), [("zi929", 2368790), ("mu1979", 5631967)])
def test_published_instances(name: str, length: int, published: Path) -> None:
    # The references use distances without rounding, so the last digits differ.
    tour = mean_random_tour(load(str(published / "national" / f"{name}.tsp")))
    assert tour == pytest.approx(length, rel=2e-6)


def test_gaps_of_a_kind_are_means_over_its_problems() -> None:
    names = ProblemKind(10, 250, "0.50").instances()[:2]
    lost = {1: 40, 8: 20, 64: 30}
    problems: list[str] = []

    def answer(runs: int, islands: int, population: int, migration: str) -> Any:
        worse = 10 if problems[-1] == names[1] else 0
        return ended([1000 - lost[islands] - worse - (migration == "ring")] * runs)

    table = filled(GapsTable, answer, runs=3, here=names)
    for name in names:
        problems.append(name)
        rows = [*table.rows(known(name))]
        assert len(rows) == (name == names[1])
    (row,) = rows
    assert {*row} == {column.name for column in table.layout.columns}
    assert (row["kind"], row["m"], row["n"], row["tightness"]) == (
        *("10 x 250, 0.50", 10, 250, "0.50"),
    )
    gaps = [row[each.name] for each in ALL]
    assert gaps == pytest.approx([4.5, 2.5, 2.6, 2.5, 3.5, 3.6, 3.5])
    assert row["8_ring_found"] == 0
    assert row["8_ring_last"] == row["8_ring"]
    assert len(table.parts()[1]) == 2 * len(ALL)
    assert table.facts([row])


def answer(
    runs: int, population: int, crossover_rate: float, mutation_rate: float, neighbours: int
) -> Any:
    """Return better costs for more crossover and for smaller other levels."""
    cost = 1000 - round(100 * crossover_rate) + (population == 2048) + round(20 * mutation_rate)
    return ended([cost + neighbours] * runs, generations=500, seconds=runs * population / 1024)


def test_the_plan_is_orthogonal() -> None:
    assert len(set(PLAN)) == 18
    for (i, one), (j, other) in combinations(enumerate(FACTORS.values()), 2):
        pairs = Counter((levels[i], levels[j]) for levels in PLAN)
        assert set(pairs) == set(product(one, other))
        assert len(set(pairs.values())) == 1


def test_the_plan_chooses_the_best_levels() -> None:
    table = filled(CalibrationTable, answer, runs=2)
    rows = [*table.rows(called("qaplib/kra30a", known=500))]
    assert sum(int(str(row["in_plan"])) for row in rows) == 18
    chosen, gap = CalibrationTable.plan_fact(rows).values.values()
    assert chosen == "population 512, crossover_rate 0.9, mutation_rate 0.05, neighbours 2"
    assert gap == pytest.approx(100 * (913 / 500 - 1))


def test_the_figures_agree_and_their_instances_are_in_the_catalogue() -> None:
    for row in performance().values():
        assert row["cpu_seconds"] / row["gpu_seconds"] == pytest.approx(row["speedup"], abs=0.0051)
    assert [name for name, row in quality().items() if row["hits"] == 0] == ["qaplib/lipa40a"]
    for name in (*quality(), *performance()):
        best_known(name)


CUT = 0.01  # some of the printed means are truncated


def test_the_means_of_the_implementations() -> None:
    table = implementations().values()
    seconds = {name: fmean(row[name]["seconds"] for row in table) for name in ("GPU-P", "CPU")}
    assert seconds == pytest.approx({"GPU-P": 21.20, "CPU": 18.71}, abs=CUT)
    rates = {name: fmean(row[name]["rate"] for row in table) for name in IMPLEMENTATIONS}
    assert rates == pytest.approx({"GPU": 190.64, "GPU-P": 270.49, "CPU": 57.14}, abs=CUT)


def test_printed_means_are_the_means_of_all_rows() -> None:
    table = implementations().values()
    gaps = {f"{n}_gap": [row[n]["gap"] for row in table] for n in IMPLEMENTATIONS}
    of_searches = {n: [row[n]["gap"] for row in searches().values()] for n in SEARCHES}
    of_literature = {
        f"thesis_{n}": [row[n] for row in literature().values()] for n in ("mean_gap", "best_gap")
    }
    # The printed mean is the mean of the rows, rounded or truncated.
    for printed, means in (
        (ImplementationsTable.means, gaps),
        (LocalSearchesTable.printed_gaps, of_searches),
        (LiteratureTable.means, of_literature),
    ):
        assert {*printed} == {*means}
        for name, value in printed.items():
            mean = fmean(means[name])
            assert value in (round(mean, 2), int(100 * mean) / 100)


def test_the_means_of_the_local_searches() -> None:
    table = searches().values()
    # The mean of 2-opt is printed as 57.92, which no single misprint explains.
    seconds = [fmean(row[name]["seconds"] for row in table) for name in SEARCHES]
    assert seconds == pytest.approx([25.89, 52.97, 270.04], abs=CUT)
    calls = [fmean(row[name]["calls"] for row in table) for name in SEARCHES]
    # One entry of swap has two digits exchanged: 7748.27 instead of 7784.27.
    assert calls[0] + 36 / 8 == pytest.approx(3462.30, abs=CUT)
    assert calls[1:] == pytest.approx([4187.47, 11630.29], abs=CUT)


def test_the_averages_of_the_literature() -> None:
    table = literature().values()
    assert fmean(row["known"] for row in table) == pytest.approx(1_562_297, abs=0.5)
    assert fmean(row["best"] for row in table) == pytest.approx(1_567_140, abs=0.5)
    assert fmean(row["mean"] for row in table) == pytest.approx(1_577_546, abs=0.5)
    assert fmean(row["best_calls"] for row in table) == pytest.approx(102.77, abs=CUT)
    assert fmean(row["mean_calls"] for row in table) == pytest.approx(107.43, abs=CUT)
    for row in table:
        assert row["best_gap"] == pytest.approx(100 * (row["best"] / row["known"] - 1), abs=0.006)


def test_every_instance_is_in_the_catalogue_with_its_value() -> None:
    sizes = []
    for name, row in literature().items():
        assert best_known(name).value == row["known"]
        sizes.append(entry(name).size)
    assert (len(sizes), sizes) == (21, sorted(sizes))
    assert (len(implementations()), len(searches())) == (14, 8)
    for name in (*implementations(), *searches()):
        entry(name)


SETS = {"orlib": orlib, "sac94": sac94, "gk": gk}


@pytest.mark.parametrize(("name", "rows"), [("orlib", 27), ("sac94", 24), ("gk", 11)])
def test_each_instance_of_a_set_is_in_one_group(name: str, rows: int) -> None:
    groups = SETS[name]()
    assert len(groups) == rows
    assert all({*group.printed} == {*MODELS} for group in groups.values())
    names = [instance for group in groups.values() for instance in group.instances]
    assert sorted(names) == sorted(e.full_name for e in catalogue().set(name).entries.values())


def test_printed_means_of_the_sets() -> None:
    def mean(model: str, figure: str) -> float:
        return fmean(group.printed[model][figure] for group in orlib().values())

    assert [mean("m1", "mean"), mean("m2", "mean")] == pytest.approx([8.9, 11.6], abs=0.05)
    assert [mean("m1", "best"), mean("m2", "best")] == pytest.approx([4.1, 4.7], abs=0.05)
    hits = {
        model: sum(group.printed[model]["hits"] for group in sac94().values()) for model in MODELS
    }
    assert hits == {"m1": 370, "m2": 439}


def test_best_gaps_belong_to_integer_profits() -> None:
    for group in gk().values():
        for printed in group.printed.values():
            profit = group.reference * (1 - printed["best"] / 100)
            assert profit == pytest.approx(round(profit), abs=0.01)
    for group in sac94().values():
        for printed in group.printed.values():
            lost = [printed["best"] / 100 * best_known(name).value for name in group.instances]
            assert any(each == pytest.approx(round(each), abs=0.02) for each in lost)


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
    assert {*m1} <= {column.name for column in table.layout.columns}
    assert (m1["group"], m1["model"], m1["best"], m1["mean"]) == ("sento 30 x 60", "m1", 0.0, 1.5)
    assert m1["deviation"] == pytest.approx((stdev([1, 0]) + stdev([2, 3])) / 2)
    # From the variance of the runs: each of the two instances has two runs.
    assert m1["error"] == pytest.approx(sqrt(0.5 / 2 + 0.5 / 2) / 2)
    assert (m1["hits"], m1["paper_hits"], m1["without"], m1["runs"]) == (1, 0, 0, 4)
    assert (m2["hits"], m2["without"], m2["runs"]) == (0, 1, 4)
    assert m2["mean"] == pytest.approx((5 + 2.5) / 2)
    printed = sac94()["sento 30 x 60"].printed["m1"]
    assert m1["paper_error"] == pytest.approx(printed["deviation"] / sqrt(2 * RUNS))
    assert m1["milliseconds"] == pytest.approx(2.0)
    assert m1["ratio"] == pytest.approx(564.4665 / 2)
    of_parts, parts = table.parts()
    assert [part["best"] for part in parts] == [1000, 950, 980, 990]
    assert all({*part} == {column.name for column in of_parts.columns} for part in parts)


def row(**cells: Any) -> TableRow:
    usual = {"group": "a", "model": "m1", "mean": 5.0, "paper_mean": 5.0, "error": 0.03}
    usual |= {"paper_error": 0.04, "best": 1.0, "paper_best": 1.0, "hits": 0, "runs": 30}
    return {**usual, "ratio": 100.0, "wanted": 100, **cells}


def test_means_within_two_standard_errors_are_as_good() -> None:
    # The standard error of the difference is 0.05.
    means = [4.9, 5.0, 5.09, 5.11]
    found = Sac94Table.mean_fact("m1", [row(mean=mean) for mean in means]).values
    assert (found["at_most_the_printed_m1"], found["as_good_m1"]) == (2, 3)
