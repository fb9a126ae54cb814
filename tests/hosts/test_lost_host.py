"""A host fails during a run, and launch/supervise completes the run on the other host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from two_hosts import TwoHosts

import islands

SUPERVISE = Path(islands.__file__).parents[1] / "launch/supervise"
RUN = ["demo/tsp", "--json", "--backend", "cpu", "--threads", "1", "--islands", "8"]
RUN += ["--population", "128", "--interval", "10", "--stop", "generations=600"]
RUN += ["--set", "checkpoint.every=0.1s", "--algorithm", "brkga", "--improver", "none"]


def test_a_lost_host_does_not_change_the_result(
    hosts: TwoHosts, mpirun: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "lost"
    running = hosts.start(
        *(str(SUPERVISE), "-H", str(hosts.hostfile), "4", *RUN, "--out", str(folder)),
        PATH=f"{Path(mpirun[0]).parent}{os.pathsep}{os.environ['PATH']}",
        PYTHON=sys.executable,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob("checkpoints/*/manifest.json")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    hosts.lose(hosts.names[1])
    out, error = running.communicate(timeout=120)
    assert running.returncode == 0, error
    assert "restart 1 of 3: mpirun -n 2 islands resume" in error
    result = json.loads(out)
    assert result["ranks"] == 2
    line = [sys.executable, "-m", "islands", "run", *RUN, "--out", str(tmp_path / "alone")]
    alone = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    assert result["digest"] == json.loads(alone.stdout)["digest"]
