from __future__ import annotations

from statistics import fmean

import pytest

from islands.configuration.resolve import layers
from islands.configuration.stop import last_generation, parse
from islands.instances.catalogue import BestKnown, catalogue
from islands.reproduce.munhao2019 import PAPER
from islands.reproduce.munhao2019.figures import MODELS, comparison, gk, orlib, sac94
from islands.reproduce.munhao2019.models import ModelsTable

SETS = {"orlib": orlib, "sac94": sac94, "gk": gk}


def known(name: str) -> BestKnown:
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


def test_the_instances_of_a_group_have_its_size() -> None:
    for groups in (sac94(), gk()):
        for name, group in groups.items():
            for instance in group.instances:
                entry = catalogue().entry(*instance.split("/"))
                assert entry is not None
                # The group printed with 30 items has 37.
                n = 37 if name == "pb 30 x 30" else group.n
                assert (entry.constraints, entry.size) == (group.m, n)


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
            lost = [printed.best / 100 * known(name).value for name in group.instances]
            assert any(each == pytest.approx(round(each), abs=0.02) for each in lost)


def test_table_seven_repeats_the_others() -> None:
    sento = sac94()["sento 30 x 60"].printed
    assert sento["m1"].best == comparison()["sac94/sento2"]["m1"]
    # One of the two is misprinted.
    assert sento["m2"].best == pytest.approx(10 * comparison()["sac94/sento2"]["m2"])
    assert comparison()["sac94/weing8"]["hembecker"] == 0


def test_the_presets_have_the_iterations_of_the_tables() -> None:
    for preset in MODELS.values():
        assert last_generation(map(parse, layers({"preset": preset})[0].values["stop"])) == 600
    for table in PAPER.tables.values():
        assert (table.generations, table.presets()) == (600, "munhao2019-m1 and munhao2019-m2")
    goals = {
        name: table.goals for name, table in PAPER.tables.items() if issubclass(table, ModelsTable)
    }
    assert goals == {"sac94": {}, "gk": {"gk11": 500}, "orlib": {}}
