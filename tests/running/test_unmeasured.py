"""The host measures the runs of a batch only when one of them may end."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities, facilities

import islands
from islands.algorithms import ALGORITHMS
from islands.algorithms.de import De
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.problems.base import Problem
from islands.run.concurrent import run_concurrently
from islands.run.pace import last_unmeasured, most_evaluations

N = 12
PAIRS = N * (N - 1) // 2
SEARCHING: dict[str, Any] = {
    "algorithm": "de",
    "population": 20,
    "islands": 2,
    "seed": 5,
    "migration": "none",
    "improver": "two_opt",
    "improver.rate": 0.2,
    "improver.steps": 1,
    "record.every": 4,
}
_COLONY = {
    "algorithm": "de",
    "population": 20,
    "islands": 1,
    "improver.name": "swap",
    "improver.steps": 1,
}


def spec_of(problem: Problem, **options: Any) -> RunSpec:
    return resolve(layers({**SEARCHING, **options}), problem)


def most(problem: Problem, **options: Any) -> float:
    return most_evaluations(spec_of(problem, **options), problem)


def test_bounds_of_the_evaluations_in_a_generation() -> None:
    problem = facilities(N)
    assert most(problem) == 2 * 20 * (1 + PAIRS)
    assert most(problem, **{"improver.steps": 3}) == 2 * 20 * (1 + 3 * PAIRS)
    assert most(problem, **{"improver.scope": "position"}) == 2 * 20 * N
    assert most(problem, **{"improver.steps": 0}) == math.inf
    assert most(problem, improver="none") == 2 * 20
    assert most(problem, improver="tabu") == math.inf
    assert most(problem, algorithm="cellular") == 2 * 20 * (2 + PAIRS)
    assert most(problem, algorithm="tempering", improver="none", population=16) == math.inf
    colonies = [{**_COLONY, "rate": 3}, {**_COLONY, "improver.name": "none", "islands": 2}]
    spec = resolve(layers({"colonies": colonies}), problem)
    assert most_evaluations(spec, problem) == 3 * 20 * (1 + PAIRS) + 2 * 20


@pytest.mark.parametrize("strategy", ["first", "best"])
def test_no_generation_exceeds_the_bound(backend: Backend, strategy: str) -> None:
    problem = facilities(N)
    options = {**SEARCHING, "improver.rate": 1.0, "improver.strategy": strategy}
    bound = most_evaluations(resolve(layers(options), problem), problem)
    solver = islands.Solver(problem, backend=backend.name, **options)
    before, largest = 2 * 20, 0  # generation 0 is evaluated, too
    for _ in range(60):
        solver.evolve(1)
        evaluations = sum(each.evaluations for each in solver._archipelago.measure())
        before, largest = evaluations, max(largest, evaluations - before)
    assert (bound if strategy == "best" else bound / 10) <= largest <= bound


def test_evaluations_of_an_algorithm_of_a_script_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Mine(De):
        pass

    problem = facilities(N)
    spec = spec_of(problem)
    monkeypatch.setitem(ALGORITHMS, "de", Mine)
    assert most_evaluations(spec, problem) == math.inf


def test_steps_are_powers_of_two_below_the_limit_and_the_interval() -> None:
    limited = spec_of(facilities(N), stop=["generations=9", "evaluations=10000"])
    found = [
        last_unmeasured(limited, 7, 100, [50, each]) for each in (0, 8_299, 8_300, 9_800, 9_900)
    ]
    assert found == [7 + 63, 7 + 15, 7 + 15, 7 + 1, 7]
    assert last_unmeasured(limited, 7, 100, [20_000]) == 7
    assert last_unmeasured(limited, 7, math.inf, [0]) == 7
    assert last_unmeasured(limited, 7, 1, [0]) == 7 + 1023
    assert (
        last_unmeasured(spec_of(facilities(N), stop="generations=9"), 7, math.inf, [0]) == 7 + 1023
    )
    target = spec_of(facilities(N), stop=["evaluations=10000", "target=1"])
    assert last_unmeasured(target, 7, 1, [0]) == 0


@pytest.mark.parametrize("options", [{}, {"improver.every": 3}, {"improver": "none"}])
@pytest.mark.parametrize("migration", ["none", "ring"])
def test_runs_end_in_the_same_generation_as_single_runs(
    monkeypatch: pytest.MonkeyPatch,
    backend: Backend,
    tmp_path: Path,
    options: dict[str, Any],
    migration: str,
) -> None:
    problem, measured = cities(N, tmp_path), list[int]()
    own = {**SEARCHING, **options, "migration": migration, "interval": 7}
    asked = {**own, "stop": ["generations=2000", "evaluations=60000"]}
    alone = [islands.solve(problem, backend=backend.name, **{**asked, "seed": s}) for s in (5, 6)]
    measure = Archipelago.measure

    def noted(archipelago: Archipelago) -> list[IslandMeasure]:
        measured.append(archipelago.generation)
        return measure(archipelago)

    monkeypatch.setattr(Archipelago, "measure", noted)
    runs = run_concurrently(resolve(layers(asked), problem), problem, 2, backend).runs
    assert [(run.digest, run.progress.generation, run.reason) for run in runs] == [
        (each.digest, each.generations, each.reason) for each in alone
    ]
    last = max(run.progress.generation for run in runs)
    assert measured[-1] == last
    assert len(measured) < last / 2
