"""`islands run` on several ranks: teams, colonies, signals, kills, and ranks that do not wait."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands_for_tests import done
from jobs import PROGRAM, wait_until
from standing_ranks import StandingRanks

from islands.problems import load

RANKS = 3
SHARED = ["demo/qap", "--algorithm", "memetic", "--improver", "tabu", "--islands", "1"]
SHARED += ["--population", "24", "--set", "improver.steps=40", "--seed", "4"]
LONG = ["--stop", "generations=1000000", "--set", "checkpoint.every=0.2s"]
PLACE = ["--backend", "cpu", "--threads", "1", "--json"]


def alone(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    return done(capsys, *line, *PLACE)


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
    command = [*mpirun, str(RANKS), *shell, *PROGRAM]
    command += ["run", *SHARED, *line, "--out", folder, *PLACE]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        wait_until(lambda: [*Path(folder).glob("checkpoints/*/manifest.json")], process)
        yield process, [int(Path(f"{folder}.{rank}").read_text()) for rank in range(RANKS)]


def generations_of(folder: str) -> int:
    return max(int(path.parent.name[:12]) for path in Path(folder).glob("checkpoints/*/*.json"))


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
    assert min(colony["cost"] for colony in found["colonies"]) == found["cost"]


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_criterion_ends_all_ranks(standing_ranks: StandingRanks, tmp_path: Path) -> None:
    options = ["--migration", "ring", "--stop", "target=30000", "--stop", "seconds=50"]
    result = solved(standing_ranks, 2, tmp_path / "run", *options)
    assert result["cost"] <= 30000
    assert result["reason"] == "target 30000 reached"
    options = ["--migration", "ring", "--stop", "seconds=1"]
    timed = solved(standing_ranks, 2, tmp_path / "timed", *options)
    assert 1 <= timed["seconds"] < 10


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "number"), [(0, signal.SIGINT), (1, signal.SIGTERM)])
def test_signal_to_any_rank_ends_all_ranks(
    mpirun: list[str], tmp_path: Path, rank: int, number: signal.Signals
) -> None:
    line = [*mpirun, "2", *PROGRAM, "run", *BASIC]
    line += ["--out", str(tmp_path / "run"), "--migration", "ring", "--stop", "seconds=50"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "run/log.txt"
    wait_until(lambda: log.exists() and "Generation" in log.read_text(), process)
    (line,) = (line for line in log.read_text().splitlines() if line.startswith(f"rank {rank} "))
    os.kill(int(line.split("pid")[1].split()[0]), number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    result = checked(output, errors)
    assert result["interrupted"] is True
