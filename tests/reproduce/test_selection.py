from __future__ import annotations

from pathlib import Path

import pytest
from instance_texts import tsplib_text

from islands.errors import InputError, UsageError
from islands.instances.synthetic import uniform_tsp
from islands.reproduce.table import select
from islands.reproduce.xavier2019 import PAPER, NationalTimesTable, ValuesTable, VlsiTable


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files with names of the catalogue, and one with another name."""
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path))
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for name in ("national/zi929", "vlsi/xqf131", "vlsi/own5"):
        path = tmp_path / f"{name}.tsp"
        path.parent.mkdir(exist_ok=True)
        path.write_text(tsplib_text(uniform_tsp(5, seed=1)), encoding="utf-8")


def test_only_accepts_short_and_full_names() -> None:
    selections = select(list(PAPER.tables.values()), ["zi929", "vlsi/xqf131"])
    assert [each.table for each in selections] == [ValuesTable, NationalTimesTable, VlsiTable]
    names = [[found.name for found in each.here] for each in selections]
    assert names == [["national/zi929"], ["national/zi929"], ["vlsi/xqf131"]]


def test_only_accepts_patterns() -> None:
    (selection,) = select([VlsiTable], ["own?", "*i/xqf1*1"])
    assert [found.name for found in selection.here] == ["vlsi/xqf131", "vlsi/own5"]


def test_tables_without_selected_instances_are_skipped() -> None:
    assert [each.table for each in select(list(PAPER.tables.values()), ["own5"])] == [VlsiTable]


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"--only: unknown instance 'zi92'. Did you mean 'zi929'"):
        select([ValuesTable], ["zi92"])
    with pytest.raises(UsageError, match="unknown instance 'xqf131'"):
        select([ValuesTable], ["xqf131"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [("national/zi92", "Did you mean zi929?"), ("berlin", "None of their names is near.")],
)
def test_of_many_names_only_the_near_ones_are_shown(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        select(list(PAPER.tables.values()), [name])
    assert f"--only: unknown instance {name!r}: none of the" in str(error.value)
    assert hint in str(error.value)
    assert len(str(error.value)) < 200


def test_missing_instances_are_reported_at_once() -> None:
    with pytest.raises(InputError, match=r"values needs 20 missing instances: national/lu980, "):
        select([ValuesTable], [])
    with pytest.raises(
        InputError, match=r"needs 1 missing instance: .*lu980. Run `islands instances"
    ):
        select([ValuesTable], ["lu980", "zi929"])


def test_vlsi_uses_existing_files_and_names_missing_ones() -> None:
    (selection,) = select([VlsiTable], [])
    assert [found.name for found in selection.here] == ["vlsi/xqf131", "vlsi/own5"]
    assert len(selection.missing) == 70
    assert selection.missing[0] == "vlsi/pma343"
    with pytest.raises(InputError, match="vlsi needs 1 missing instance: vlsi/"):
        select([VlsiTable], ["pma343"])
