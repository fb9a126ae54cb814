from __future__ import annotations

from typing import Any

import pytest
from batches_for_tests import called, ended, filled

from islands.reproduce.jardim2021.local_searches import LocalSearchesAlwaysTable, LocalSearchesTable

CALLS = {"swap": 8_257_500, "two_opt": 4_264_600, "reinsert": 2_714_060}


def answer(runs: int, improver: str, **options: Any) -> Any:
    return ended([11] * runs, evaluations=CALLS[improver], seconds=runs * 0.02)


def test_a_row_for_each_local_search_with_the_thesis() -> None:
    table = filled(LocalSearchesTable, answer)
    rows = [*table.rows(called("qaplib/chr12c", known=10))]
    assert {*rows[0]} == {column.name for column in table.columns()}
    assert [row["search"] for row in rows] == ["swap", "two_opt", "reinsert"]
    assert [row["thesis_gap"] for row in rows] == [5.51, 3.02, 8.79]
    assert [row["speedup"] for row in rows] == pytest.approx([286.0, 294.0, 352.0])
    assert [row["calls"] for row in rows] == [8257.5, 4264.6, 2714.06]
    facts = {fact.name: fact.value for fact in table.facts(rows)}
    assert facts["mean_gap_swap"] == pytest.approx(10.0)
    assert facts["mean_gap_thesis_two_opt"] == 3.02
    # The thesis has 4128.75, 4264.60 and 5428.12 thousand.
    assert facts["mean_calls_ratio_swap"] == pytest.approx(2.0)
    assert facts["mean_calls_ratio_two_opt"] == pytest.approx(1.0)
    assert facts["mean_calls_ratio_reinsert"] == pytest.approx(0.5)
    assert facts["least_speedup"] == pytest.approx(286.0)


def test_the_extra_table_improves_every_trial() -> None:
    rates = []

    def answered(runs: int, **options: Any) -> Any:
        rates.append(options.get("improver.rate"))
        return ended([11])

    for kind in (LocalSearchesTable, LocalSearchesAlwaysTable):
        list(filled(kind, answered).rows(called("qaplib/els19", 10)))
    assert rates == [None] * 3 + [1.0] * 3
