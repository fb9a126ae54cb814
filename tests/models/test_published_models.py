"""Published instances of models: their names, folders and best known values."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import islands
from islands.errors import InputError
from islands.instances.catalogue import catalogue
from islands.instances.formats import MODELS

NAMES = ["jobshop/ft06", "flowshop/tai20_5_0", "setcover/scpclr10", "maxcut/G1"]


@pytest.mark.published
@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_problems(published: Path, name: str) -> None:
    problem = islands.load(name)
    assert problem.instance == name
    entry = catalogue().entry(*name.split("/"))
    assert entry is not None
    assert problem.best_known == entry.best_known


@pytest.mark.published
def test_the_optimum_of_a_published_shop_is_found(published: Path) -> None:
    result = islands.solve("jobshop/ft06", algorithm="tempering", generations=200, seed=1)
    assert result.cost == 55


@pytest.mark.published
def test_best_known_values_are_those_of_the_table(published: Path) -> None:
    with (published / "best_known.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["set"] in MODELS]
    found = 0
    for row in rows:
        entry = catalogue().entry(row["set"], row["name"])
        if entry is not None and entry.best_known is not None:
            found += 1
            assert (entry.best_known.value, entry.best_known.status) == (
                int(row["value"]),
                row["status"].split()[0],  # before a lower bound
            )
    sets = [each for each in catalogue().sets.values() if each.format in MODELS]
    assert found == sum(len(each.entries) for each in sets)


def test_a_missing_file_says_where_it_is_published(
    monkeypatch: pytest.MonkeyPatch, own_cache: None
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", "")
    with pytest.raises(InputError, match=r"Get it from https://github\.com/ScheduleOpt"):
        islands.load("jobshop/ft06")
