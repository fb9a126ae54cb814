"""`islands run A B --runs R` on the CPU."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities
from standing_ranks import StandingRanks

from islands.cli import main

SMALL = ["--population", "32", "--islands", "4", "--interval", "20", "--backend", "cpu"]
SMALL += ["--improver", "none", "--algorithm", "brkga"]
TWENTY = [*SMALL, "--stop", "generations=20"]
SLOW = ["demo/tsp", *("128" if word == "32" else word for word in SMALL)]
SLOW += ["--threads", "1", "--stop", "generations=1000", "--runs", "2"]
"""A series that lasts long enough to be interrupted."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a series without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["run", *SLOW, "--out", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cities(9, tmp_path)
    Path("random9-EUC_2D.tsp").rename("mine.tsp")


def done(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def rows(folder: str) -> list[dict[str, str]]:
    with Path(folder, "runs.tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def digests(series: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(run["instance"], run["seed"], run["digest"]) for run in series["runs"]]


def test_each_run_equals_the_single_run_with_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/tsp", "mine.tsp", *TWENTY, "--runs", "2", "--seed", "5", "--out", "a"]
    series = done(capsys, *line)
    assert digests(series) == [
        (name, seed, done(capsys, name, *TWENTY, "--seed", str(seed))["digest"])
        for seed in (5, 6)
        for name in ("demo/tsp", "mine.tsp")
    ]
    assert [run["folder"] for run in series["runs"]] == [
        *("a/tsp-seed5", "a/mine.tsp-seed5", "a/tsp-seed6", "a/mine.tsp-seed6"),
    ]
    assert [row["digest"] for row in rows("a")] == [run["digest"] for run in series["runs"]]
    demo, mine = series["instances"]
    costs = [run["cost"] for run in series["runs"]]
    assert (demo["best"], demo["mean"]) == (min(costs[::2]), sum(costs[::2]) / 2)
    assert (demo["best_known"], demo["hits"], mine["hits"]) == (8637, 0, None)


def test_runs_option_makes_a_series_of_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    series = done(capsys, "demo/tsp", *TWENTY, "--runs", "1")
    assert (series["best"], series["standard_deviation"]) == (series["runs"][0]["cost"], None)
    assert (series["mean"], series["hits"]) == (series["best"], 0)
    assert Path(series["folder"]).parent == Path("runs")


def test_file_may_set_instance_and_seed(capsys: pytest.CaptureFixture[str]) -> None:
    first = done(capsys, "mine.tsp", *TWENTY, "--seed", "3", "--out", "a")
    series = done(capsys, "--config", "a/run.toml", "--runs", "2")
    assert [run["seed"] for run in series["runs"]] == [3, 4]
    assert series["runs"][0]["digest"] == first["digest"]


def test_quiet_prints_a_line_per_run_and_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo/tsp", "mine.tsp", *TWENTY, "--out", "a", "--quiet"]) == 0
    captured = capsys.readouterr()
    lines = [line for line in captured.out.splitlines() if line]
    assert [line.partition(" ")[0] for line in lines] == [
        *("demo/tsp", "mine.tsp"),
        *("Instance", "demo/tsp", "mine.tsp", "Instance", "demo/tsp", "mine.tsp"),
        *("Hits:", "Evals,", "Wrote"),
    ]
    assert captured.err == ""


def test_repeated_command_finds_all_runs_complete(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["mine.tsp", *TWENTY, "--runs", "2", "--out", "a"]
    first, table = done(capsys, *line), Path("a/runs.tsv").read_bytes()
    assert done(capsys, *line) == first
    assert Path("a/runs.tsv").read_bytes() == table
    assert main(["run", "mine.tsp", *SMALL, "--stop", "generations=9", "--out", "a"]) == 2
    assert "--out a: contains files, but no run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("demo/tsp --runs 0", "argument --runs: '0' must be a whole number of at least 1."),
        ("demo/tsp --runs 10000000000", "argument --runs: '10000000000' must be at most 1000000"),
        ("demo/tsp --runs x", "argument --runs: 'x' must be a whole number of at least 1."),
        ("demo/tsp nosuch", "unknown instance 'nosuch'"),
        ("demo/tsp mine.tsp --stop best-known", "--stop best-known: "),
        ("demo/tsp demo/tsp", "demo/tsp is named twice. Name each instance once"),
        ("mine.tsp ./mine.tsp", "mine.tsp and ./mine.tsp would both have the folder"),
        ("demo/tsp mine.tsp --start mine.tour", "--start with several instances: "),
        ("demo/tsp --runs 2 --algorithm brkga --set rho=2", "rho=2: must be from 0.5 to 1"),
        ("demo/tsp --runs 2 --start none.tour", "none.tour: "),
        ("demo/tsp --runs 2 --out mine.tsp", "--out mine.tsp: is a file"),
        ("demo/tsp --runs 2 --out .", "--out .: contains files, but no series. Name a new"),
    ],
)
def test_refused_run_prints_one_line_and_leaves_no_folder(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *line.split(), "--quiet"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert [path for path in Path().rglob("*") if path.is_file()] == [Path("mine.tsp")]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_interrupted_series_is_resumed_with_the_same_result(
    number: signal.Signals, status: int, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*SLOW, "--out", "a"]
    command = [sys.executable, "-m", "islands", "run", *line, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(Path("a/tsp-seed2/trace/rank-000.1.unfinished.arrows"))
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert [row["seed"] for row in rows("a")] == ["1"]
    if status > 0:
        ended = json.loads(out)
        assert (ended["interrupted"], ended["suspended"]) == (status == 130, status == 75)
        assert [each["runs"] for each in ended["instances"]] == [1]
        assert [run["seed"] for run in ended["runs"]] == [1, 2]
        assert b"Ended after 1 of 2 runs. To continue, repeat the command with --out a\n" in err
    assert digests(done(capsys, *line)) == digests(done(capsys, *SLOW, "--out", str(whole)))
    assert [row["digest"] for row in rows("a")] == [row["digest"] for row in rows(str(whole))]


def wait_for(path: Path) -> None:
    """Wait until a run has created `path`."""
    for _ in range(1200):
        if path.exists() and path.stat().st_size > 0:
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")


def test_all_ranks_work_on_each_run(
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["demo/tsp", "mine.tsp", *TWENTY, "--runs", "2"]

    def on_two_ranks(*line: str) -> subprocess.CompletedProcess[str]:
        return standing_ranks.run(2, "-m", "islands", "run", *line, "--threads", "1")

    job = on_two_ranks(*line, "--out", "a", "--json")
    assert job.returncode == 0, job.stderr
    series = json.loads(job.stdout)
    assert digests(series) == digests(done(capsys, *line))
    assert {run["ranks"] for run in series["runs"]} == {2}
    assert len(rows("a")) == 4
    assert job.stderr.count("run 3 of 4: demo/tsp, seed 2") == 1
    again = on_two_ranks(*line, "--out", "a", "--json")
    assert json.loads(again.stdout) == series
    refused = on_two_ranks("demo/tsp", "nosuch", "--out", "b")
    assert (refused.returncode, refused.stderr.count("unknown instance 'nosuch'")) == (2, 1)
