"""`islands check`, and runs of models from the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from ready_python import ready_python
from standing_ranks import StandingRanks

from islands.cli import main

SCRIPT = '''
import os

import numpy as np
import islands

COST = """__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += data.weights[i] * s[i];
    return sum;
}
"""
weights = np.arange(1.0, 9.0) / 4
calls = 0


def late(row):
    global calls
    calls += 1
    if calls > 60 and os.environ.get("OMPI_COMM_WORLD_RANK") == "0":
        raise ValueError("too late")
    return int(row[0])


good = islands.permutation(
    8, cost=COST, data={"weights": weights}, reference=lambda rows: rows @ weights
)
wrong = islands.permutation(
    8, cost=COST, data={"weights": weights}, reference=lambda rows: rows @ weights + 1
)
broken = islands.permutation(8, cost=COST.replace("sum;", "som;"), data={"weights": weights})
none = islands.permutation(8, function=lambda row: None)
failing = islands.permutation(8, function=late)
'''
FEW = ["--islands", "4", "--population", "16", "--interval", "3", "--migrants", "1"]
FEW += ["--migration", "ring", "--backend", "cpu", "--threads", "1", "--quiet"]


@pytest.fixture(autouse=True)
def _with_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(SCRIPT)


def test_a_check_prints_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mine.py:good", "--samples", "40"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("permutation-8   order of size 8, real costs, minimised\n")
    assert "40 of 40 as reference" in said
    assert said.endswith("No differences.\n")


def test_a_difference_gives_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "mine.py:wrong", "--samples", "40"]) == 1
    assert "Difference: the solution [0, 1, 2" in capsys.readouterr().out


def test_a_check_of_an_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo/qap", "--samples", "20"]) == 0
    assert "as differences of costs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [("broken", "this line is 'return som;'"), ("none", "function= returned None")],
)
def test_a_check_names_errors_of_functions(
    capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    assert main(["check", f"mine.py:{name}"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("islands: ")
    assert said.count("\n") == 1
    assert message in said


def run(*line: str, launcher: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*launcher, *ready_python(), "-m", "islands", *line]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_real_costs_are_numbers_in_all_files(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "mine.py:good", *FEW, "--stop", "generations=9", "--out", "out", "--json"]
    assert main(line) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert isinstance(result["cost"], float)
    (trace,) = Path("out/trace").glob("*.parquet")
    table = parquet.read_table(trace)
    for column in ("best", "mean", "worst"):
        assert str(table.schema.field(column).type) == "double"
    assert min(table["best"].to_pylist()) == result["cost"]
    (migrations,) = Path("out/migrations").glob("*.parquet")
    schema = parquet.read_schema(migrations)
    costs = [field for field in schema if "cost" in field.name]
    assert costs
    assert all(str(field.type) == "double" for field in costs)
    assert main(["verify", "mine.py:good", "out"]) == 0
    assert "(correct)" in capsys.readouterr().out


def test_a_stated_problem_is_resumed_on_another_number_of_ranks(
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "mine.py:good", *FEW]
    assert main([*line, "--stop", "generations=8", "--out", "part"]) == 0
    capsys.readouterr()
    assert main([*line, "--stop", "generations=20", "--out", "all", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    Path("mine.py").rename("moved.py")  # the problem is in the run's folder
    line = ["-m", "islands", "resume", "part", "--stop", "generations=20", "--quiet", "--json"]
    rest = standing_ranks.run(2, *line)
    assert rest.returncode == 0, rest.stderr
    two = json.loads(rest.stdout.splitlines()[0])
    assert (one["digest"], one["cost"]) == (two["digest"], two["cost"])
    assert two["ranks"] == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "function= returned None. Return one number"),
        ("broken", "cost.cu:4:12: error: "),
        ("failing", "function= raised ValueError: too late"),
    ],
)
def test_two_ranks_print_one_error(mpirun: list[str], name: str, message: str) -> None:
    line = ("run", f"mine.py:{name}", *FEW, "--algorithm", "ga", "--stop", "generations=90")
    done = run(*line, "--out", "out", launcher=(*mpirun, "2"))
    assert done.returncode == 1
    lines = [each for each in done.stderr.splitlines() if "islands: " in each]
    # mpirun ends the other rank with SIGTERM, which may announce a checkpoint.
    (said,) = [each for each in lines if each != "islands: SIGTERM; writing a checkpoint"]
    assert message in said
    assert "Traceback" not in done.stderr
