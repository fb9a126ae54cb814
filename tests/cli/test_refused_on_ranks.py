"""Under mpirun, a refusal is printed once, without other messages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ready_python import ready_python

ISLANDS = [sys.executable, "-m", "islands"]
ATTEMPTS = 5
DASHES = "-" * 40


def without_report(run: Callable[[int], tuple[int, str]]) -> tuple[int, str]:
    """Return status and stderr of a run; call it again, with the next number, if mpirun reports.

    On a busy machine, mpirun may see that rank 0 ends with an error status before the others end,
    and reports this itself, below a line of dashes.
    """
    for attempt in range(ATTEMPTS):
        status, said = run(attempt)
        assert said.count("islands: ") == 1
        if DASHES not in said:
            break
    return status, said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run --foo", "unknown option '--foo'"),  # before MPI is started
        ("run demo/tsp --migration random --async", "--async with migration random: "),
        ("run demo/tsp --fault-tolerant", "--fault-tolerant was removed: "),
        ("verify demo/tsp nosuch", "nosuch: no such file"),  # only by rank 0
    ],
)
def test_refusal_prints_one_message_and_gives_status_2(
    mpirun: list[str], line: str, message: str
) -> None:
    command = [*mpirun, "3", *ready_python(), "-m", "islands", *line.split()]

    def refused(_: int) -> tuple[int, str]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout == ""
        return done.returncode, done.stderr

    status, said = without_report(refused)
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith(f"islands: {message}")


def test_ranks_with_different_options_are_refused(mpirun: list[str]) -> None:
    command = [*ready_python(), "-m", "islands", "run", "demo/tsp", "--backend", "cpu"]
    other = [":", "-n", "1", *command, "--seed", "5"]
    done = subprocess.run(
        [*mpirun, "1", *command, *other], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("rank 1 of 2 differs from rank 0 in the settings") == 1
    assert "MPI_ABORT" not in done.stderr
    assert not Path("runs").exists()


@pytest.mark.slow
def test_suspended_run_ends_quietly(mpirun: list[str]) -> None:
    def suspended(attempt: int) -> tuple[int, str]:
        folder, pids = f"run{attempt}", f"pids{attempt}"
        line = ["run", "demo/tsp", "--improver", "none", "--backend", "cpu", "--threads", "1"]
        line += ["--stop", "seconds=60", "--set", "checkpoint.every=0.1", "--out", folder]
        shell = ["sh", "-c", f'echo $$ >>{pids}; exec "$@"', "sh"]
        command = [*mpirun, "2", *shell, *ISLANDS, *line, "--quiet"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 60
            while not list(Path().glob(f"{folder}/checkpoints/*/manifest.json")):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            os.kill(int(Path(pids).read_text().split()[0]), signal.SIGTERM)
            _, said = process.communicate(timeout=60)
        return process.returncode, said

    assert without_report(suspended) == (75, "islands: SIGTERM; writing a checkpoint\n")
