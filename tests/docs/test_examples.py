"""The examples in docs/examples run in all documented ways, and their costs are right."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from examples_for_tests import FOLDER, NAMES, example, plain_cost, small
from pages import ROOT
from standing_ranks import StandingRanks

import islands


def _output(*line: str | Path, folder: Path = ROOT) -> str:
    command = list(map(str, line))
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran.stdout


def _checked_costs(output: str) -> None:
    """Check that the result is shown once, with the same cost in NumPy."""
    (found,) = re.findall(r"^Best (\S+) .*; checked again by [\w =]+: (\S+)$", output, re.MULTILINE)
    assert found[0] == found[1]


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that copies a script into an empty folder, without this checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return lambda name: Path(shutil.copy(FOLDER / f"{name}.py", tmp_path))


@pytest.mark.slow
def test_the_colonies_exchange_solutions_on_one_rank_and_on_two(
    standing_ranks: StandingRanks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # there may be one GPU only
    for ranks in (1, 2):
        ran = standing_ranks.run(ranks, str(FOLDER / "colonies.py"), "0.5")
        assert ran.returncode == 0, ran.stderr
        output = ran.stdout
        _checked_costs(output)
        costs = [int(cost) for cost in re.findall(r"^colony \d: .*, (\d+)$", output, re.MULTILINE)]
        (best,) = {int(cost) for cost in re.findall(r"^Best (\d+) ", output, re.MULTILINE)}
        assert len(costs) == 2 * ranks
        assert min(costs) == best
        for crossings in re.findall(r"after (\d+) crossings$", output, re.MULTILINE):
            assert int(crossings) > 0


@pytest.mark.slow
@pytest.mark.parametrize("ranks", ["1", "2"])
@pytest.mark.parametrize("name", NAMES)
def test_the_script_runs_with_only_the_wheel(
    name: str, ranks: str, installed: Path, alone: Callable[[str], Path], mpirun: list[str]
) -> None:
    script = alone(name)
    command = [*mpirun, ranks, str(installed)]
    _checked_costs(_output(*command, script.name, "0.1", folder=script.parent))


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
        if name == "set_covering" and cost >= 1000:  # a row is not covered
            continue
        assert cost == pytest.approx(plain_cost(name, problem, solution), rel=1e-9)
        compared += 1
    assert compared >= 5


def test_the_rules_of_rosters_are_those_of_their_state() -> None:
    assert islands.check_problem(example("rostering").make(12), samples=30).works


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_the_examples_are_typed(installed: Path, alone: Callable[[str], Path]) -> None:
    scripts = [alone(path.stem) for path in sorted(FOLDER.glob("*.py"))]
    _output(installed, "-m", "mypy", "--strict", *scripts, folder=scripts[0].parent)


NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    pytest.importorskip("matplotlib")
    text = "\n".join("".join(cell["source"]) for cell in code_cells(notebook))
    settings = "import matplotlib\nmatplotlib.use('agg')\n"
    _output(sys.executable, "-c", settings + text, folder=FOLDER)
