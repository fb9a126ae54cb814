from __future__ import annotations

from typing import Any

import pytest
from batches_for_tests import called, ended, filled

from islands.reproduce.cells import TableRow
from islands.reproduce.jardim2021.implementations import (
    ImplementationsTable,
    gap_facts,
    ratio_facts,
    wanted,
)

CALLS = 1_025_024


def test_a_row_has_a_batch_a_single_run_and_the_thesis() -> None:
    def answer(runs: int) -> Any:
        # A batch of ten takes 0.1 s, one run takes 0.04 s.
        seconds = 0.1 if runs == 10 else 0.04
        costs = [12, 10] * 5 if runs == 10 else [11]
        return ended(costs, evaluations=CALLS, seconds=seconds)

    table = filled(ImplementationsTable, answer)
    (row,) = table.rows(called("qaplib/chr12c", known=10))
    assert {*row} == {column.name for column in table.columns()}
    assert (row["gap"], row["runs"], row["evaluations"]) == (10.0, 10, CALLS)
    assert row["deviation"] == pytest.approx((1000 / 9) ** 0.5)  # ten times 10 from the mean
    assert (row["seconds"], row["alone_seconds"]) == (0.01, 0.04)
    assert (row["GPU_gap"], row["GPU-P_gap"], row["CPU_gap"]) == (12.46, 10.32, 15.88)
    # The GPU is the fastest of the three on this instance, with 1.13 s.
    assert row["speedup"] == pytest.approx(113.0)
    assert row["rate"] == pytest.approx(102_502.4)


def test_the_target_grows_with_the_instance() -> None:
    assert [wanted(n) for n in (12, 100, 128, 256)] == [100, 100, 300, 300]


def row(gap: float, deviation: float | None = None, runs: int = 10) -> TableRow:
    thesis = {"GPU_gap": 12.0, "GPU-P_gap": 10.0, "CPU_gap": 14.0}
    return {"gap": gap, "deviation": deviation, "runs": runs, **thesis}


def test_noise_is_two_standard_errors_of_the_difference() -> None:
    # With ten runs each and a deviation of 5, an error of the difference is 5 * sqrt(0.2) = 2.236.
    rows = [row(9.9, 5.0), row(14.4, 5.0), row(14.5, 5.0), row(10.1, None, 1), row(10.0, None, 1)]
    facts = {fact.name: fact for fact in gap_facts(rows)}
    assert facts["at_most_the_least"].value == 2
    assert facts["as_good"].value == 3
    assert facts["mean_gap"].value == pytest.approx(58.9 / 5)
    assert "GPU 12.00, GPU-P 10.00, CPU 14.00" in facts["mean_gap"].sentence


def test_the_smallest_ratio_and_the_number_that_reach_the_target() -> None:
    rows: list[TableRow] = [
        {"instance": "a", "speedup": 150.0, "wanted": 100},
        {"instance": "b", "speedup": 99.0, "wanted": 100},
        {"instance": "c", "speedup": 299.0, "wanted": 300},
        {"instance": "d", "speedup": 300.0, "wanted": 300},
    ]
    least, enough = ratio_facts(rows)
    assert (least.value, enough.value) == (99.0, 2)
    assert "at least 99 (on b)" in least.sentence
    assert "on 2 of 4 instances" in least.sentence


def test_all_facts_of_a_row() -> None:
    pytest.importorskip("scipy")
    table = filled(ImplementationsTable, lambda runs: ended([11] * runs, evaluations=CALLS))
    names = [fact.name for fact in table.facts([*table.rows(called("qaplib/chr12c", 10))])]
    assert names[0] == "mean_gap"
    assert "least_speedup" in names
    assert "scaled_cells" not in names
