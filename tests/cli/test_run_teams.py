"""`islands run` on more ranks than islands, in processes: messages, signals, kills and errors."""

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
SCRIPT = """
import os
import numpy as np
import islands

calls = 0

def cost(order):
    global calls
    calls += 1
    if calls == 60 and os.environ.get("OMPI_COMM_WORLD_RANK") == os.environ.get("FAILS_ON"):
        raise {error}
    return int(order[0])

problem = islands.permutation(9, function=cost)
result = islands.solve(
    problem, algorithm="de", islands=1, population=24, generations=20, backend="cpu", threads=1
)
print(result.ranks, result.team, result.digest)
"""
OWN = '''
import islands
from islands.algorithms.de import De


class Mine(De):
    """Differential evolution with a number for each island, which no kernel uses."""

    name = "mine"

    def fields(self, shape):
        return super().fields(shape) | {"sum": islands.Field((3,), "int64")}
'''


def alone(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, *PLACE]) == 0
    return dict(json.loads(capsys.readouterr().out))


def on(standing: StandingRanks, ranks: int, *line: str) -> tuple[dict[str, Any], str]:
    """Return the result and what is written on standard error."""
    done = standing.run(ranks, "-m", "islands", *line, *PLACE)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout)), done.stderr


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
def test_ranks_are_idle_if_an_algorithm_cannot_be_divided(
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text(OWN, encoding="utf-8")
    line = ["run", "demo/qap", "--algorithm", "mine.py:Mine", "--islands", "2"]
    line += ["--population", "16", "--stop", "generations=30", "--improver", "none"]
    one = alone(capsys, *line, "--out", "1")
    found, said = on(standing_ranks, 5, *line, "--out", "5")
    assert found["digest"] == one["digest"]
    assert (found["team"], found["idle_ranks"]) == (1, 3)
    assert said.count("2 of 3 ranks idle: ") == 1


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
        found, _ = on(standing_ranks, 2, "resume", "a", "--stop", f"generations={last + 3}")
        assert found["digest"] == whole["digest"]
    else:
        stopped = alone(capsys, "run", *SHARED, "--stop", f"generations={last}", "--out", "b")
        assert result["digest"] == stopped["digest"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "rank"), [("ValueError('of the user')", "0"), ("KeyboardInterrupt", "2")]
)
def test_an_error_of_one_member_ends_all_with_one_message(
    mpirun: list[str], error: str, rank: str
) -> None:
    Path("own.py").write_text(SCRIPT.format(error=error), encoding="utf-8")
    done = subprocess.run(
        [*mpirun, str(RANKS), sys.executable, "own.py"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "FAILS_ON": rank},
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.count("islands: [rank") == 1
    assert f"islands: [rank {rank} of {RANKS}, " in done.stderr
    assert error.partition("(")[0] in done.stderr
