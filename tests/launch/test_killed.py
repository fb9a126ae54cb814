"""launch/supervise with real runs: a killed rank does not change the result."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fake_machine import ROOT
from jobs import PROGRAM, ran, wait_until

RUN = ["demo/tsp", "--islands", "4", "--population", "256", "--stop", "generations=1500", "--json"]
RUN += ["--backend", "cpu", "--threads", "1", "--set", "checkpoint.every=0.1s"]
RUN += ["--algorithm", "brkga", "--improver", "none"]
LONG = [word.replace("=1500", "=5000") for word in RUN]
"""Longer than the second after which launch/supervise passes a signal on."""
TEAM = ["demo/qap", "--islands", "1", "--algorithm", "memetic", "--population", "24", "--json"]
TEAM += ["--set", "improver.steps=60", "--backend", "cpu", "--threads", "1"]
TEAM += ["--stop", "generations=400", "--set", "checkpoint.every=0.1s"]
"""Two ranks share the only island."""


@pytest.fixture
def environment(mpirun: list[str], optimised: None) -> dict[str, str]:
    """Return the environment of a user who entered the Python of these tests."""
    path = f"{Path(mpirun[0]).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHON": sys.executable}


def supervise(
    folder: Path, environment: dict[str, str], run: Sequence[str] = RUN
) -> subprocess.Popen[str]:
    """Start a supervised run on two ranks; return after its first checkpoint."""
    running = subprocess.Popen(
        [str(ROOT / "launch/supervise"), "2", *run, "--out", str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: [*folder.glob("checkpoints/*/manifest.json")], running)
    return running


@cache
def digest_of(*run: str) -> str:
    """Return the digest of the same run on one rank without interruption."""
    with TemporaryDirectory() as folder:
        done = ran(*PROGRAM, "run", *run, "--out", f"{folder}/undisturbed", check=True)
    return str(json.loads(done.stdout)["digest"])


@pytest.mark.parametrize("run", [RUN, TEAM], ids=["islands", "team"])
def test_a_killed_rank_does_not_change_the_result(
    run: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "killed"
    running = supervise(folder, environment, run)
    found = re.search(r"rank 1 +host \S+ +pid (\d+)", (folder / "log.txt").read_text())
    os.kill(int(found[1]), signal.SIGKILL)
    out, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert "the job of 2 ranks died (status 137: killed by signal 9); restart 1 of 3" in said
    result = json.loads(out)
    assert (result["ranks"], result["team"]) == (1, 1)
    assert result["digest"] == digest_of(*run)


def test_a_rank_that_dies_while_ranks_start_does_not_change_the_result(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    # Python imports this file first; rank 1 of the first job dies then.
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "died = os.environ['DIED']\n"
        "if os.environ.get('PMIX_RANK') == '1' and not os.path.exists(died):\n"
        "    os.mkdir(died)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    environment |= {"PYTHONPATH": str(tmp_path), "DIED": str(tmp_path / "died")}
    line = [str(ROOT / "launch/supervise"), "3", *RUN, "--out", str(tmp_path / "killed")]
    done = ran(*line, env=environment, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "the job of 3 ranks died (status 137: killed by signal 9)" in done.stderr
    assert "restart 1 of 3: mpirun -n 2 islands run 'demo/tsp'" in done.stderr
    result = json.loads(done.stdout)
    assert result["ranks"] == 2
    assert result["digest"] == digest_of(*RUN)


def test_a_signal_ends_with_a_checkpoint_and_status_75(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "ended"
    running = supervise(folder, environment, LONG)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 75, said
    assert "died" not in said
    done = ran(*PROGRAM, "resume", folder, "--json", check=True)
    assert json.loads(done.stdout)["digest"] == digest_of(*LONG)
