"""With local search, a run ends at the generation in which it reaches its limit of evaluations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeProblem
from problems_for_tests import cities, facilities

import islands
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.backends.base import Backend
from islands.cli import main
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.problems.base import Problem
from islands.record.solution import recorded
from islands.run.concurrent import run_concurrently
from islands.run.pace import Pace, most_evaluations
from islands.testing.ranks import on_ranks

N = 30
SEARCHING: dict[str, Any] = {
    "algorithm": "ga",
    "encoding": "permutation",
    "population": 20,
    "islands": 2,
    "seed": 5,
    "improver": "swap",
    "improver.rate": 0.5,
    "improver.steps": 1,
    "interval": 20,
    "record.every": 20,
}


def counted(problem: Any, backend: str, every: int, last: int) -> list[int]:
    """Return the number of evaluations after each generation with local search."""
    solver = islands.Solver(problem, backend=backend, **SEARCHING | {"improver.every": every})
    found = []
    for _ in range(last // every):
        solver.evolve(every)
        found.append(sum(each.evaluations for each in solver._archipelago.measure()))
    return found


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_ends_in_the_generation_that_reaches_the_limit(
    backend: Backend, tmp_path: Path, every: int
) -> None:
    problem = cities(N, tmp_path)
    all_counts = counted(problem, backend.name, every, 12)
    for k, limit in ((2, all_counts[2]), (2, all_counts[1] + 1), (0, 1)):
        asked = {**SEARCHING, "improver.every": every, "stop": f"evaluations={limit}"}
        result = islands.solve(problem, backend=backend.name, **asked)
        wanted = (0, 40) if limit == 1 else (every * (k + 1), all_counts[k])
        assert (result.generations, result.evaluations) == wanted


def test_a_limit_is_found_after_any_resumption_and_on_two_ranks(tmp_path: Path) -> None:
    problem = cities(N, tmp_path)
    counts = counted(problem, "cpu", 1, 12)
    more: dict[str, Any] = {"backend": "cpu", **SEARCHING}
    whole = islands.solve(problem, stop=f"evaluations={counts[10]}", **more)
    assert whole.generations == 11
    for result in on_ranks(
        2,
        lambda world: islands.solve(
            problem, stop=f"evaluations={counts[10]}", world=world, threads=1, **more
        ),
    ):
        assert (result.generations, result.digest) == (11, whole.digest)
    # A run that such a limit has ended inside an epoch is continued.
    stops = [f"evaluations={counts[4]}", f"evaluations={counts[10]}"]
    folder = tmp_path / "out"
    first = islands.solve(problem, stop=stops[0], out=str(folder), **more)
    assert first.generations == 5
    assert main(["resume", str(folder), "--stop", stops[1], "--quiet"]) == 0
    assert recorded(folder).result.digest == whole.digest


def test_other_criteria_are_only_checked_at_the_end_of_an_epoch(tmp_path: Path) -> None:
    problem = cities(N, tmp_path)
    more: dict[str, Any] = {"backend": "cpu", **SEARCHING}
    result = islands.solve(problem, stop=["evaluations=1e9", "target=1e9"], **more)
    assert result.generations == 0
    first = islands.solve(problem, stop="generations=1", **more).cost
    stop = ["evaluations=1e9", f"target={first}", "stagnation=1"]
    assert islands.solve(problem, stop=stop, **more).generations in (0, 20)


def pace(**options: Any) -> Pace:
    return Pace(resolve(layers({"algorithm": "brkga", **options}), FakeProblem()))


SIZE = 12
PAIRS = SIZE * (SIZE - 1) // 2
IN_BATCHES: dict[str, Any] = {
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
    return resolve(layers({**IN_BATCHES, **options}), problem)


def most(problem: Problem, **options: Any) -> float:
    return most_evaluations(spec_of(problem, **options), problem)


def test_bounds_of_the_evaluations_in_a_generation() -> None:
    problem = facilities(SIZE)
    assert most(problem) == 2 * 20 * (1 + PAIRS)
    assert most(problem, **{"improver.steps": 3}) == 2 * 20 * (1 + 3 * PAIRS)
    assert most(problem, **{"improver.scope": "position"}) == 2 * 20 * SIZE
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
    problem = facilities(SIZE)
    options = {**IN_BATCHES, "improver.rate": 1.0, "improver.strategy": strategy}
    bound = most_evaluations(resolve(layers(options), problem), problem)
    solver = islands.Solver(problem, backend=backend.name, **options)
    before, largest = 2 * 20, 0  # generation 0 is evaluated, too
    for _ in range(60):
        solver.evolve(1)
        evaluations = sum(each.evaluations for each in solver._archipelago.measure())
        before, largest = evaluations, max(largest, evaluations - before)
    assert (bound if strategy == "best" else bound / 10) <= largest <= bound


@pytest.mark.parametrize(
    ("options", "migration"),
    [({}, "ring"), ({"improver.every": 3}, "none"), ({"improver": "none"}, "ring")],
)
def test_runs_end_in_the_same_generation_as_single_runs(
    monkeypatch: pytest.MonkeyPatch,
    backend: Backend,
    tmp_path: Path,
    options: dict[str, Any],
    migration: str,
) -> None:
    problem, measured = cities(SIZE, tmp_path), list[int]()
    own = {**IN_BATCHES, **options, "migration": migration, "interval": 7}
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
