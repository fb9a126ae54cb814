"""`islands run` ended by a time limit or by signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from tsp_runs import LONG, SMALL, solved, traced, wait_for

from islands.problems import load


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_time_limit_and_signals_end_a_long_epoch(tmp_path: Path) -> None:
    line = ["demo/tsp", *SMALL, "--migration", "none", "--set", "record.every=1000000"]
    command = [sys.executable, "-m", "islands", "run", *line, "--json"]
    timed = [*command, "--stop", "seconds=1.5"]
    done = subprocess.run(timed, capture_output=True, check=True, timeout=60)
    result = json.loads(done.stdout)
    assert 1.5 <= result["seconds"] < 10
    assert 0 < result["generations"] < 1_000_000
    # Generation 0 and the last one.
    assert [row[1] for row in traced(result["folder"])][::4] == [0, result["generations"]]
    signalled = [*command, "--out", "a", "--stop", "seconds=60"]
    with subprocess.Popen(signalled, stdout=subprocess.PIPE) as process:
        wait_for(tmp_path / "a" / "log.txt")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["seconds"] < 20


def test_interrupted_run_writes_its_best(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "islands", *LONG, "--out", "a", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(tmp_path / "a" / "trace" / "rank-000.1.unfinished.arrows")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted; writing the best so far" in err
    result = json.loads(out)
    assert result["reason"] == "interrupted by a signal"
    assert result["cost"] == load("demo/tsp").cost(load("demo/tsp").read_solution(Path("a")))
    assert traced("a")[-1][1] == result["generations"] > 0


def test_killed_run_keeps_its_trace_and_can_be_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = tmp_path / "a" / "trace" / "rank-000.1.unfinished.arrows"
    command = [sys.executable, "-m", "islands", *LONG, "--out", "a", "--quiet"]
    with subprocess.Popen(command) as process:
        wait_for(stream)
        time.sleep(1.5)
        process.kill()
    with stream.open("rb") as source:
        first = pa.ipc.open_stream(source).read_next_batch()
    assert first.column("island").to_pylist()[:4] == [0, 1, 2, 3]
    solved(capsys, "--stop", "generations=2", "--out", "a")
    assert not stream.exists()
