"""The time of a rank by phase."""

from __future__ import annotations

import time

import pytest
from epochs_for_tests import Slow, run
from fakes import FakeProblem

from islands.progress.usage import Stopwatch


def test_a_lap_adds_the_time_since_the_previous_one(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 11.0, 13.0, 17.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    phases = Stopwatch()
    for name in ("generations", "records", "generations"):
        phases.lap(name)
    assert phases.seconds["generations"] == 1.0 + 4.0
    assert phases.seconds["records"] == 2.0
    assert phases.seconds["migration"] == 0.0


class SlowMigration(Slow):
    """Fake islands with a migration that takes a time of its own."""

    def migrate(self) -> None:
        super().migrate()
        self.now += 0.25


def test_the_loop_of_a_run_divides_its_time_into_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    archipelago = SlowMigration(monkeypatch, seconds=2.0)
    options = {"stop": "generations=20", "interval": 5, "record.every": 4, "backend": "cpu"}
    outcome, _, _ = run(options, FakeProblem(), archipelago=archipelago)
    seconds = dict(outcome.phases)
    assert seconds.pop("generations") == 2.0 * 21  # generation 0 is computed too
    assert seconds.pop("migration") == pytest.approx(0.25 * archipelago.migrations)
    assert archipelago.migrations >= 3
    assert set(seconds.values()) == {0.0}
