"""`islands run` on more ranks than islands, and with colonies: signals, kills and results."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from standing_ranks import StandingRanks

from islands.cli import main

RANKS = 3
SHARED = ["demo/qap", "--algorithm", "memetic", "--improver", "tabu", "--islands", "1"]
SHARED += ["--population", "24", "--set", "improver.steps=40", "--seed", "4"]
LONG = ["--stop", "generations=1000000", "--set", "checkpoint.every=0.2s"]
PLACE = ["--backend", "cpu", "--threads", "1", "--json"]


def alone(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, *PLACE]) == 0
    return dict(json.loads(capsys.readouterr().out))


def on(standing: StandingRanks, ranks: int, *line: str) -> dict[str, Any]:
    done = standing.run(ranks, "-m", "islands", *line, *PLACE)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@contextmanager
def running(
    mpirun: list[str], folder: str, *line: str
) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a run on several ranks; after a checkpoint, return it and the process of each rank."""
    shell = ["sh", "-c", f'echo $$ >{folder}.$OMPI_COMM_WORLD_RANK; exec "$@"', "sh"]
    command = [*mpirun, str(RANKS), *shell, sys.executable, "-m", "islands"]
    command += ["run", *SHARED, *line, "--out", folder, *PLACE]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        deadline = time.monotonic() + 60
        while not list(Path(folder).glob("checkpoints/*/manifest.json")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield process, [int(Path(f"{folder}.{rank}").read_text()) for rank in range(RANKS)]


def generations_of(folder: str) -> int:
    """Return the generation of the newest checkpoint."""
    return max(int(each.parent.name[:12]) for each in Path(folder).glob("checkpoints/*/*.json"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "rank", "status"),
    [(signal.SIGTERM, 1, 75), (signal.SIGINT, 2, 130)],
)
def test_a_signal_to_any_member_ends_all_and_nothing_is_lost(
    mpirun: list[str],
    standing_ranks: StandingRanks,
    number: int,
    rank: int,
    status: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running(mpirun, "a", *LONG) as (process, pids):
        os.kill(pids[rank], number)
        began = time.monotonic()
        out, said = process.communicate(timeout=60)
        assert time.monotonic() - began < 20, said
    assert process.returncode == status, said
    result = json.loads(out)
    last = result["generations"]
    whole = alone(capsys, "run", *SHARED, "--stop", f"generations={last + 3}", "--out", "whole")
    if number == signal.SIGTERM:
        assert generations_of("a") == last
        found = on(standing_ranks, 2, "resume", "a", "--stop", f"generations={last + 3}")
        assert found["digest"] == whole["digest"]
    else:
        stopped = alone(capsys, "run", *SHARED, "--stop", f"generations={last}", "--out", "b")
        assert result["digest"] == stopped["digest"]


COLONIES = [
    *("--colony", "islands=2 algorithm=brkga population=20 improver=none"),
    *("--colony", "islands=3 algorithm=ga encoding=permutation population=16 rate=2"),
]
RUN = ["demo/tsp", *COLONIES]


def test_ranks_that_do_not_wait_keep_all_costs(standing_ranks: StandingRanks) -> None:
    line = ["run", *RUN, "--migration", "ring", "--interval", "2", "--stop", "generations=40"]
    found = on(standing_ranks, 3, *line, "--async")  # its cost is checked
    assert not found["reproducible"]
    assert min(each["cost"] for each in found["colonies"]) == found["cost"]
