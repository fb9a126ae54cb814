"""The tables of munhao2019: the copied figures, and rows made from given runs."""

from __future__ import annotations

from math import sqrt
from statistics import fmean, stdev
from typing import Any

import pytest
from results_for_tests import called, ended, filled

from islands.instances.catalogue import BestKnown, catalogue
from islands.reproduce import munhao2019_figures as facts
from islands.reproduce.cells import TableRow
from islands.reproduce.munhao2019 import (
    Sac94Table,
)
from islands.reproduce.munhao2019_figures import MODELS, RUNS, gk, orlib, sac94
from islands.reproduce.table import PaperTable

SETS = {"orlib": orlib, "sac94": sac94, "gk": gk}


def best_known(name: str) -> BestKnown:
    entry = catalogue().entry(*name.split("/"))
    assert entry is not None, name
    assert entry.best_known is not None, name
    return entry.best_known


@pytest.mark.parametrize(("name", "rows"), [("orlib", 27), ("sac94", 24), ("gk", 11)])
def test_each_instance_of_a_set_is_in_one_group(name: str, rows: int) -> None:
    groups = SETS[name]()
    assert len(groups) == rows
    assert all({*group.printed} == {*MODELS} for group in groups.values())
    names = [instance for group in groups.values() for instance in group.instances]
    assert sorted(names) == sorted(e.full_name for e in catalogue().set(name).entries.values())


def test_printed_means_of_the_sets() -> None:
    def mean(model: str, figure: str) -> float:
        return fmean(getattr(group.printed[model], figure) for group in orlib().values())

    assert [mean("m1", "mean"), mean("m2", "mean")] == pytest.approx([8.9, 11.6], abs=0.05)
    assert [mean("m1", "best"), mean("m2", "best")] == pytest.approx([4.1, 4.7], abs=0.05)
    hits = {
        model: sum(group.printed[model].hits or 0 for group in sac94().values()) for model in MODELS
    }
    assert hits == {"m1": 370, "m2": 439}


def test_best_gaps_belong_to_integer_profits() -> None:
    for group in gk().values():
        assert group.reference is not None
        for printed in group.printed.values():
            profit = group.reference * (1 - printed.best / 100)
            assert profit == pytest.approx(round(profit), abs=0.01)
    for group in sac94().values():
        for printed in group.printed.values():
            lost = [printed.best / 100 * best_known(name).value for name in group.instances]
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


def row(**cells: Any) -> TableRow:
    usual = {"group": "a", "model": "m1", "mean": 5.0, "paper_mean": 5.0, "error": 0.03}
    usual |= {"paper_error": 0.04, "best": 1.0, "paper_best": 1.0, "hits": 0, "runs": 30}
    return {**usual, "ratio": 100.0, "wanted": 100, **cells}


def test_means_within_two_standard_errors_are_as_good() -> None:
    # The standard error of the difference is 0.05.
    means = [4.9, 5.0, 5.09, 5.11]
    found = {fact.name: fact for fact in facts.mean_facts("m1", [row(mean=mean) for mean in means])}
    assert (found["at_most_the_printed_m1"].value, found["as_good_m1"].value) == (2, 3)
