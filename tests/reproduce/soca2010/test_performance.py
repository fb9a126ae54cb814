from __future__ import annotations

import pytest
from batches_for_tests import called, ended, filled

from islands.reproduce.soca2010.performance import PerformanceTable


def test_rows_and_facts_follow_from_the_runs() -> None:
    pytest.importorskip("scipy")
    # A batch of ten runs takes 0.2 s, one run alone 0.1 s.
    table = filled(
        PerformanceTable,
        lambda runs: ended([7] * runs, generations=5000, seconds=0.2 if runs == 10 else 0.1),
    )
    rows = [row for name in ("had12", "bur26a") for row in table.rows(called(f"qaplib/{name}", 7))]
    assert {*rows[0]} == {column.name for column in table.columns()}
    assert (rows[0]["seconds"], rows[0]["alone_seconds"]) == (0.02, 0.1)
    assert rows[0]["speedup_gpu"] == pytest.approx(2.532 / 0.02)
    assert rows[1]["speedup_sequential"] == pytest.approx(270.22 / 0.02)
    facts = {fact.name: fact for fact in table.facts(rows)}
    assert facts["least_speedup_gpu"].value == pytest.approx(126.6)
    assert facts["as_fast_as_wanted"].value == 1
    assert "200, is reached on 1 of 2 instances" in facts["least_speedup_gpu"].sentence
    assert facts["mean_speedup_sequential"].value == pytest.approx((46.081 + 270.22) / 2 / 0.02)
