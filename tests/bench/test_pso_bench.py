from __future__ import annotations

import pytest
from problems_for_tests import knapsack

from islands.bench import pso
from islands.bench.base import Asked
from islands.parallel import World


def test_pso_moves_512_particles_by_either_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pso, "INSTANCES", {"some": (1.0, 2.0)})
    monkeypatch.setattr(pso, "load", lambda name: knapsack(20, 3))
    monkeypatch.setattr(pso, "_SECONDS", 0.01)
    rows = list(pso.measure(Asked(world=World(), backends=["cpu"], generations=12)))
    assert [row.preset for row in rows] == ["munhao2019-m1", "munhao2019-m2"]
    for row, published in zip(rows, (1.0, 2.0), strict=True):
        assert (row.size, row.runs) == (20, 1)
        assert 10 <= row.generations <= 12
        per_second = 512 / (row.milliseconds / 1000)
        assert row.evaluations_per_second == pytest.approx(per_second)
        assert row.speedup == pytest.approx(published / (0.6 * row.milliseconds))
        assert len(row.line()) == pytest.approx(len(row.HEADER), abs=2)
