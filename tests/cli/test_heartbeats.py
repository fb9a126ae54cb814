"""The progress that long commands print on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from islands.cli import main

pytest.importorskip("scipy")
QUICK = ["--backend", "cpu", "--algorithm", "de", "--population", "8", "--islands", "1"]
LINES = {
    "tune: configuration 0, demo/tsp, seeds 1 to 2, 1 of 3; at most 9 s each": [
        *("tune", "demo/tsp", "--over", "F=0.2,0.4", "--grid", "--runs", "2", *QUICK),
        *("--stop", "generations=3", "--stop", "seconds=9", "--out", "a"),
    ],
    "bench topologies: 4 islands, 1 of 2": ["bench", "topologies", "--islands", "4,8"],
    "reproduce xavier2019: values: national/zi929, 1 of 1": [
        *("reproduce", "xavier2019/values", "--only", "zi929", "--runs", "1"),
        *("--generations", "2", "--backend", "cpu"),
    ],
}


@pytest.mark.parametrize("words", LINES)
def test_long_commands_print_progress_unless_quiet(
    words: str,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if words.startswith("reproduce"):
        request.getfixturevalue("published")
    assert main([*LINES[words], "--json"]) == 0
    captured = capsys.readouterr()
    assert words in captured.err
    assert isinstance(json.loads(captured.out), dict)
    force = ["--force"] if words.startswith("tune") else []
    assert main([*LINES[words], *force, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert not captured.err
    assert captured.out
