"""Runs of models of a script: functions that end processes or fail, real costs, Parquet files."""

import multiprocessing
from pathlib import Path

import pytest
from commands_for_tests import Capture, done
from jobs import PROGRAM, ran, wait_until

from islands.cli import main

SCRIPT = """
import multiprocessing
import os
import sys
import time
import islands
import numpy as np

COST = '''
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += data.weights[i] * s[i];
    return sum;
}
'''
weights = np.arange(1.0, 13.0) / 4
calls = 0


def counted():
    global calls
    calls += 1
    return calls


def leaves(order):
    return sys.exit(0) if counted() > 5 else 1.0


def dies(order):
    # A worker, but not the process of the run.
    os._exit(0) if multiprocessing.parent_process() is not None else None
    return 1.0


def hangs(order):
    if multiprocessing.parent_process() is not None and counted() > 5:
        time.sleep(100)
    return 1.0


def late(order):
    if counted() > 60 and os.environ.get("OMPI_COMM_WORLD_RANK") == "0":
        raise ValueError("too late")
    return int(order[0])


text = islands.permutation(
    12, cost=COST, data={"weights": weights}, reference=lambda rows: rows @ weights
)
broken = islands.permutation(12, cost=COST.replace("sum;", "som;"), data={"weights": weights})
leaving = islands.permutation(12, function=leaves)
dying = islands.permutation(12, function=dies)
hanging = islands.permutation(12, function=hangs)
none = islands.permutation(12, function=lambda order: None)
failing = islands.permutation(12, function=late)
"""
RUN = ["--algorithm", "ga", "--improver", "none", "--islands", "3", "--population", "8"]
RUN += ["--migration", "ring", "--interval", "3", "--migrants", "1", "--seed", "4"]
RUN += ["--backend", "cpu", "--threads"]


@pytest.fixture(autouse=True)
def _next_to_a_script() -> None:
    Path("mine.py").write_text(SCRIPT)


@pytest.mark.slow
@pytest.mark.parametrize("solution", ["out/solution.parquet", "out"])
def test_a_run_is_verified_by_its_parquet_file(capsys: Capture, solution: str) -> None:
    line = ["run", "mine.py:text", *RUN, "1", "--stop", "generations=5", "--out", "out", "--quiet"]
    assert main(line) == 0
    for problem in ("out", "mine.py:text"):
        found = done(capsys, "verify", problem, solution)
        assert found["feasible"]
        assert found["remarks"]["said_agrees"]
    again = done(capsys, *line[:-3], "--out", "again", "--start", solution)
    assert again["cost"] <= found["cost"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_function_cannot_end_the_process(threads: str, capsys: Capture) -> None:
    assert main(["run", "mine.py:leaving", *RUN, threads, "--stop", "generations=9"]) == 1
    said = capsys.readouterr().err
    assert "function= raised SystemExit: 0" in said
    assert "mine.py" in said


def test_the_end_of_a_process_that_calls_the_function_is_an_error(capsys: Capture) -> None:
    assert main(["run", "mine.py:dying", *RUN, "2", "--stop", "generations=9"]) == 1
    assert "a process that called function= died unexpectedly" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_leaves_processes_whose_function_does_not_return(capsys: Capture) -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    result = done(capsys, "run", "mine.py:hanging", *RUN, "2", "--stop", "seconds=1", "--quiet")
    assert result["seconds"] < 3
    assert result["cost"] == 1.0
    # They are killed, as they would delay the end of this process.
    wait_until(lambda: {child.pid for child in multiprocessing.active_children()} <= before)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("none", "function= returned None", marks=pytest.mark.slow),
        pytest.param("broken", "cost.cu:5:12: error: ", marks=pytest.mark.slow),
        ("failing", "function= raised ValueError: too late"),
    ],
)
def test_two_ranks_print_one_error(mpirun: list[str], name: str, message: str) -> None:
    line = ["run", f"mine.py:{name}", *RUN, "1", "--stop", "generations=90", "--quiet"]
    done = ran(*mpirun, "2", *PROGRAM, *line)
    assert done.returncode == 1
    # mpirun ends the other rank with SIGTERM, which may announce a checkpoint.
    errors = done.stderr.replace("islands: SIGTERM; writing a checkpoint\n", "").splitlines()
    (error,) = [line for line in errors if "islands: " in line]
    assert message in error
    assert "Traceback" not in done.stderr
