"""Limits of evaluations: runs end in the generation that reaches them, alone or not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import cities, facilities

import islands
from islands.backends.base import Backend
from islands.cli import main
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.budget import Budget, most_evaluations
from islands.record.solution import recorded
from islands.testing.ranks import on_ranks

N = 30
SEARCHING: dict[str, Any] = {"algorithm": "ga", "encoding": "permutation", "population": 20}
SEARCHING |= {"islands": 2, "seed": 5, "improver": "swap", "improver.rate": 0.5}
SEARCHING |= {"improver.steps": 1, "interval": 20, "record.every": 20}


def counted(problem: Any, backend: str, every: int, last: int) -> list[int]:
    """Return the number of evaluations after each generation, with a search in some."""
    solver = islands.Solver(problem, backend=backend, **SEARCHING | {"improver.every": every})
    found = []
    for _ in range(last):
        solver.evolve(1)
        found.append(sum(measure.evaluations for measure in solver._archipelago.measure()))
    return found


@pytest.mark.parametrize("every", [1, 3])
def test_a_run_ends_in_the_generation_that_reaches_the_limit(backend: Backend, every: int) -> None:
    problem = cities(N)
    all_counts = counted(problem, backend.name, every, 12)
    for k, limit in ((5, all_counts[5]), (5, all_counts[4] + 1), (6, all_counts[5] + 1), (0, 1)):
        request = {**SEARCHING, "improver.every": every, "stop": f"evaluations={limit}"}
        result = islands.solve(problem, backend=backend.name, **request)
        wanted = (0, 2) if limit == 1 else (k + 1, all_counts[k])
        assert (result.generations, result.evaluations) == wanted


def test_safe_generations_stay_below_the_limit_and_one_more_may_not() -> None:
    limit = 20_000
    resolved = resolve(Request.of({**SEARCHING, "stop": f"evaluations={limit}"}), cities(N))
    budget, most = Budget(resolved), most_evaluations(resolved)
    every = np.arange(0, limit + 1, 50)
    safe = budget.safe(every)
    assert 0 < safe[0] < limit
    assert (every + safe * most < limit)[:-1].all()
    assert (every + (safe + 1) * most >= limit).all()
    assert [int(budget.safe(number)) for number in every] == safe.tolist()
    assert [budget.left(number) for number in (0, limit - 1, limit)] == [None, 1, 1]


def test_a_limit_is_found_after_any_resumption_and_on_two_ranks(tmp_path: Path) -> None:
    problem = cities(N)
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


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["first", "best"])
def test_no_generation_exceeds_the_bound(backend: Backend, strategy: str) -> None:
    problem = facilities(12)
    options: dict[str, Any] = {"algorithm": "de", "population": 20, "islands": 2, "seed": 5}
    options |= {"migration": "none", "improver": "two_opt", "improver.strategy": strategy}
    options |= {"improver.rate": 1.0, "improver.steps": 1, "record.every": 4}
    bound = most_evaluations(resolve(Request.of(options), problem))
    solver = islands.Solver(problem, backend=backend.name, **options)
    before, largest = 2 * 20, 0  # generation 0 is evaluated, too
    for _ in range(60):
        solver.evolve(1)
        evaluations = sum(measure.evaluations for measure in solver._archipelago.measure())
        before, largest = evaluations, max(largest, evaluations - before)
    assert (bound if strategy == "best" else bound / 10) <= largest <= bound
