from __future__ import annotations

import pytest
from batches_for_tests import called, ended, filled

from islands.reproduce.jardim2021.literature import LiteratureTable


def test_rows_and_facts_follow_from_the_runs() -> None:
    ends = ended([11156, 11379], evaluations=2_000_000, generations=900, seconds=5.0)
    table = filled(LiteratureTable, lambda runs: ends)
    rows = [*table.rows(called("qaplib/chr12c", known=11156))]
    (row,) = rows
    assert {*row} == {column.name for column in table.columns()}
    assert (row["best"], row["best_gap"], row["hits"]) == (11156, 0.0, 1)
    assert row["mean_gap"] == pytest.approx(100 * 111.5 / 11156)
    assert (row["thesis_mean_gap"], row["thesis_calls"]) == (2.29, 118.41)
    assert (row["calls"], row["seconds"]) == (2.0, 2.5)
    facts = {fact.name: fact.value for fact in table.facts(rows)}
    assert facts["average_mean_gap"] == row["mean_gap"]
    assert facts["average_thesis_mean_gap"] == 2.29
    assert (facts["as_good"], facts["reached"]) == (1, 1)
    sentences = {fact.name: fact.sentence for fact in table.facts(rows)}
    assert sentences["reached"].endswith("reached on 1 instance, in 2021 on 1")


def test_an_equal_mean_gap_is_as_good() -> None:
    table = filled(LiteratureTable, lambda runs: ended([103] * runs))
    (row,) = table.rows(called("qaplib/nug18", known=100))
    for ours, is_as_good in ((3.23, 1), (3.24, 1), (3.25, 0)):
        facts = {fact.name: fact.value for fact in table.facts([{**row, "mean_gap": ours}])}
        assert facts["as_good"] == is_as_good


def test_averages_use_the_existing_rows() -> None:
    table = filled(LiteratureTable, lambda runs: ended([103] * runs))
    rows = [
        *table.rows(called("qaplib/chr12c", known=100)),
        *table.rows(called("qaplib/nug18", known=100)),
    ]
    facts = {fact.name: fact for fact in table.facts(rows)}
    assert facts["average_thesis_mean_gap"].value == pytest.approx((2.29 + 3.24) / 2)
    # 3 % is less than the thesis' gap only on nug18, and no hit; chr12c was solved in 2021.
    assert (facts["as_good"].value, facts["reached"].value) == (1, 0)
    assert facts["reached"].sentence.endswith("reached on 0 instances, in 2021 on 1")
