"""`islands run --async` under mpirun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from standing_ranks import StandingRanks

from islands.problems import load

pytestmark = pytest.mark.slow

BASIC = ["demo/tsp", "--backend", "cpu", "--threads", "1", "--islands", "7", "--population", "32"]
BASIC += ["--improver", "none", "--interval", "5", "--set", "record.every=5", "--async", "--json"]


def solved(standing: StandingRanks, ranks: int, out: Path, *options: str) -> dict[str, Any]:
    done = standing.run(ranks, "-m", "islands", "run", *BASIC, "--out", str(out), *options)
    assert done.returncode == 0, done.stderr
    return checked(done.stdout, done.stderr)


def checked(output: str, errors: str) -> dict[str, Any]:
    result = json.loads(output)
    assert result["reproducible"] is False
    assert "did not wait for each other" in errors
    solution = np.array(result["solution"])
    assert load("demo/tsp").cost(solution) == result["cost"]
    return result


def test_each_rank_does_its_generations(standing_ranks: StandingRanks, tmp_path: Path) -> None:
    options = ["--migration", "torus", "--stop", "generations=203"]
    result = solved(standing_ranks, 3, tmp_path / "run", *options)
    assert result["generations"] == 203
    assert result["reason"] == "203 generations done"
    for rank in range(3):
        trace = pq.read_table(tmp_path / f"run/trace/rank-{rank:03}.parquet")
        rows = trace.to_pylist()
        islands = {row["island"] for row in rows}
        assert [row["generation"] for row in rows if row["island"] == min(islands)] == [
            *range(0, 203, 5),
            203,
        ]
    assert not (tmp_path / "run/checkpoints").exists()


def test_criterion_ends_all_ranks(standing_ranks: StandingRanks, tmp_path: Path) -> None:
    options = ["--migration", "ring", "--stop", "target=30000", "--stop", "seconds=50"]
    result = solved(standing_ranks, 2, tmp_path / "run", *options)
    assert result["cost"] <= 30000
    assert result["reason"] == "target 30000 reached"
    options = ["--migration", "ring", "--stop", "seconds=1"]
    timed = solved(standing_ranks, 2, tmp_path / "timed", *options)
    assert 1 <= timed["seconds"] < 10


@pytest.mark.parametrize(("rank", "number"), [(0, signal.SIGINT), (1, signal.SIGTERM)])
def test_signal_to_any_rank_ends_all_ranks(
    mpirun: list[str], tmp_path: Path, rank: int, number: signal.Signals
) -> None:
    line = [*mpirun, "2", sys.executable, "-m", "islands", "run", *BASIC]
    line += ["--out", str(tmp_path / "run"), "--migration", "ring", "--stop", "seconds=50"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "run/log.txt"
    deadline = time.monotonic() + 30
    while not (log.exists() and "Generation" in log.read_text()):
        assert time.monotonic() < deadline, process.communicate()
        time.sleep(0.05)
    (line,) = (line for line in log.read_text().splitlines() if line.startswith(f"rank {rank} "))
    os.kill(int(line.split("pid")[1].split()[0]), number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    result = checked(output, errors)
    assert result["interrupted"] is True
