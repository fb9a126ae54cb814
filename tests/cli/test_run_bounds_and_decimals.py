"""`islands run` with lower bounds, and of knapsacks with decimals."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

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
