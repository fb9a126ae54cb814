"""The file of results of an experiment knows the time of all commands that wrote to it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from islands.campaign import ledger
from islands.campaign.engine import Campaign
from islands.campaign.ledger import LEDGER, Ledger


class Clock:
    """A clock that only moves when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def add(kept: Ledger, clock: Clock, seed: int, seconds: float) -> None:
    """Keep the result of a run that takes some seconds."""

    def run() -> dict[str, int]:
        clock.now += seconds
        return {"cost": seed}

    campaign = Campaign()
    campaign.ledger = kept
    assert campaign.result({"seed": seed}, run) == {"cost": seed}


def test_seconds_are_those_of_all_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(ledger, "perf_counter", clock)
    first = Ledger(tmp_path)
    clock.now += 1
    add(first, clock, 1, 4.0)
    add(first, clock, 2, 2.5)
    assert first.seconds() == 7.5
    clock.now += 30  # killed before the third result: this time is repeated
    first.close()
    clock.now += 1000
    second = Ledger(tmp_path)
    assert second.seconds() == 7.5
    add(second, clock, 1, 4.0)  # known
    clock.now += 0.5
    assert second.seconds() == 8.0
    add(second, clock, 3, 2.0)
    assert second.seconds() == 10.0
    second.close()
    third = Ledger(tmp_path)
    assert third.seconds() == 10.0
    third.close()


def test_a_file_without_seconds_is_read(tmp_path: Path) -> None:
    kept, clock = Ledger(tmp_path), Clock()
    add(kept, clock, 1, 1.0)
    kept.close()
    entry = {"asked": {"seed": 1}, "result": {"cost": 1}}
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
    (tmp_path / LEDGER).write_text(json.dumps({**entry, "sha256": digest}) + "\n")
    again = Ledger(tmp_path)
    assert len(again) == 1
    again.remove()
    assert not tmp_path.exists()


def test_seconds_without_a_folder() -> None:
    kept = Ledger()
    add(kept, Clock(), 1, 1.0)
    assert kept.seconds() >= 0
