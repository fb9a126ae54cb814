"""The exact solvers of docs/examples solve the problems that are stated to islands."""

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from examples_for_tests import FOLDER, example
from numpy.typing import NDArray

pytest.importorskip("scipy")
RIVALS = [("HiGHS", "scipy"), ("CP-SAT", "ortools")]


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return example("exact_solvers")


def fits(program: Any, solution: NDArray[Any]) -> bool:
    """Return whether a solution keeps all rows of a program without other variables."""
    values = np.zeros(len(program.costs), np.int64)
    values[program.table()[np.arange(len(solution)), solution]] = 1
    return all(
        low <= factors @ values[variables] <= high for variables, factors, low, high in program.rows
    )


@pytest.mark.parametrize(("rival", "package"), RIVALS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_facilities_have_the_optimum(
    exact: ModuleType, rival: str, package: str, seed: int
) -> None:
    pytest.importorskip(package)
    problem = example("facility_location").make(3, 6, seed)
    every = np.array([*itertools.product(range(3), repeat=6)])
    best = problem.costs(every)[problem.violations(every) == 0].min()
    found = exact.RIVALS[rival][1](exact.facilities(problem), 60, 1)
    assert problem.cost(found.solution) == best == round(found.bound)


@pytest.mark.slow
@pytest.mark.parametrize(("rival", "package"), RIVALS)
def test_rosters_are_solved_under_equal_rules(exact: ModuleType, rival: str, package: str) -> None:
    pytest.importorskip(package)
    problem = example("rostering").make(18, 2)
    program = exact.roster(problem)
    found = exact.RIVALS[rival][1](program, 60, 1)
    assert problem.cost(found.solution) == round(found.bound)
    random, others = np.random.default_rng(1), list[NDArray[Any]]()
    for _ in range(2000):
        # Exchanges on a day keep its cover, so that the rules of nurses matter.
        day, nurses = random.integers(14), random.permutation(18)[: random.integers(1, 4)]
        other = found.solution.copy()
        other[nurses * 14 + day] = other[np.roll(nurses, 1) * 14 + day]
        if len(nurses) == 1:
            other[nurses * 14 + day] = random.integers(4)
        others.append(other)
    kept = [fits(program, other) for other in others]
    assert kept == (problem.violations(np.array(others)) == 0).tolist()
    assert 0.05 < np.mean(kept) < 0.95
