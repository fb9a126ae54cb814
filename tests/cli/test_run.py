"""`islands run` on the CPU: files and output of small runs, rejections, and lower bounds."""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands_for_tests import Capture, Patch, done

import islands
from islands.bounds import methods
from islands.cli import main
from islands.problems import load
from islands.record.solution import recorded
from islands.report.recorded import RecordedRun
from islands.report.single import page_of

SMALL = ["demo/tsp", "--population", "64", "--islands", "4", "--interval", "20"]
SMALL += ["--backend", "cpu", "--improver", "none"]


def test_standard_output_is_only_json(capsys: Capture) -> None:
    options = ["--stop", "generations=60", "--seed", "3", "--algorithm", "brkga"]
    result = done(capsys, "run", *SMALL, *options)
    problem = load("demo/tsp")
    assert (result["instance"], result["problem"]) == ("demo/tsp", "tsp")
    assert (result["algorithm"], result["encoding"]) == ("brkga", "keys")
    assert sorted(result["solution"]) == list(range(problem.size))
    assert result["best_known"] == problem.best_known.value
    assert result["gap"] == pytest.approx(100 * result["cost"] / result["best_known"] - 100)
    assert (result["generations"], result["seed"], result["islands"]) == (60, 3, 4)
    # 4 islands of 64: 6 elite individuals are not evaluated again in each generation.
    assert result["evaluations"] == 4 * (64 + 60 * 58)
    assert 0 < result["seconds"] < 60
    assert (result["ranks"], result["backend"], result["transport"]) == (1, "cpu", "device")
    assert len(result["digest"]) == 64
    assert Path(result["folder"], "solution.tour").exists()


def test_run_toml_repeats_the_run(capsys: Capture) -> None:
    options = ["--preset", "xavier2019", "--set", "rho=0.65", "--migration", "ring", "--seed", "4"]
    first = done(capsys, "run", *SMALL, *options, "--stop", "generations=50", "--out", "a")
    again = done(capsys, "run", "--config", "a/run.toml")
    differ = {"seconds", "compile_seconds", "rank_seconds", "folder"}
    assert {key for key in first if first[key] != again[key]} <= differ
    assert again["folder"] != first["folder"]
    assert Path(again["folder"], "run.toml").read_text() == Path("a", "run.toml").read_text()


def test_different_spellings_of_a_value_are_equal(capsys: Capture) -> None:
    line = "run demo/tsp --set instance=demo/tsp --seed 5 --seed 05 --set seed=5 --set rho=.60"
    line += " --set rho=0.6 --improver 2opt --set improver.name=two_opt --population 16"
    line += " --set checkpoint.every=1m --set checkpoint.every=60 --backend cpu --threads 1"
    line += " --stop generations=2 --set stop=generations=2 --out a"
    result = done(capsys, *line.split())
    assert (result["seed"], result["generations"]) == (5, 2)
    text = Path("a/run.toml").read_text()
    assert "rho = 0.6\n" in text
    assert 'name = "two_opt"\n' in text


@pytest.mark.parametrize(
    "line",
    [
        "run demo/tsp --start none.tour",
        "run demo/tsp --runs 2 --algorithm brkga --set rho=2",
        "run demo/tsp --batch --algorithm nothing",
        "tune demo/tsp --algorithm brkga --over elite=0.95 --grid",
    ],
)
def test_a_rejection_is_one_line_and_leaves_no_folder(line: str, capsys: Capture) -> None:
    assert main([*line.split(), "--backend", "cpu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("islands: ")
    assert (captured.err.count("\n"), captured.out) == (1, "")
    assert list(Path().iterdir()) == []


FEW = ["run", "tsplib/berlin52", "--stop", "generations=3", "--backend", "cpu", "--bound"]


@pytest.mark.usefixtures("published")
def test_the_bound_is_in_the_json_the_folder_and_the_report(capsys: Capture) -> None:
    found = done(capsys, *FEW, "--out", "a")
    bound = found["bound"]
    assert 7500 <= bound <= 7542  # the optimum, or less if time was short
    assert (found["bound_kind"], found["bound_estimate"]) == ("1-tree", None)
    assert found["bound_gap"] == pytest.approx(100 * (found["cost"] - bound) / bound)
    kept = recorded(Path("a")).result
    assert (kept.bound, kept.bound_kind) == (bound, "1-tree")
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
        return computed(*given)

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
    again = done(capsys, "resume", "a")
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
    found = done(capsys, *asked)
    assert (found["cost"], found["bound"], found["bound_gap"]) == (141278, 141278, 0)
