"""`islands run` with lower bounds, and of knapsacks with decimals."""

from __future__ import annotations

import csv
import itertools
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands_for_tests import Capture, Patch

import islands
from islands.bounds import methods
from islands.cli import main
from islands.record.solution import recorded
from islands.report.recorded import RecordedRun
from islands.report.single import page_of

FEW = ["run", "tsplib/berlin52", "--stop", "generations=3", "--backend", "cpu", "--bound"]


@pytest.mark.usefixtures("published")
def test_the_bound_is_in_the_json_the_folder_and_the_report(capsys: Capture) -> None:
    assert main([*FEW, "--out", "a", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bound"], found["bound_kind"], found["bound_estimate"]) == (7542, "1-tree", None)
    assert found["bound_gap"] == pytest.approx(100 * (found["cost"] - 7542) / 7542)
    kept = recorded(Path("a")).result
    assert (kept.bound, kept.bound_kind) == (7542, "1-tree")
    assert "bound = true" in Path("a", "run.toml").read_text()
    assert "lower bound" in page_of(RecordedRun.read(Path("a"))).html()


@pytest.mark.usefixtures("published")
def test_a_series_keeps_the_bounds(capsys: Capture) -> None:
    assert main([*FEW, "--runs", "2", "--out", "ten"]) == 0
    with Path("ten/runs.tsv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, dialect="excel-tab"))
    assert [(row["bound"], row["bound_kind"]) for row in rows] == [("7542", "1-tree")] * 2
    costs = [float(row["cost"]) for row in rows]
    gaps = [float(row["bound_gap"]) for row in rows]
    assert gaps == pytest.approx([100 * (cost - 7542) / 7542 for cost in costs])


def test_in_python_a_matrix_has_a_bound_too() -> None:
    far = [[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 50], [9, 1, 50, 0]]
    result = islands.solve(islands.tsp(distances=far), generations=2, backend="cpu", bound=True)
    assert result.bound == result.cost == 20


def compute_by(function: Callable[..., Any], patch: Patch) -> None:
    """Let a function compute the bounds of tours."""
    patch.setattr(methods, "_TOUR", replace(methods._TOUR, compute=function))


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_the_bound_and_keeps_the_result(
    number: int, status: int, monkeypatch: Patch, capsys: Capture
) -> None:
    computed = methods.lower_bound

    def interrupted(*given: object) -> object:
        os.kill(os.getpid(), number)
        is_stopped = given[-1]
        assert callable(is_stopped)
        while not is_stopped():
            pass
        return computed(*given)  # type: ignore[arg-type]

    compute_by(interrupted, monkeypatch)
    assert main([*FEW, "--out", "a", "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["bound"] < 7542
    assert found["bound_seconds"] < 1
    assert found["interrupted"] == (number == signal.SIGINT)
    assert Path("a", "solution.tour").exists()
    if number == signal.SIGTERM:  # the run itself is complete
        return
    compute_by(computed, monkeypatch)
    assert main(["resume", "a", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["bound"], again["interrupted"]) == (7542, False)
    assert (again["digest"], again["cost"]) == (found["digest"], found["cost"])


@pytest.mark.usefixtures("published")
def test_the_solution_is_written_before_the_bound(monkeypatch: Patch) -> None:
    def ended(*_: object) -> object:
        raise SystemExit(9)

    compute_by(ended, monkeypatch)
    assert main([*FEW, "--out", "a", "--quiet"]) == 9
    assert Path("a", "solution.tour").exists()
    kept = recorded(Path("a")).result
    assert (kept.generations, kept.interrupted, kept.bound) == (3, False, None)


@pytest.mark.usefixtures("published")
def test_a_knapsack_gets_an_upper_bound(capsys: Capture) -> None:
    asked = ["run", "sac94/weing1", "--stop", "generations=40", "--backend", "cpu", "--bound"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cost"], found["bound"], found["bound_gap"]) == (141278, 141278, 0)


ITEMS, CONSTRAINTS = 12, 2
SMALL = ["--population", "32", "--islands", "2", "--backend", "cpu", "--threads", "1"]
WAYS = ("repair", "drop", "linear", "dynamic")


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


def solved(capsys: Capture, *options: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *options, *SMALL, "--json"]) == status
    out = capsys.readouterr().out
    return dict(json.loads(out)) if out else {}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_profits_with_decimals_are_exact(way: str, capsys: Capture) -> None:
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


@pytest.mark.slow
def test_format_option_selects_the_reader_and_is_recorded(capsys: Capture) -> None:
    Path("numbers.dat").write_text(Numbers(1).text(), encoding="utf-8")
    options = ["--stop", "generations=3", "--format"]
    result = solved(capsys, "numbers.dat", *options, "drake", "--out", "a")
    assert result["problem"] == "mkp"
    assert 'format = "drake"' in Path("a/run.toml").read_text()
    assert solved(capsys, "--config", "a/run.toml")["digest"] == result["digest"]
