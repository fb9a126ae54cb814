"""`islands run` on several ranks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from ready_python import ready_python
from tsp_runs import LONG, SMALL, solved, traced, wait_for


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ranks(mpirun: list[str], number: int, line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [*mpirun, str(number), *ready_python(), "-m", "islands", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("number", [2, 3])
def test_number_of_ranks_does_not_matter(
    mpirun: list[str], number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = solved(capsys, "--stop", "generations=100", "--migration", "elite")
    line = ["run", "demo/tsp", *SMALL, "--stop", "generations=100", "--migration", "elite"]
    done = ranks(mpirun, number, [*line, "--threads", "1", "--json"])
    assert done.returncode == 0, done.stderr
    together = json.loads(done.stdout)
    for key in ("digest", "cost", "solution", "island", "evaluations", "reason", "generations"):
        assert together[key] == alone[key]
    assert together["ranks"] == number
    assert done.stderr.count("Generation    Time") == 1
    assert len(list(Path(together["folder"], "trace").iterdir())) == number
    assert traced(together["folder"]) == traced(alone["folder"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--algorithm", "brkga", "--set", "rho=2"], "islands: rho=2: must be from 0.5 to 1"),
        (["--foo"], "islands: unknown option '--foo'"),
        (["--islands", "0"], "islands: islands=0: must be from 1 to"),
    ],
)
def test_refusal_of_all_ranks_is_printed_once(
    mpirun: list[str], options: list[str], message: str
) -> None:
    done = ranks(mpirun, 3, ["run", "demo/tsp", *options])
    assert done.returncode == 2
    assert done.stderr.count(message) == 1
    assert "MPI_ABORT" not in done.stderr
    assert done.stdout == ""


def test_ranks_with_different_options_are_refused(mpirun: list[str]) -> None:
    command = [*ready_python(), "-m", "islands", "run", "demo/tsp", *SMALL, "--threads", "1"]
    other = [":", "-n", "1", *command, "--seed", "5"]
    done = subprocess.run(
        [*mpirun, "1", *command, *other], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("rank 1 of 2 differs from rank 0 in the settings") == 1
    assert "MPI_ABORT" not in done.stderr
    assert not Path("runs").exists()


@pytest.mark.parametrize("rank", [0, 2])
def test_signal_to_any_rank_ends_all_ranks(mpirun: list[str], rank: int, tmp_path: Path) -> None:
    script = f'echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec "{sys.executable}" -m islands "$@"'
    line = [*LONG, "--threads", "1", "--out", "a", "--json"]
    command = [*mpirun, "3", "sh", "-c", script, "sh", *line]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for each in range(3):
            wait_for(tmp_path / "a" / "trace" / f"rank-{each:03}.1.unfinished.arrows")
        os.kill(int(Path(f"pid.{rank}").read_text()), signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    result = json.loads(out)
    assert result["reason"] == "interrupted by a signal"
    assert len(list(Path("a", "trace").glob("*.parquet"))) == 3
    assert traced("a")[-1][1] == result["generations"] > 0
