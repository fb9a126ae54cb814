"""`islands tune` on several ranks: each makes whole runs, with the results of one rank."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from tuning import LINE, done, rows

from islands.cli import main
from islands.slurm.state import state_of

ISLANDS = [sys.executable, "-m", "islands", "tune"]
TIMES = ("seconds", "elapsed", "device")
"""Columns that depend on the machine."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def without_times(folder: str) -> list[dict[str, str]]:
    return [{k: v for k, v in row.items() if k not in (*TIMES, "sha256")} for row in rows(folder)]


def ranked(tuned: dict[str, Any]) -> list[dict[str, Any]]:
    return [{k: v for k, v in each.items() if k != "seconds"} for each in tuned["configurations"]]


def asked(folder: str) -> list[Any]:
    lines = Path(folder, "runs.jsonl").read_text().splitlines()
    return [json.loads(line)["asked"] for line in lines]


def test_ranks_share_the_configurations(
    mpirun: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*mpirun, "3", *ISLANDS, *LINE, "--out", "many"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == 0, found.stderr
    assert "on each of 3 ranks" in found.stdout.splitlines()[0]
    assert [f"[{place}/6]" in found.stdout for place in range(1, 7)] == [True] * 6
    one = done(capsys, "tune", *LINE, "--out", "one")
    assert without_times("many") == without_times("one")
    assert asked("many") == asked("one")
    for name in ("best.toml",):
        assert Path("many", name).read_bytes() == Path("one", name).read_bytes()
    # One rank, and other numbers of ranks, find all of them made.
    before = Path("many/runs.jsonl").read_bytes()
    again = done(capsys, "tune", *LINE, "--out", "many")
    assert ranked(again) == ranked(one)
    assert (again["best"], again["blocks"]) == (one["best"], one["blocks"])
    assert Path("many/runs.jsonl").read_bytes() == before


def test_runs_made_by_several_ranks_are_continued_by_one(mpirun: list[str]) -> None:
    command = [*mpirun, "2", *ISLANDS, *LINE, "--out", "a", "--quiet"]
    assert subprocess.run(command, timeout=100, check=False).returncode == 0
    whole, lines = without_times("a"), Path("a/runs.jsonl").read_text().splitlines(keepends=True)
    Path("a/runs.jsonl").write_text("".join(lines[:4]))
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 0
    assert without_times("a") == whole


def test_an_error_on_one_rank_is_that_of_all(mpirun: list[str]) -> None:
    line = [word if word != "demo/qap" else "nosuch" for word in LINE]
    command = [*mpirun, "3", *ISLANDS, *line, "--out", "a"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == 2
    assert found.stderr.count("islands: unknown instance 'nosuch'") == 1
    assert not Path("a").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75)])
def test_a_signal_to_one_rank_ends_all(
    number: signal.Signals, status: int, mpirun: list[str]
) -> None:
    slow = [{"generations=20": "generations=1500"}.get(word, word) for word in LINE]
    shell = ["sh", "-c", 'echo $$ >>pids; exec "$@"', "sh"]
    command = [*mpirun, "2", *shell, *ISLANDS, *slow, "--out", "a", "--threads", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 100
        while not Path("a/tune.tsv").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(int(Path("pids").read_text().split()[-1]), number)
        out, err = process.communicate(timeout=100)
    assert process.returncode == status, err
    ended = len(rows("a"))
    assert 1 <= ended < 6
    assert f"Ended after {ended} of 6 rows of tune.tsv. To continue, repeat" in out
    assert state_of(Path("a")).word == "stopped"
    assert not Path("a/best.toml").exists()
