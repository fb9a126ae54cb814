"""The facts about what made a file of measurements."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import islands
from islands.record import provenance as module
from islands.record.provenance import commit, provenance


def git(*words: str, folder: Path) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small checkout, which is taken for the one of the package."""
    if shutil.which("git") is None:
        pytest.skip("no git found")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    git("init", "-q", folder=tmp_path)
    monkeypatch.setattr(module, "_HERE", tmp_path / "package")
    return tmp_path


def test_the_commit_is_that_of_the_package(checkout: Path) -> None:
    assert commit() == {"commit": None, "changed": None}  # the checkout of somebody else
    git("add", ".", folder=checkout)
    git("commit", "-qm", "first", folder=checkout)
    head = git("rev-parse", "HEAD", folder=checkout).strip()
    assert commit() == {"commit": head, "changed": False}
    (checkout / "untracked").touch()
    assert commit()["changed"] is False
    (checkout / "package" / "__init__.py").write_text("changed")
    assert commit() == {"commit": head, "changed": True}


def test_the_record_of_the_tests_is_no_change(checkout: Path) -> None:
    record = checkout / "tests" / "evidence.json"
    record.parent.mkdir()
    record.touch()
    git("add", ".", folder=checkout)
    git("commit", "-qm", "first", folder=checkout)
    record.write_text("{}")
    assert commit()["changed"] is False


def test_versions_and_date() -> None:
    found = provenance()
    assert found["islands"] == islands.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert abs(datetime.fromisoformat(found["date"]).timestamp() - datetime.now().timestamp()) < 60
