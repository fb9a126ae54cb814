"""Instances of the tables: those selected, and those of a kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_texts import tsplib_text

from islands.errors import InputError
from islands.instances.catalogue import catalogue
from islands.instances.synthetic import uniform_tsp
from islands.problems import load
from islands.problems.mkp import Mkp
from islands.reproduce.orlib import KINDS, ProblemKind, all_names, first_names, kind
from islands.reproduce.table import PaperTable, select
from islands.reproduce.xavier2019 import ValuesTable, VlsiTable


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
    assert [[found.name for found in each.here] for each in select(tables, only)] == names


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
        assert entry is not None
        assert (kind(name).m, kind(name).n) == (entry.constraints, entry.size)
        assert name in kind(name).instances()
    assert (len(KINDS), KINDS[-1].name) == (27, "30 x 500, 0.75")


@pytest.mark.published
@pytest.mark.parametrize(
    "of", [ProblemKind(5, 100, "0.25"), ProblemKind(10, 250, "0.50"), ProblemKind(30, 100, "0.75")]
)
def test_capacities_have_the_stated_tightness(published: Path, of: ProblemKind) -> None:
    problem = load(of.instances()[-1])
    assert isinstance(problem, Mkp)
    shares = problem.file.capacities / problem.file.weights.sum(axis=1)
    assert shares == pytest.approx(float(of.tightness), abs=1e-3)
