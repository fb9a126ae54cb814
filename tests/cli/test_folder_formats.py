"""Folders of the previous format: refused with a reason, but their settings repeat the run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from islands.cli import main
from islands.configuration.spec import SIGN

LAST = "# SHA-256 of the lines above: "
RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
RUN += ["--threads", "1", "--stop", "generations=4", "--improver", "none"]


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a finished run whose settings have the previous format number."""
    monkeypatch.chdir(tmp_path)
    assert main([*RUN, "--out", "old"]) == 0
    path = Path("old/run.toml")
    lines = path.read_text().partition(LAST)[0].split("\n", 1)[1]
    text = f"{SIGN}: --config repeats it.\n{lines}"
    path.write_text(f"{text}{LAST}{hashlib.sha256(text.encode()).hexdigest()}\n")
    return path


@pytest.mark.parametrize(
    "line",
    [
        ["resume", "old"],
        ["resume", "old", "--stop", "generations=9"],
        ["verify", "demo/tsp", "old"],
        ["verify", "demo/tsp", "old", "--format", "tsplib"],
    ],
)
def test_folder_with_the_previous_format_is_refused(
    old: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in Path("old").rglob("*") if path.is_file()}
    capsys.readouterr()
    assert main(line) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("islands: old: has format 2, written by an earlier")
    assert said.err.endswith(f"or repeat the run with: islands run --config {old}\n")
    assert before == {path: path.read_bytes() for path in Path("old").rglob("*") if path.is_file()}


def test_settings_of_a_previous_format_repeat_the_run(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digests = []
    for line in (["--config", str(old)], RUN[1:]):
        capsys.readouterr()
        assert main(["run", *line, "--out", "new", "--force", "--json"]) == 0
        digests.append(json.loads(capsys.readouterr().out)["digest"])
    assert digests[0] == digests[1]
    # It can be overwritten like any other run.
    assert main([*RUN, "--out", "old"]) == 2
    assert main([*RUN, "--out", "old", "--force"]) == 0
