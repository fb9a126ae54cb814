"""The run that the tests of checkpoints and records start from."""

import os
from pathlib import Path

import pytest
from starts_for_tests import killed

from islands.engine import pace


@pytest.fixture
def checkpoints_at_epochs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write checkpoints after epochs only, and without waiting for the disk."""
    monkeypatch.setattr(pace, "_STEP_SECONDS", 1e9)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run that was killed in generation 50."""
    folder = tmp_path / "a"
    folder.mkdir()
    killed(folder, at=50)
    return folder
