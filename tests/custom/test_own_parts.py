"""Parts from scripts, compared with built-in ones, and errors that show the line of a script."""

from pathlib import Path
from typing import Any

import copied_parts
import pytest
from synthetic import uniform_tsp
from user_algorithm import Threshold

import islands
from islands import Solver, solve
from islands.algorithms.operators import CROSSOVERS
from islands.custom.scripts import module_of, script_errors, script_line
from islands.custom.trust import trust_files
from islands.errors import InputError
from islands.problems.tsp import Tsp

FEW: dict[str, Any] = {
    "islands": 4, "population": 16, "backend": "cpu", "threads": 1, "interval": 3,
    "migrants": 1,
}  # fmt: skip
BUILT_IN: dict[str, Any] = {
    "algorithm": "ga", "encoding": "keys", "crossover": "two_point", "mutation": "insertion",
    "improver": "swap", "migration": "ring",
}  # fmt: skip
OWN: dict[str, list[Any]] = {
    "algorithm": [copied_parts.Breed],
    "encoding": [copied_parts.Digits],
    "crossover": [copied_parts.Spread, copied_parts.Spread()],
    "mutation": [copied_parts.Shift()],
    "improver": [copied_parts.Climb],
    "migration": [copied_parts.circle, copied_parts.Circle, copied_parts.Circle()],
}
ALL = {name: parts[0] for name, parts in OWN.items()}


def digest(problem: Any = "demo/tsp", **settings: Any) -> str:
    return solve(problem, stop="generations=9", **FEW, **settings).digest


@pytest.fixture(scope="module")
def usual() -> str:
    return digest(**BUILT_IN)


PARTS = [(name, part) for name, parts in OWN.items() for part in parts]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PARTS)
def test_a_custom_part_gives_the_built_in_result(usual: str, name: str, part: Any) -> None:
    assert digest(**BUILT_IN | {name: part}) == usual


@pytest.mark.slow
def test_all_parts_may_be_custom() -> None:
    file = uniform_tsp(9, seed=1)
    assert digest(copied_parts.Tour(file), **ALL) == digest(Tsp(file), **BUILT_IN)


@pytest.mark.slow
def test_a_solver_accepts_custom_parts() -> None:
    problem = copied_parts.Tour(uniform_tsp(9, seed=1))
    solvers = [Solver(problem, **FEW, **each) for each in (BUILT_IN, ALL)]
    for each in solvers:
        each.evolve(3)
        each.exchange()
        each.evolve(2)
    one, other = ([each.cost for each in solver.best(5)] for solver in solvers)
    assert one == other


@pytest.mark.slow
def test_a_part_with_the_same_name_replaces_the_earlier_one(tmp_path: Path) -> None:
    class Spread(islands.Crossover):
        name = "spread"
        encodings = ("keys",)
        header = copied_parts.copied("crossovers/one_point.cuh", "spread.cuh")
        scratch = (1,)

    own = [digest(**BUILT_IN | {"crossover": each}) for each in (copied_parts.Spread, Spread)]
    built_in = [digest(**BUILT_IN | {"crossover": each}) for each in ("two_point", "one_point")]
    assert own == built_in
    assert own[0] != own[1]
    assert isinstance(CROSSOVERS["spread"], Spread)


def test_an_object_without_attributes_stands_for_its_class() -> None:
    few = {"islands": 2, "population": 12, "interval": 3, "backend": "cpu", "improver": "none"}
    found = [
        solve("demo/tsp", algorithm=each, stop="generations=7", **few).digest
        for each in (Threshold, Threshold())
    ]
    assert found[0] == found[1]


def test_a_later_call_shows_its_line_too(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("import json\n\ndef outer(text):\n    return json.loads(text)\n")
    trust_files([path])
    outer = module_of(path).outer
    with pytest.raises(InputError, match=r"cost: .*own\.py, line 4, ") as caught:  # noqa: SIM117
        with script_errors(path, "cost"):
            outer("nothing")
    cause = caught.value.__cause__
    assert cause is not None
    assert script_line(cause) == f"{path}, line 4, 'return json.loads(text)'"
    assert script_line(ValueError("of islands")) == ""
