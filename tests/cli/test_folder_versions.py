"""Folders of the previous version: not resumed, but read and repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import islands
from islands.cli import main

RUN = ["demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu", "--threads", "1"]
RUN += ["--improver", "none", "--stop", "generations=4"]
BEFORE = "0.0.9"


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path("old").rglob("*") if path.is_file()}


@pytest.fixture
def digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Create the folder `old` with a previous version, and return the digest of its result."""
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as then:
        then.setattr(islands, "__version__", BEFORE)
        assert main(["run", *RUN, "--out", "old", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["digest"])


@pytest.mark.usefixtures("digest")
def test_run_of_a_previous_version_is_not_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    before = contents()
    assert main(["resume", "old", "--stop", "generations=9"]) == 2
    error = capsys.readouterr().err
    reason = f"was written by islands {BEFORE}, but this is islands {islands.__version__}. Resume"
    assert reason in error
    assert error.endswith("Start again with: islands run --config old/run.toml\n")
    after = contents()
    log = Path("old/log.txt")
    assert after.pop(log).startswith(before.pop(log))
    assert after == before


@pytest.mark.usefixtures("digest")
def test_patch_version_resumes_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(islands, "__version__", f"{BEFORE}1")
    assert main(["resume", "old", "--stop", "generations=9"]) == 0


def test_result_and_settings_of_a_previous_version_are_read(
    digest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "demo/tsp", "old"]) == 0
    capsys.readouterr()
    assert (
        main(["resume", "old", "--json"]) == 0
    )  # the run is finished, so there is nothing to resume
    assert json.loads(capsys.readouterr().out)["digest"] == digest
    assert main(["run", "--config", "old/run.toml", "--out", "new", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == digest
