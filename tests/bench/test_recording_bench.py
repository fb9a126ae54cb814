"""The benchmark of what records cost."""

from __future__ import annotations

import pytest

from islands.bench import recording
from islands.bench.base import BenchRequest
from islands.parallel import World


def test_a_run_is_repeated_with_and_without_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "CASES", (("demo/qap", None), ("demo/tsp", "xavier2019")))
    monkeypatch.setattr(recording, "REPEATS", 2)
    request = BenchRequest(world=World(), backends=["cpu"], threads=1, seconds=0.05)
    rows = list(recording.measure(request))
    assert [(row["instance"], row["settings"]) for row in rows] == [
        ("demo/qap", "default"),
        ("demo/tsp", "xavier2019"),
    ]
    for row in rows:
        assert row["generations"] > 0
        assert row["rows"] > 0
        assert row.line().split()[-1] == "ms"
        assert min(row["seconds"], row["recorded"], row["ratio"]) > 0
