"""Work of many runs ends soon after a signal; the same command completes it, with equal rows."""

import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands_for_tests import rows_of, write_tours
from jobs import PROGRAM, ran, wait_until
from quick_plots import without_rendering

from islands.cli import main
from islands.studies.clusters.follow import state_of

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

FEW = "--backend cpu --threads 1"
BRKGA = f"{FEW} --islands 4 --interval 20 --improver none --algorithm brkga"


@dataclass(frozen=True)
class Work:
    """A command, a file that shows that it has started, and the rows that it writes."""

    line: str
    begun: tuple[str, int]
    """A file, and the size at which the command is interrupted."""
    table: str
    columns: str
    """The columns that do not depend on time."""
    count: int
    """The number of rows of the complete table."""


WORKS = {
    "series": Work(
        f"run demo/tsp {BRKGA} --population 128 --stop generations=1000 --runs 2",
        ("tsp-seed2/trace/rank-000.1.unfinished.arrows", 1),
        "runs.tsv",
        "seed digest cost",
        2,
    ),
    "batch": Work(
        f"run tours/* --batch {FEW} --islands 1 --population 20 --stop generations=100",
        ("runs.jsonl", 1000),
        "batch.tsv",
        "instance cost",
        30,
    ),
    "tuning": Work(
        f"tune demo/tsp demo/qap {FEW} --algorithm de --population 64 --islands 2 --migration none"
        " --stop generations=150 --over F=0.2..1 --over Cr=0..1 --configurations 2 --runs 3",
        ("tune.tsv", 1),
        "tune.tsv",
        "instance configuration costs",
        6,
    ),
    "experiment": Work(
        "reproduce jardim2021/local-searches --only chr12c els19 --runs 2 --generations 60"
        " --backend cpu",
        ("runs.jsonl", 500),
        "local-searches.csv",
        "instance search gap deviation calls generations runs",
        6,
    ),
}


def rows(folder: str | Path, work: Work) -> list[tuple[str, ...]]:
    path = Path(folder, work.table)
    table = rows_of(path) if path.exists() else []
    return [tuple(row[name] for name in work.columns.split()) for row in table]


@pytest.fixture(scope="module", params=WORKS)
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Work, list[tuple[str, ...]]]]:
    """Yield a command, and its rows without interruption."""
    if request.param == "experiment":
        request.getfixturevalue("published")
    with pytest.MonkeyPatch.context() as patch, without_rendering():
        patch.chdir(tmp_path_factory.mktemp("whole"))
        write_tours(30, 60)
        work = WORKS[request.param]
        assert main([*work.line.split(), "--quiet", "--out", "a"]) == 0
        yield work, rows("a", work)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_the_same_command_goes_on_after_a_signal(
    number: signal.Signals,
    status: int,
    whole: tuple[Work, list[tuple[str, ...]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work, expected = whole
    write_tours(30, 60)
    line = [*work.line.split(), "--quiet", "--out", "a"]
    begun, kept = Path("a", work.begun[0]), Path("a/runs.jsonl")
    with subprocess.Popen([*PROGRAM, *line], stdout=subprocess.DEVNULL) as process:
        size = work.begun[1]
        wait_until(lambda: begun.exists() and begun.stat().st_size >= size, process, 100)
        process.send_signal(number)
        process.wait(timeout=60)
    assert process.returncode == status
    assert state_of(Path("a")).word == "stopped"
    done, ledger = rows("a", work), kept.read_text()
    assert "\n" in ledger
    assert len(done) < work.count
    assert main(line) == 0
    assert rows("a", work)[: len(done)] == done
    assert kept.read_text().startswith(ledger[: ledger.rfind("\n") + 1])
    assert sorted(rows("a", work)) == sorted(expected)
    assert len(expected) == work.count
    assert state_of(Path("a")).word == "done"
    finished = kept.read_text()
    assert main(line) == 0
    assert kept.read_text() == finished, "nothing is made again"


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
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen([*PROGRAM, *LINES[line]], **streams, text=True, cwd=tmp_path) as process:
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


COMPILING = {
    "batch": ("run", "demo/tsp", "--batch", *FEW.split(), "--stop", "generations=1", "--out", "a"),
    "check": ("check", "jobs.py:jobs"),
}
JOBS = """
import islands
COST = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"
jobs = islands.permutation(9, cost=COST)
"""


@pytest.mark.parametrize("line", COMPILING)
def test_a_signal_ends_compilers(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs.py").write_text(JOBS)
    compiler, begun, temporary = (tmp_path / name for name in ("compiler", "begun", "temporary"))
    waiting = f'[ "$1" = --version ] || {{ echo $$ >>{begun}; exec sleep 60; }}'
    compiler.write_text(f"#!/bin/sh\n{waiting}\n")
    compiler.chmod(0o755)
    temporary.mkdir()
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    with subprocess.Popen([*PROGRAM, *COMPILING[line]], cwd=tmp_path) as process:
        wait_until(begun.exists, process)
        time.sleep(1)
        process.terminate()
        try:
            process.wait(30)
        finally:
            process.kill()
    assert process.returncode == 75
    assert not any(Path("/proc", pid).exists() for pid in begun.read_text().split())
    assert list(temporary.iterdir()) == []


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
    done = ran(PROGRAM[0], "-c", "\n".join(program), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
