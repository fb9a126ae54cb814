"""The tables of dantas2014: the copied figures, and rows made from given runs."""

from __future__ import annotations

from typing import Any

import pytest
from results_for_tests import called, ended, filled

from islands.problems.base import Problem
from islands.reproduce.dantas2014 import (
    GapsTable,
)
from islands.reproduce.dantas2014_islands import ALL
from islands.reproduce.orlib import ProblemKind


def known(name: str) -> Problem:
    return called(name, known=1000, maximise=True)


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
    assert {*row} == {column.name for column in table.columns()}
    assert (row["kind"], row["m"], row["n"], row["tightness"]) == (
        *("10 x 250, 0.50", 10, 250, "0.50"),
    )
    gaps = [row[each.name] for each in ALL]
    assert gaps == pytest.approx([4.5, 2.5, 2.6, 2.5, 3.5, 3.6, 3.5])
    assert row["8_ring_found"] == 0
    assert row["8_ring_last"] == row["8_ring"]
    assert len(table.parts()[1]) == 2 * len(ALL)
    assert table.facts([row])


def row(m: int, n: int, tightness: str, *gaps: float) -> dict[str, Any]:
    return {"m": m, "n": n, "tightness": tightness} | {
        each.name: gap for each, gap in zip(ALL, gaps, strict=False)
    }
