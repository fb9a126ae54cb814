from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from fakes import FakeArchipelago, Quiet
from starts_for_tests import checkpoints, killed, record, require_same, start, streams, whole

from islands.record.checkpoint import Checkpoints
from islands.record.journal import Journal
from islands.run import pace as pace


@pytest.fixture(autouse=True)
def _checkpoints_at_epochs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make checkpoints due only at the ends of epochs, and writing them fast."""
    monkeypatch.setattr(pace, "_STEP_SECONDS", 1e9)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "method"), [(Journal, "epoch"), (Checkpoints, "keep"), (Journal, "finish")]
)
@pytest.mark.parametrize("call", [1, 2, 5])
def test_a_kill_during_a_write_loses_nothing(
    owner: type, method: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    before = getattr(owner, method)
    calls = itertools.count(1)

    def dying(self: object, *arguments: object) -> None:
        if next(calls) == call:
            raise SystemExit
        before(self, *arguments)

    monkeypatch.setattr(owner, method, dying)
    for _ in range(2):
        try:
            start(folder, 2)
        except SystemExit:
            continue
    monkeypatch.undo()
    start(folder, 2)
    require_same(folder, whole(tmp_path / "b", 2))


@pytest.mark.slow
def test_a_finished_run_can_be_extended(tmp_path: Path) -> None:
    folder = whole(tmp_path / "a", 2, stop="generations=61")
    assert 61 in record(folder, "trace")["rank-000.parquet"].column("generation").to_pylist()
    result, said = start(folder, 3)
    assert "resumed from generation 61   checkpoints/000000000061.1" in said
    assert result.generations == 100
    # Generation 61 does not end an epoch of the longer run.
    require_same(folder, whole(tmp_path / "b", 3))


def test_the_last_two_checkpoints_and_their_records_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, 1, at=50)
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    # The second start writes no checkpoint, so those of the first are needed.
    killed(folder, 2, at=60, **{"checkpoint.every": "0"})
    assert checkpoints(folder) == ["000000000040.1", "000000000048.1"]
    assert streams(folder) == [
        *("rank-000.1.unfinished.arrows", "rank-000.2.unfinished.arrows"),
        "rank-001.2.unfinished.arrows",
    ]
    # No checkpoint needs the records of the second start, so they are removed.
    killed(folder, 1, at=60, **{"checkpoint.every": "0"})
    assert streams(folder) == ["rank-000.1.unfinished.arrows", "rank-000.3.unfinished.arrows"]
    start(folder, 1)
    assert checkpoints(folder) == ["000000000096.4", "000000000100.4"]
    assert streams(folder) == streams(folder, "migrations") == []


def test_an_incomplete_generation_0_cannot_be_resumed(tmp_path: Path) -> None:
    class Partial(FakeArchipelago):
        is_partial = True

    class Stopped(Quiet):
        requested = 2

    result, _ = start(tmp_path, kind=Partial, interruption=Stopped, goes_on=False)
    assert not checkpoints(tmp_path)
    assert result.suspended
