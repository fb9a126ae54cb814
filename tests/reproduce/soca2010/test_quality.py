from __future__ import annotations

from typing import Any

from batches_for_tests import called, ended, filled

from islands.reproduce.soca2010.quality import QualityTable


def test_elitist_replacement_runs_if_no_run_hits() -> None:
    asked: list[str | None] = []

    def answer(runs: int, replacement: str | None = None) -> Any:
        asked.append(replacement)
        return ended([100, 104] if replacement == "elitist" else [102, 104])

    table = filled(QualityTable, answer)
    (row,) = table.rows(called("qaplib/lipa40a", known=100))
    assert asked == [None, "elitist"]
    assert (row["hits"], row["best_gap"], row["mean_gap"]) == (0, 2.0, 3.0)
    assert (row["elitist_hits"], row["elitist_best_gap"], row["elitist_mean_gap"]) == (1, 0.0, 2.0)
    assert (row["paper_hits"], row["paper_gap"]) == (0, 1.05)
    assert {*row} == {column.name for column in table.columns()}
    (row,) = table.rows(called("qaplib/lipa40a", known=102))
    assert asked == [None, "elitist", None]
    assert (row["hits"], "elitist_hits" in row) == (1, False)


def test_facts_state_where_the_best_known_value_was_reached() -> None:
    costs = {None: [102, 104], "elitist": [101, 104]}
    table = filled(QualityTable, lambda runs, replacement=None: ended(costs[replacement]))
    rows = [
        row
        for name, known in (("bur26a", 102), ("had12", 101), ("lipa40a", 100), ("chr15b", 102))
        for row in table.rows(called(f"qaplib/{name}", known))
    ]
    facts = {fact.name: fact for fact in table.facts(rows)}
    assert (facts["reached"].value, facts["reached_with_either"].value) == (2, 3)
    assert facts["reached"].sentence == (
        "best known value reached on 2 of 4 instances with generational replacement and with"
        " elitist replacement on qaplib/had12, never on qaplib/lipa40a; in 2010 on 2 of 3"
    )
    # The paper's gaps are 0, 0 and 1.05; chr15b is only in its other table.
    assert "the paper's 0.35 %" in facts["mean_best_gap"].sentence
