"""Runs of models of a script: killed and resumed, random costs, the Parquet file."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from jobs import kill_all, mpirun, started
from ready_python import ready_python

from islands.cli import main

SCRIPT = """
import multiprocessing
import os
import sys
import time
import islands
import numpy as np

times = np.random.default_rng(1).random(12)
COST = '''
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += s[i] * ((i * 7) % n);
    volatile int steps = 0;
    while (steps < 1000000) steps = steps + 1;  // takes milliseconds
    return sum;
}
'''


def late(order):
    time.sleep(0.001)
    return float(times[order] @ np.arange(12))


def leaves(order):
    late.calls = getattr(late, "calls", 0) + 1
    return sys.exit(0) if late.calls > 5 else 1.0


def dies(order):
    # A worker, but not the process of the run.
    os._exit(0) if multiprocessing.parent_process() is not None else None
    return 1.0


def hangs(order):
    late.calls = getattr(late, "calls", 0) + 1
    if multiprocessing.parent_process() is not None and late.calls > 5:
        time.sleep(100)
    return 1.0


def rolls(order):
    return float(np.random.default_rng().random())


text = islands.permutation(12, cost=COST)
rolling = islands.permutation(12, function=rolls)
leaving = islands.permutation(12, function=leaves)
dying = islands.permutation(12, function=dies)
hanging = islands.permutation(12, function=hangs)
python = islands.permutation(12, function=late)
"""
RUN = ["--algorithm", "ga", "--improver", "none", "--islands", "3", "--population", "8"]
RUN += ["--interval", "3", "--migrants", "1", "--seed", "4", "--backend", "cpu", "--threads"]


@pytest.fixture(autouse=True)
def _next_to_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(SCRIPT)


def run(ranks: int, *line: str) -> dict[str, Any]:
    launcher = [*(mpirun() or ["mpirun"]), "-n", str(ranks)] if ranks > 1 else []
    command = [*launcher, *ready_python(), "-m", "islands", *line, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def killed(name: str, generations: int, *more: str) -> None:
    """Kill a run on two ranks after its first checkpoint."""
    line = ["run", f"mine.py:{name}", *RUN, "1", "--stop", f"generations={generations}", *more]
    running = started(2, [*line, "--set", "checkpoint.every=0.1s", "--out", "killed"])
    deadline = time.monotonic() + 60
    while not list(Path("killed").glob("checkpoints/*/manifest.json")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    kill_all(running)
    assert not Path("killed/solution.parquet").exists()


@pytest.mark.parametrize("name", ["text", "python"])
def test_a_killed_run_gives_the_same_digest_on_other_numbers_of_ranks(
    mpirun: list[str], name: str
) -> None:
    generations = 60
    stop = ["--stop", f"generations={generations}"]
    whole = run(1, "run", f"mine.py:{name}", *RUN, "1", *stop, "--out", "whole")
    killed(name, generations)
    for ranks in (1, 3):
        shutil.copytree("killed", f"on{ranks}")
        rest = run(ranks, "resume", f"on{ranks}")
        assert (rest["digest"], rest["cost"]) == (whole["digest"], whole["cost"])
        assert (rest["ranks"], rest["generations"]) == (ranks, generations)


@pytest.mark.parametrize("solution", ["out/solution.parquet", "out"])
def test_a_run_is_verified_by_its_parquet_file(
    capsys: pytest.CaptureFixture[str], solution: str
) -> None:
    line = ["run", "mine.py:text", *RUN, "1", "--stop", "generations=5", "--out", "out", "--quiet"]
    assert main(line) == 0
    for problem in ("out", "mine.py:text"):
        capsys.readouterr()
        assert main(["verify", problem, solution, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["feasible"]
        assert found["remarks"]["said_agrees"]
    again = [*line[:-3], "--out", "again", "--start", solution, "--json"]
    assert main(again) == 0
    assert json.loads(capsys.readouterr().out)["cost"] <= found["cost"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_function_cannot_end_the_process(
    threads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mine.py:leaving", *RUN, threads, "--stop", "generations=9"]) == 1
    said = capsys.readouterr().err
    assert "function= raised SystemExit: 0" in said
    assert "mine.py" in said


def test_the_end_of_a_process_that_calls_the_function_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "mine.py:dying", *RUN, "2", "--stop", "generations=9"]) == 1
    assert "a process that called function= ended suddenly" in capsys.readouterr().err


def test_a_run_leaves_processes_whose_function_does_not_return(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {each.pid for each in multiprocessing.active_children()}
    line = ["run", "mine.py:hanging", *RUN, "2", "--stop", "seconds=1", "--json", "--quiet"]
    assert main(line) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["seconds"] < 3
    assert result["cost"] == 1.0
    deadline = time.monotonic() + 20  # they are killed, as they would delay the end of this process
    while {each.pid for each in multiprocessing.active_children()} - before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_binary_file_is_no_solution(capsys: pytest.CaptureFixture[str]) -> None:
    Path("moved.parquet").write_bytes(b"PAR1\xff\xfe\x00")
    assert main(["verify", "mine.py:text", "moved.parquet"]) == 2
    said = capsys.readouterr().err
    assert "moved.parquet: " in said
    assert "Write one number on each line" in said


def test_a_function_that_draws_its_costs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "mine.py:rolling", *RUN, "2", "--stop", "generations=5"]
    assert main([*line, "--out", "out"]) == 1
    said = capsys.readouterr().err
    assert "for the same one when it was called again, in another process" in said
    assert "seed random generators of the script" in said
    assert "kernel" not in said
