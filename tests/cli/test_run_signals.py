"""`islands run` ended by a time limit or by signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("scipy")
LINES = {
    "one by one": [
        *("tune", "demo/tsp", "--algorithm", "brkga", "--over", "rho=0.6,0.7", "--grid"),
        *("--improver", "tabu", "--set", "improver.steps=50000", "--threads", "1"),
        *("--backend", "cpu", "--population", "2048", "--runs", "1", "--stop", "generations=9"),
    ],
    "topologies": ["bench", "topologies", "--islands", "65536"],
    "gpus": [
        *("bench", "gpus", "sleep", "--stop", "generations=50"),
        *("--backend", "cpu", "--threads", "1"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("line", LINES)
def test_signal_ends_a_command_within_two_seconds(
    line: str, number: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "islands", *LINES[line]]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr is not None
        assert "1 of " in process.stderr.readline()
        time.sleep(1.5)
        assert process.poll() is None
        sent = time.perf_counter()
        process.send_signal(number)
        try:
            process.wait(10)
        finally:
            process.kill()
        took = time.perf_counter() - sent
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 75}[number]
    assert took < 2 + 1  # the end of the interpreter on a busy machine


@pytest.mark.slow
def test_a_request_for_a_checkpoint_does_not_fail_a_command_that_is_done(tmp_path: Path) -> None:
    line = ["islands", "run", "demo/tsp", "--stop", "generations=1", "--backend", "cpu", "--quiet"]
    program = [
        "import os, signal, sys, islands.__main__",
        f"sys.argv = {line}",
        "status = islands.__main__.main()",
        "os.kill(os.getpid(), signal.SIGUSR1)",
        "sys.exit(status)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(program)], cwd=tmp_path, check=False)
    assert done.returncode == 0
