from __future__ import annotations

from pathlib import Path

import pytest

from islands.errors import InputError, UsageError
from islands.instances.synthetic import tsplib_text, uniform_tsp
from islands.reproduce.selection import select
from islands.reproduce.xavier2019 import PAPER
from islands.reproduce.xavier2019.times import Times
from islands.reproduce.xavier2019.values import Values
from islands.reproduce.xavier2019.vlsi import Vlsi


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files by their names alone, and one that the catalogue does not know."""
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path))
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for name in ("national/zi929", "vlsi/xqf131", "vlsi/own5"):
        path = tmp_path / f"{name}.tsp"
        path.parent.mkdir(exist_ok=True)
        path.write_text(tsplib_text(uniform_tsp(5, seed=1)), encoding="utf-8")


def test_only_picks_by_bare_and_by_full_names() -> None:
    selections = select(PAPER.tables, ["zi929", "vlsi/xqf131"])
    assert [each.table for each in selections] == [Values, Times, Vlsi]
    names = [[found.name for found in each.here] for each in selections]
    assert names == [["national/zi929"], ["national/zi929"], ["vlsi/xqf131"]]


def test_only_picks_by_patterns() -> None:
    (selection,) = select({"vlsi": Vlsi}, ["own?", "*i/xqf1*1"])
    assert [found.name for found in selection.here] == ["vlsi/xqf131", "vlsi/own5"]


def test_tables_without_any_of_them_are_left_out() -> None:
    assert [each.table for each in select(PAPER.tables, ["own5"])] == [Vlsi]


def test_a_name_that_no_table_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"--only: unknown instance 'zi92'. Did you mean 'zi929'"):
        select(PAPER.tables, ["zi92"])
    with pytest.raises(UsageError, match="unknown instance 'xqf131'"):
        select({"values": Values}, ["xqf131"])


def test_what_is_not_here_is_said_at_once() -> None:
    with pytest.raises(
        InputError, match=r"values needs 20 instances that are not here: national/lu980, "
    ):
        select({"values": Values}, [])
    with pytest.raises(
        InputError, match=r"needs 1 instance that is .*lu980. Run `islands instances"
    ):
        select({"values": Values}, ["lu980", "zi929"])


def test_vlsi_takes_those_that_are_here_and_names_the_others() -> None:
    (selection,) = select({"vlsi": Vlsi}, [])
    assert [found.name for found in selection.here] == ["vlsi/xqf131", "vlsi/own5"]
    assert len(selection.missing) == 70
    assert selection.missing[0] == "vlsi/pma343"
    with pytest.raises(InputError, match="vlsi needs 1 instance that is not here: vlsi/"):
        select({"vlsi": Vlsi}, ["pma343"])
