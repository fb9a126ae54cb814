"""`islands run` on small knapsacks: settings, decimals, and no feasible solution."""

from __future__ import annotations

import csv
import itertools
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from islands.cli import main

ITEMS, CONSTRAINTS = 12, 2
SMALL = ["--population", "32", "--islands", "2", "--backend", "cpu", "--threads", "1"]
WAYS = ("repair", "drop", "linear", "dynamic")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Numbers:
    """A knapsack problem whose profits have one decimal."""

    def __init__(self, seed: int, share: str = "0.4") -> None:
        rng = np.random.default_rng(seed)
        self.profits = [Decimal(int(tenths)) / 10 for tenths in rng.integers(101, 1000, ITEMS)]
        self.weights = rng.integers(5, 60, (CONSTRAINTS, ITEMS)).tolist()
        self.capacities = [int(sum(row) * Decimal(share)) for row in self.weights]

    def text(self, optimum: object = 0) -> str:
        """Return the problem in the format of the OR-Library."""
        rows = [[ITEMS, CONSTRAINTS, optimum], self.profits, *self.weights, self.capacities]
        return "\n".join(" ".join(map(str, row)) for row in rows)

    def best(self) -> Decimal:
        """Return the best profit of all subsets."""
        return max(
            sum((p for p, is_in in zip(self.profits, chosen, strict=True) if is_in), Decimal(0))
            for chosen in itertools.product((0, 1), repeat=ITEMS)
            if all(
                sum(w for w, is_in in zip(row, chosen, strict=True) if is_in) <= capacity
                for row, capacity in zip(self.weights, self.capacities, strict=True)
            )
        )


def written(*problems: str) -> str:
    Path("some.txt").write_text("\n".join([str(len(problems)), *problems]), encoding="utf-8")
    return "some.txt"


def solved(capsys: pytest.CaptureFixture[str], *options: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *options, *SMALL, "--json"]) == status
    out = capsys.readouterr().out
    return dict(json.loads(out)) if out else {}


@pytest.mark.parametrize("way", WAYS)
def test_profits_with_decimals_are_exact(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    problem = Numbers(3)
    name, best = written(problem.text(), problem.text(problem.best())), problem.best()
    stop = ["--stop", f"target={best}", "--stop", "generations=500"]
    first = solved(capsys, f"{name}:00", "--set", f"infeasible={way}", *stop, "--out", "a")
    assert (str(first["cost"]), first["best_known"]) == (str(best), None)
    assert first["reason"] == f"target {best} reached"
    chosen = first["solution"]
    assert sum(problem.profits[item] for item in chosen) == best
    assert [int(word) - 1 for word in Path("a/solution.sol").read_text().split()] == chosen
    # The optimum in the file is the best known value of the second problem, and not proven.
    stop = ["--stop", "best-known", "--stop", "generations=500"]
    second = solved(capsys, f"{name}:01", "--set", f"infeasible={way}", *stop)
    assert (str(second["best_known"]), second["gap"]) == (str(best), 0.0)
    assert second["reason"] == f"best known cost {best} reached"
    assert main(["verify", f"{name}:00", "a"]) == 0
    assert f"\nprofit {best}\n" in capsys.readouterr().out


def test_run_is_resumed_from_any_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name = written(Numbers(1).text(), Numbers(2).text())
    options = ["--set", "infeasible=dynamic", "--stop", "generations=60"]
    whole = solved(capsys, f"{name}:01", *options)
    solved(capsys, f"{name}:01", *options, "--stop", "generations=20", "--out", "a")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    line = ["resume", "../a", "--stop", "generations=60", "--json", "--backend", "cpu"]
    assert main(line) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == whole["digest"]


def test_format_option_selects_the_reader_and_is_recorded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("numbers.dat").write_text(Numbers(1).text(), encoding="utf-8")
    options = ["--stop", "generations=3", "--format"]
    result = solved(capsys, "numbers.dat", *options, "drake", "--out", "a")
    assert result["problem"] == "mkp"
    assert 'format = "drake"' in Path("a/run.toml").read_text()
    assert solved(capsys, "--config", "a/run.toml")["digest"] == result["digest"]
    solved(capsys, "numbers.dat", *options, "darke", status=2)
    assert main(["run", "numbers.dat", *SMALL, *options, "darke"]) == 2
    assert "unknown format 'darke'. Did you mean 'drake'?" in capsys.readouterr().err


IMPOSSIBLE = ["--set", "infeasible=linear", "--set", "penalty=0", "--stop", "generations=10"]


def test_run_without_a_feasible_solution_fails_and_can_be_resumed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = written(Numbers(4, share="0.01").text())
    assert main(["run", name, *SMALL, *IMPOSSIBLE, "--out", "a", "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert "No feasible solution in " in out
    assert err.startswith(f"islands: {name}: no feasible solution found in ")
    assert err.count("\n") == 1
    assert main(["resume", "a", "--stop", "generations=20", "--quiet", "--backend", "cpu"]) == 1
    assert "generation 20" in capsys.readouterr().out
    assert not Path("a/solution.parquet").exists()


def test_series_counts_runs_with_a_feasible_solution(capsys: pytest.CaptureFixture[str]) -> None:
    name = written(Numbers(4, share="0.01").text(), Numbers(3).text())
    both = [f"{name}:00", f"{name}:01"]
    found = solved(capsys, *both, *IMPOSSIBLE, "--runs", "2", "--out", "a", status=1)
    first, second = found["instances"]
    assert (first["runs"], first["without_solution"]) == (2, 2)
    assert (first["best"], first["mean"]) == (None, None)
    assert (second["runs"], second["without_solution"]) == (2, 0)
    with Path("a/runs.tsv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, dialect="excel-tab"))
    assert [each["cost"] for each in rows[::2]] == ["", ""]
    assert [float(each["cost"]) for each in rows[1::2]] == [
        each["cost"] for each in found["runs"][1::2]
    ]
    # A run without a feasible solution keeps its records so that it can be resumed.
    assert not list(Path("a").glob("some.txt:00-seed1/trace/*.parquet"))
    (trace,) = Path("a").glob("some.txt:01-seed1/trace/*.parquet")
    assert pq.read_schema(trace).field("best").type == "double"


def test_knapsack_setting_is_refused_for_tours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo/tsp", "--set", "infeasible=drop"]) == 2
    assert "infeasible: is a setting of mkp, but demo/tsp is an instance of tsp" in (
        capsys.readouterr().err
    )
