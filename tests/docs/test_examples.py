"""The examples in docs/examples run in all documented ways, and their costs are right."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from examples_for_tests import FOLDER, NAMES, example, plain_cost, small
from pages import ROOT

import islands


def _output(*line: str | Path, folder: Path = ROOT) -> str:
    ran = subprocess.run(
        list(map(str, line)), capture_output=True, text=True, timeout=300, check=False, cwd=folder
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran.stdout


def _checked_costs(output: str) -> None:
    """Check that the result is shown once, with the same cost in NumPy."""
    (found,) = re.findall(r"^Best (\S+) .*; checked again by [\w =]+: (\S+)$", output, re.MULTILINE)
    assert found[0] == found[1]


def test_all_scripts_are_tested() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    assert scripts == {*NAMES, "compare"}


@pytest.mark.parametrize("name", NAMES)
def test_the_script_runs(name: str) -> None:
    _checked_costs(_output(sys.executable, FOLDER / f"{name}.py", "0.1"))


@pytest.mark.parametrize("name", NAMES)
def test_the_script_runs_on_two_ranks(name: str, mpirun: list[str]) -> None:
    _checked_costs(_output(*mpirun, "2", sys.executable, FOLDER / f"{name}.py", "0.1"))


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_runs_the_problem_of_the_script(name: str, tmp_path: Path) -> None:
    output = _output(
        *(sys.executable, "-m", "islands", "run", f"{FOLDER / name}.py:problem"),
        *("--stop", "generations=3", "--backend", "cpu", "--json"),
        folder=tmp_path,
    )
    assert json.loads(output)["generations"] == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_best_solution_is_feasible_and_its_cost_right(name: str) -> None:
    problem = small(name)
    result = islands.solve(problem, generations=30, islands=2, population=32, backend="cpu")
    assert result.cost == pytest.approx(plain_cost(name, problem, result.solution), rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_right_for_random_solutions(name: str) -> None:
    problem = small(name)
    solutions = problem.kind.drawn(20, seed=3)
    if name == "set_covering":
        solutions[:, 10:] = 1  # most are feasible
    costs = problem.costs(solutions)
    assert problem.program_costs(solutions, "cpu") == pytest.approx(costs, rel=1e-9)
    compared = 0
    for solution, cost in zip(solutions, costs, strict=True):
        if name == "set_covering" and cost >= example(name).PENALTY:
            continue
        assert cost == pytest.approx(plain_cost(name, problem, solution), rel=1e-9)
        compared += 1
    assert compared >= 5


def test_an_uncovered_row_costs_the_penalty() -> None:
    problem = small("set_covering")
    nothing = problem.kind.drawn(1, seed=1) * 0
    assert problem.costs(nothing) == problem.program_costs(nothing, "cpu") == 4 * 1000


@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_the_examples_are_typed() -> None:
    _output(sys.executable, "-m", "mypy", "--strict", *sorted(FOLDER.glob("*.py")))


def test_the_notebook_runs() -> None:
    pytest.importorskip("matplotlib")
    notebook = json.loads((FOLDER / "plot.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    text = "\n".join("".join(cell["source"]) for cell in cells)
    settings = "import matplotlib\nmatplotlib.use('agg')\n"
    assert "'generation'" in _output(sys.executable, "-c", settings + text, folder=FOLDER)


def test_the_bounds_of_the_comparison_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    compare = example("compare")
    cost, bound = compare.highs_covering(50, seconds=10)
    assert cost == pytest.approx(bound)
    value, bound = compare.highs_quadratic(30, seconds=10)
    assert value == pytest.approx(bound)
    problem = example("binary_quadratic").make(30)
    few = {"islands": 2, "population": 64, "backend": "cpu"}
    assert islands.solve(problem, target=value, generations=2000, **few).cost == pytest.approx(
        value
    )
    problem = example("set_covering").make(50)
    assert islands.solve(problem, target=cost, generations=2000, **few).cost == pytest.approx(cost)
    assert compare.machine_bound(20) <= islands.solve(small("flow_shop"), generations=9, **few).cost
    routes = compare.clusters(20)
    best = islands.solve(routes, generations=500, seed=2, **few).cost
    assert best == compare.served_by_cluster(routes)
