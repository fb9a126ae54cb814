from __future__ import annotations

from pathlib import Path

import pytest

from islands.bench import cellular
from islands.bench.base import Asked
from islands.parallel import World


@pytest.mark.published
def test_bench_counts_children_and_exchanges(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cellular, "INSTANCES", {"chr12a": 2.0})
    monkeypatch.setattr(cellular, "_CPU_SECONDS", 0.01)
    asked = Asked(world=World(), backends=["cpu"], generations=10)
    [row] = cellular.measure(asked)
    assert (row.instance, row.size, row.runs, row.generations) == ("chr12a", 12, 1, 10)
    # Two children of each of 2048, and 11 exchanges of each every tenth generation.
    per_second = 2048 * (2 + 11 / 10) / (row.milliseconds / 1000)
    assert row.evaluations_per_second == pytest.approx(per_second)
    assert row.speedup == pytest.approx(2.0 / (5 * row.milliseconds))
    assert len(row.line()) == pytest.approx(len(row.HEADER), abs=2)
