"""`islands reproduce` that is ended by a signal, and goes on by the same command."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from islands.cli import main

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

LINE = ["reproduce", "jardim2021/local-searches", "--only", "chr12c", "els19", "--runs", "2"]
LINE += ["--generations", "60", "--backend", "cpu", "--out"]
OWN = ("instance", "search", "gap", "deviation", "calls", "generations", "runs")
"""Columns that no clock changes."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(folder: str) -> list[tuple[str, ...]]:
    with Path(folder, "local-searches.csv").open(newline="", encoding="utf-8") as stream:
        return [tuple(row[name] for name in OWN) for row in csv.DictReader(stream)]


def kept(folder: str) -> list[str]:
    path = Path(folder, "runs.jsonl")
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_the_same_command_goes_on(
    number: signal.Signals, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "islands", *LINE, "a"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 100
        while len(kept("a")) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    ended = kept("a")
    assert 2 <= len(ended) < 6
    if status > 0:
        assert b"Ended. Go on with the same command: a holds what is done\n" in out
    assert main([*LINE, "a", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert kept("a")[: len(ended)] == ended
    assert len(kept("a")) == 6
    assert main([*LINE, "b"]) == 0
    assert rows("a") == rows("b")
    assert len(rows("a")) == 6
    assert main([*LINE, "a", "--json"]) == 0
    captured = capsys.readouterr()
    assert "\n6 results known already\n" in captured.err
    assert json.loads(captured.out.splitlines()[-1]) == shown
