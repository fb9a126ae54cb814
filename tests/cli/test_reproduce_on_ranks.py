"""`islands reproduce` on several ranks: the same rows, and it continues on another number."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from instance_texts import tsplib_text
from quick_plots import without_drawing
from standing_ranks import StandingRanks

from islands.cli import main
from islands.instances.synthetic import uniform_tsp

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

ISLANDS = [sys.executable, "-m", "islands", "reproduce"]
LITERATURE = ["jardim2021/literature", "--only", "nug18", "had16", "--runs", "3"]
LITERATURE += ["--backend", "cpu", "--threads", "none", "--quiet", "--out"]
FEW = ["--generations", "20"]


@pytest.fixture(scope="module", autouse=True)
def _without_drawing() -> Iterator[None]:
    """Draw no plots in this process; the ranks of these tests draw theirs."""
    with without_drawing():
        yield


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a table without their times."""
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return [{**row, "seconds": ""} for row in csv.DictReader(stream)]


def kept(folder: str) -> list[str]:
    path = Path(folder, "runs.jsonl")
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("ranks", [2, 5])
def test_ranks_divide_the_runs_of_a_batch(ranks: int, standing_ranks: StandingRanks) -> None:
    done = standing_ranks.run(ranks, *ISLANDS[1:], *LITERATURE, "many", *FEW)
    assert done.returncode == 0, done.stderr
    place = (
        rf"on CPU, \d+ threads? on each of {ranks} ranks, in batches; the paper's runs have 15000\n"
    )
    assert re.search(place, done.stdout)
    assert main(["reproduce", *LITERATURE, "one", *FEW]) == 0
    assert rows("many/literature.csv") == rows("one/literature.csv")
    # One rank continues where several ended, with the first of two results.
    ledger = Path("many", "runs.jsonl")
    ledger.write_text(ledger.read_text().splitlines(keepends=True)[0])
    assert main(["reproduce", *LITERATURE, "many", *FEW]) == 0
    assert rows("many/literature.csv") == rows("one/literature.csv")
    assert len(kept("many")) == 2
    places = [json.loads(each)["result"]["place"] for each in kept("many")]
    # Only three ranks have one of the three runs.
    assert re.fullmatch(rf"CPU, \d+ threads? on each of {min(3, ranks)} ranks", places[0])
    assert " ranks" not in places[1]
    words = f"ranks; this affects times, not costs: {places[0]} (1), {places[1]} (1)"
    assert words in Path("many", "literature.txt").read_text()


@pytest.fixture
def own40(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use one small instance as the VLSI instances."""
    own = tmp_path / "instances" / "vlsi" / "own40.tsp"
    own.parent.mkdir(parents=True)
    own.write_text(tsplib_text(uniform_tsp(40, seed=1)), encoding="utf-8")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "instances"))


ON_TWO_CORES = """
import os, sys
from islands.cli import main
usable = os.sched_getaffinity(0)
os.sched_setaffinity(0, sorted(usable)[:2])
try:
    status = main(sys.argv[1:])
finally:
    os.sched_setaffinity(0, usable)
sys.exit(status)
"""


def test_runs_with_fewer_islands_than_ranks_use_all_of_them(
    standing_ranks: StandingRanks, own40: None
) -> None:
    line = ["xavier2019/vlsi", "--runs", "1", "--generations", "4", "--threads", "1"]
    line += ["--backend", "cpu", "--quiet"]
    Path("on_two_cores.py").write_text(ON_TWO_CORES)

    def on_ranks(ranks: int) -> None:
        # With few cores, a rank has one thread for any number of ranks, so the place is the same.
        command = ["on_two_cores.py", "reproduce", *line, "--out", "many"]
        done = standing_ranks.run(ranks, *command)
        assert done.returncode == 0, done.stderr

    on_ranks(4)
    assert main(["reproduce", *line, "--out", "one"]) == 0
    means = [[row["mean"] for row in rows(f"{name}/vlsi.csv")] for name in ("many", "one")]
    assert means[0] == means[1]
    # Its 3 islands use 4 ranks, and its run to compare with uses one.
    run, compared = (json.loads(each) for each in kept("many"))
    assert re.fullmatch(r"CPU, \d+ threads? on each of 4 ranks", run["asked"]["place"])
    assert compared["asked"]["place"] == "CPU, 1 thread"
    assert "several devices" not in Path("many", "vlsi.txt").read_text()
    on_ranks(4)
    assert len(kept("many")) == 2
    # Times of another number of ranks do not count; the run to compare with is the same.
    assert main(["reproduce", *line, "--out", "many"]) == 0
    assert len(kept("one")) == 2
    assert [json.loads(each)["asked"].get("threads") for each in kept("many")] == [None, 1, None]
    assert "several devices" not in Path("many", "vlsi.txt").read_text()


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """Let this thread use some of the cores, as `taskset` does."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)


def test_the_usual_threads_are_those_of_all_ranks_on_the_host(
    mpirun: list[str], own40: None, capsys: pytest.CaptureFixture[str]
) -> None:
    usable = os.sched_getaffinity(0)
    if len(usable) < 2:
        pytest.skip("needs two cores")
    line = ["xavier2019/vlsi", "--runs", "1", "--generations", "2", "--backend", "cpu"]
    line += ["--json", "--quiet", "--out", "a"]

    def threads(printed: str) -> list[int]:
        return list(json.loads(printed)["cpu_threads"])

    with on_cores({min(usable)}):
        assert main(["reproduce", *line]) == 0
    assert threads(capsys.readouterr().out) == [1]
    on_ranks = [*mpirun, "2", "--bind-to", "core", *ISLANDS, *line]
    done = subprocess.run(on_ranks, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert main(["reproduce", *line]) == 0
    for printed in (done.stdout, capsys.readouterr().out):
        [first, *others] = threads(printed)
        assert first == 1
        assert others
    assert 'threads = "1,4,8,all"\n' in Path("a", "settings.toml").read_text()


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75)])
def test_a_signal_to_one_rank_ends_batches_on_all(
    number: signal.Signals, status: int, mpirun: list[str]
) -> None:
    shell = ["sh", "-c", 'echo $$ >>pids; exec "$@"', "sh"]
    command = [*mpirun, "2", *shell, *ISLANDS, *LITERATURE, "a", "--generations", "500"]
    command.remove("--quiet")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 100
        while not kept("a"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(int(Path("pids").read_text().split()[0]), number)
        out, err = process.communicate(timeout=100)
    assert process.returncode == status, err
    assert out.endswith("\nInterrupted. To continue, repeat the command: a has the results\n")
    assert len(kept("a")) == 1
