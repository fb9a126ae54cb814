from __future__ import annotations

from typing import Any

import pytest
from batches_for_tests import called, ended, filled

from islands.reproduce.munhao2019.search import RANDOM, RANGES, SearchTable, configurations, ranks


def test_configurations_are_the_papers_choice_and_draws_from_its_ranges() -> None:
    chosen, *drawn = configurations("m1")
    assert chosen == {"c1": 0.601321, "c2": 1.79865, "penalty": 329.594}
    assert len(drawn) == len({tuple(each.values()) for each in drawn}) == RANDOM
    for each in drawn:
        assert all(low <= each[name] <= high for name, (low, high) in RANGES.items())
    # Both models have the same draws, but m2 has no penalty.
    assert [{name: each[name] for name in ("c1", "c2")} for each in drawn] == [
        *configurations("m2")[1:]
    ]
    assert configurations("m2")[0] == {"c1": 0.670175, "c2": 0.670175}


def test_equal_values_share_their_ranks() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0, 3.0]) == [4.0, 1.0, 4.0, 2.0, 4.0]


def test_configurations_are_ranked_over_all_instances() -> None:
    best = configurations("m1")[4]["c1"]

    def answer(runs: int, preset: str, c1: float, c2: float, penalty: float = 0.0) -> Any:
        """Return better costs near one configuration, and none for the paper's choice of m2."""
        if preset == "munhao2019-m2" and c1 == 0.670175:
            return ended([None] * runs)
        return ended([999 - round(100 * abs(c1 - best))] * runs)

    names = ("orlib/mknapcb1-00", "orlib/mknapcb1-10")
    table = filled(SearchTable, answer, runs=2, here=names)
    problems = [called(name, known=1000, maximise=True) for name in names]
    assert [*table.rows(problems[0])] == []
    rows = [*table.rows(problems[1])]
    m1, m2 = rows[: RANDOM + 1], rows[RANDOM + 1 :]
    assert {row["model"] for row in m1} == {"m1"}
    assert len(m2) == RANDOM + 1
    assert (m1[0]["configuration"], m1[0]["rank"], m1[0]["instances"]) == (4, 1.0, 2)
    assert m1[0]["mean"] == pytest.approx(0.1)
    found = [row["rank"] for row in m1]
    assert found == sorted(found)
    # A configuration without a feasible solution has the last rank.
    assert (m2[-1]["configuration"], m2[-1]["without"], m2[-1]["mean"]) == (0, 4, None)
    equal = [{**row, "rank": 6.0} for row in rows]
    (shared, _) = (fact.sentence for fact in table.facts(equal)[:2])
    assert shared.endswith(f"place 1 with {RANDOM} others of {RANDOM + 1}")
    places = {fact.name: fact.value for fact in table.facts(rows)}
    assert places["place_of_the_papers_m2"] == RANDOM + 1
