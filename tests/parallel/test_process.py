"""An interrupt of one rank while ranks start."""

from __future__ import annotations

import subprocess
import sys

import pytest

ONE_IS_INTERRUPTED = """
import os, signal, time
import islands.cli, islands.cli.run

def interrupted():
    ranks = islands.parallel.world()
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return ranks

islands.cli.run.world = interrupted
islands.cli.main()
"""


@pytest.mark.slow
def test_an_interrupt_of_one_rank_during_the_start_ends_all(mpirun: list[str]) -> None:
    command = [*mpirun, "2", sys.executable, "-c", ONE_IS_INTERRUPTED]
    command += ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--stop", "seconds=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
