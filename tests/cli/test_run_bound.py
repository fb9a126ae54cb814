"""`islands run --bound`: where the lower bound appears, and what is refused."""

from __future__ import annotations

import csv
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import islands
from islands.bounds import methods
from islands.cli import main
from islands.progress.result import Result
from islands.record.solution import recorded
from islands.report.recorded import RecordedRun
from islands.report.single import page_of

FEW = ["run", "tsplib/berlin52", "--stop", "generations=3", "--backend", "cpu", "--bound"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_bound_is_in_the_json_the_folder_and_the_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*FEW, "--out", "a", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bound"], found["bound_kind"], found["bound_estimate"]) == (7542, "1-tree", None)
    assert found["bound_gap"] == pytest.approx(100 * (found["cost"] - 7542) / 7542)
    kept = recorded(Path("a")).result
    assert (kept.bound, kept.bound_kind) == (7542, "1-tree")
    assert "bound = true" in Path("a", "run.toml").read_text()
    assert "lower bound" in page_of(RecordedRun.read(Path("a"))).html()


def test_a_series_keeps_the_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--runs", "2", "--out", "ten"]) == 0
    with Path("ten/runs.tsv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, dialect="excel-tab"))
    assert [(row["bound"], row["bound_kind"]) for row in rows] == [("7542", "1-tree")] * 2
    costs = [float(row["cost"]) for row in rows]
    gaps = [float(row["bound_gap"]) for row in rows]
    assert gaps == pytest.approx([100 * (cost - 7542) / 7542 for cost in costs])
    assert "tsplib/berlin52: lower bound 7542, gap of the best " in capsys.readouterr().out


def test_the_text_ends_with_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--quiet"]) == 0
    line = capsys.readouterr().out.splitlines()[2]
    assert line.startswith("Lower bound 7542 (1-tree, ")


def test_without_the_option_there_is_no_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW[:-1], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bound"], found["bound_gap"], found["bound_kind"]) == (None, None, "")


def test_other_problems_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo/qap", "--bound"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "--bound: bounds are computed for tsp and mkp" in lines[0]


def test_in_python_a_matrix_has_a_bound_too() -> None:
    far = [[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 50], [9, 1, 50, 0]]
    result = islands.solve(islands.tsp(distances=far), generations=2, backend="cpu", bound=True)
    assert result.bound == result.cost == 20
    assert "this is the optimum" in str(result)


def compute_by(function: Callable[..., Any], patch: pytest.MonkeyPatch) -> None:
    """Let a function compute the bounds of tours."""
    patch.setattr(methods, "_TOUR", replace(methods._TOUR, compute=function))


def test_a_signal_ends_the_bound_and_keeps_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    computed = methods.lower_bound

    def interrupted(*given: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        is_stopped = given[-1]
        assert callable(is_stopped)
        while not is_stopped():
            pass
        return computed(*given)  # type: ignore[arg-type]

    compute_by(interrupted, monkeypatch)
    assert main([*FEW, "--out", "a", "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["bound"] < 7542
    assert found["bound_seconds"] < 1
    assert found["interrupted"]
    assert Path("a", "solution.tour").exists()
    compute_by(computed, monkeypatch)
    assert main(["resume", "a", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["bound"], again["interrupted"]) == (7542, False)
    assert (again["digest"], again["cost"]) == (found["digest"], found["cost"])


def test_a_suspension_ends_the_bound_of_a_complete_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    computed = methods.lower_bound

    def ended(*given: object) -> object:
        os.kill(os.getpid(), signal.SIGTERM)
        is_stopped = given[-1]
        assert callable(is_stopped)
        while not is_stopped():
            pass
        return computed(*given)  # type: ignore[arg-type]

    compute_by(ended, monkeypatch)
    assert main([*FEW, "--out", "a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bound"] < 7542


def test_the_solution_is_written_before_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> object:
        raise SystemExit(9)

    compute_by(ended, monkeypatch)
    assert main([*FEW, "--out", "a", "--quiet"]) == 9
    assert Path("a", "solution.tour").exists()
    kept = recorded(Path("a")).result
    assert (kept.generations, kept.interrupted, kept.bound) == (3, False, None)


def test_an_estimate_is_not_called_a_bound() -> None:
    words = _result(bound_estimate=200).bound_words()
    assert words == "not proven in time; about 200 (estimate, 0.5 s), gap 5.00%"


def _result(**facts: object) -> Result:
    from results_for_tests import result

    return result(bound_kind="estimate", bound_gap=5.0, bound_seconds=0.5, **facts)


def test_a_knapsack_gets_an_upper_bound(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "sac94/weing1", "--stop", "generations=40", "--backend", "cpu", "--bound"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cost"], found["bound"], found["bound_gap"]) == (141278, 141278, 0)
    assert main([*asked, "--quiet", "--out", "again"]) == 0
    line = capsys.readouterr().out.splitlines()[2]
    assert line.startswith("Upper bound 141278 (branch-and-cut, ")
    assert line.endswith("this is the optimum")
