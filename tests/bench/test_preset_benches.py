"""The benchmarks of published experiments measure the setting that was published."""

from __future__ import annotations

import pytest

from islands.backends.base import Backend
from islands.bench import de, preset
from islands.bench.base import Asked
from islands.instances.synthetic import grid_qap
from islands.parallel import World
from islands.problems.qap import Qap


def test_de_makes_a_trial_for_each_of_1024(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(de, "INSTANCES", {"absent": (2, 3)})
    monkeypatch.setattr(de, "_CPU_SECONDS", 0.01)
    [row] = de.measure(Asked(world=World(), backends=["cpu"], generations=3))
    assert (row.size, row.runs, row.generations) == (6, 1, 3)
    assert row.evaluations_per_second == pytest.approx(1024 * row.generations_per_second)
    assert row.cost > 0


def test_runs_side_by_side_are_as_many_as_asked_for(backend: Backend) -> None:
    problem = Qap(grid_qap(2, 3, seed=1)[0])
    archipelago = preset.archipelago("jardim2021-b", problem, backend, 3)
    archipelago.start()
    assert [each.evaluations for each in archipelago.measure()] == [1024] * 3
    archipelago.advance(1)
    # A fifth of the trials are improved, by one exchange: it takes at most 15 calls, at least one.
    assert 3 * 2048 < preset.evaluations(archipelago) < 3 * 2048 + 15 * 0.25 * 3 * 1024
