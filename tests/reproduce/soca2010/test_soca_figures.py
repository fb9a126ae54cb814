from __future__ import annotations

import pytest

from islands.configuration.resolve import layers
from islands.configuration.stop import last_generation, parse
from islands.instances.catalogue import catalogue
from islands.reproduce.soca2010 import PAPER
from islands.reproduce.soca2010.figures import performance, quality


def test_speedups_are_the_ratios_of_the_seconds() -> None:
    for row in performance().values():
        assert row.cpu / row.gpu == pytest.approx(row.speedup, abs=0.0051)
    speedups = [row.speedup for row in performance().values()]
    assert (min(speedups), max(speedups)) == (15.07, 18.53)


def test_the_best_known_value_was_reached_on_all_but_one() -> None:
    assert [name for name, row in quality().items() if row.hits == 0] == ["qaplib/lipa40a"]
    assert [row.gap for row in quality().values() if row.gap] == [1.05]


def test_the_tables_share_twelve_of_sixteen_instances() -> None:
    assert (len(quality()), len(performance())) == (14, 14)
    assert {*quality()} - {*performance()} == {"qaplib/chr15a", "qaplib/had16"}
    assert {*performance()} - {*quality()} == {"qaplib/chr15b", "qaplib/had20"}
    for name in (*quality(), *performance()):
        entry = catalogue().entry(*name.split("/"))
        assert entry is not None, name
        assert entry.best_known is not None, name


def test_the_preset_has_the_generations_of_the_tables() -> None:
    preset = layers({"preset": "soca2010"})[0].values
    assert last_generation(map(parse, preset["stop"])) == 5000
    assert {name: table.generations for name, table in PAPER.tables.items()} == {
        "calibration": 500,
        "quality": 5000,
        "performance": 5000,
    }
