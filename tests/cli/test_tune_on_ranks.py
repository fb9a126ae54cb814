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

from standing_ranks import StandingRanks
from tuning import LINE, done, rows

from islands.cli import main
from islands.slurm.follow import state_of

TUNE = ["-m", "islands", "tune"]
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
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    found = standing_ranks.run(3, *TUNE, *LINE, "--out", "many")
    assert found.returncode == 0, found.stderr
    assert "on each of 3 ranks" in found.stdout.splitlines()[0]
    assert [f"[{place}/6]" in found.stdout for place in range(1, 7)] == [True] * 6
    one = done(capsys, "tune", *LINE, "--out", "one")
    assert without_times("many") == without_times("one")
    assert asked("many") == asked("one")
    assert Path("many/best.toml").read_bytes() == Path("one/best.toml").read_bytes()
    # One rank, and other numbers of ranks, find all of them made.
    before = Path("many/runs.jsonl").read_bytes()
    again = done(capsys, "tune", *LINE, "--out", "many")
    assert ranked(again) == ranked(one)
    assert (again["best"], again["blocks"]) == (one["best"], one["blocks"])
    assert Path("many/runs.jsonl").read_bytes() == before


def test_runs_made_by_several_ranks_are_continued_by_one(standing_ranks: StandingRanks) -> None:
    assert standing_ranks.run(2, *TUNE, *LINE, "--out", "a", "--quiet").returncode == 0
    whole, lines = without_times("a"), Path("a/runs.jsonl").read_text().splitlines(keepends=True)
    Path("a/runs.jsonl").write_text("".join(lines[:4]))
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 0
    assert without_times("a") == whole


def test_an_error_is_reported_once(standing_ranks: StandingRanks) -> None:
    line = [word if word != "demo/qap" else "nosuch" for word in LINE]
    found = standing_ranks.run(3, *TUNE, *line, "--out", "a")
    assert found.returncode == 2
    assert found.stderr.count("islands: unknown instance 'nosuch'") == 1
    assert not Path("a").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75)])
def test_a_signal_to_one_rank_ends_all(
    number: signal.Signals, status: int, mpirun: list[str]
) -> None:
    slow = [{"generations=20": "generations=1500"}.get(word, word) for word in LINE]
    shell = ["sh", "-c", 'echo $$ >>pids; exec "$@"', "sh"]
    command = [*mpirun, "2", *shell, sys.executable, *TUNE, *slow, "--out", "a", "--threads", "1"]
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
