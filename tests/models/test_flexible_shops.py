"""Job shops with dates or choices of machine, compared with all schedules of plain Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shops import best_cost, checked_ends

import islands
from islands.backends.base import Backend
from islands.models.flexible_shops import read
from islands.models.shops import Dates, Shop

SEARCH = {"algorithm": "tempering", "seed": 1}
Choices = list[list[list[int]]]


def shop(jobs: int, operations: int, seed: int, most: int) -> tuple[Choices, Choices]:
    """Return machines and times, with up to a number of choices of three machines."""
    random = np.random.default_rng(seed)
    few = lambda: random.choice(3, random.integers(1, most + 1), replace=False).tolist()  # noqa: E731
    machines = [[few() for _ in range(operations)] for _ in range(jobs)]
    times = [[random.integers(0, 20, len(ways)).tolist() for ways in row] for row in machines]
    return machines, times


def tardiness(due: list[int], weights: list[int], ends: Any) -> int:
    return sum(w * max(0, end - d) for w, end, d in zip(weights, ends, due, strict=True))


def ends_of(
    problem_of: tuple[Choices, Choices], dates: Dates, solution: Any, release: list[int]
) -> list[int]:
    rows = Shop.flexible(*problem_of, dates).schedule(solution)
    return checked_ends(*problem_of, release, rows)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_least_tardiness_is_that_of_all_schedules(backend: Backend, seed: int) -> None:
    machines, times = shop(3, 3, seed, 1)
    random = np.random.default_rng(seed)
    release, due, weights = (random.integers(0, most, 3).tolist() for most in (20, 30, 5))
    firsts = ([[ways[0] for ways in row] for row in rows] for rows in (machines, times))
    own = {"release": release, "due": due, "weights": weights, "objective": "tardiness"}
    problem = islands.models.job_shop(*firsts, **own)
    result = islands.solve(problem, **SEARCH, generations=30, backend=backend.name)
    best = best_cost(machines, times, release, lambda ends: tardiness(due, weights, ends))
    assert result.cost == best > 0
    dates = Dates.of(3, "tardiness", release, due, weights)
    ends = ends_of((machines, times), dates, result.solution, release)
    assert tardiness(due, weights, ends) == best
    assert Shop.flexible(machines, times, dates).bound() <= best


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_costs_less_than_the_bound(seed: int) -> None:
    machines, times = shop(2, 2, seed, 3)
    release = np.random.default_rng(seed).integers(0, 20, 2).tolist()
    dates = Dates.of(2, "makespan", release, None, None)
    best = best_cost(machines, times, release, max)
    assert Shop.flexible(machines, times, dates).bound() <= best


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_least_end_with_choices_is_that_of_all_schedules(backend: Backend, seed: int) -> None:
    machines, times = shop(3, 2, seed, 3)
    problem = islands.models.job_shop(machines, times)
    result = islands.solve(problem, **SEARCH, generations=30, backend=backend.name)
    assert result.cost == best_cost(machines, times, [0] * 3, max)
    dates = Dates.of(3, "makespan", None, None, None)
    assert max(ends_of((machines, times), dates, result.solution, [0] * 3)) == result.cost
    assert Shop.flexible(machines, times, dates).bound() <= result.cost


@pytest.mark.slow
def test_choices_and_dates_go_together(backend: Backend) -> None:
    machines, times = shop(3, 2, 4, 3)
    release, due = [5, 0, 9], [10, 8, 12]
    problem = islands.models.job_shop(
        machines, times, release=release, due=due, objective="tardiness"
    )
    result = islands.solve(problem, **SEARCH, generations=30, backend=backend.name)
    best = best_cost(machines, times, release, lambda ends: tardiness(due, [1] * 3, ends))
    assert result.cost == best > 0


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("objective", ["makespan", "tardiness"])
def test_the_state_agrees_with_costs(most: int, objective: str) -> None:
    machines, times = shop(7, 4, 5, most)
    due = [20] * 7 if objective == "tardiness" else None
    problem = islands.models.job_shop(
        machines, times, release=[3, 0, 0, 8, 0, 0, 1], due=due, objective=objective
    )
    assert "480 of 480 moves agree with costs" in str(islands.check_problem(problem, samples=60))


_FATTAHI = "2 2 2\n2 2 1 25 2 37 2 1 32 2 24\n2 2 1 45 2 65 2 1 21 2 65\n"


@pytest.mark.slow
def test_a_file_with_machines_from_1_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.fjs"
    path.write_text(_FATTAHI)
    problem = read(path)
    assert problem.size == 8
    machines = [[[0, 1], [0, 1]], [[0, 1], [0, 1]]]
    times = [[[25, 37], [32, 24]], [[45, 65], [21, 65]]]
    best = best_cost(machines, times, [0, 0], max)
    assert best == 66  # as published
    assert islands.solve(problem, **SEARCH, generations=5).cost == best


@pytest.mark.slow
def test_the_optimum_of_a_published_instance_is_found() -> None:
    path = Path(__file__).with_name("mk01.fjs")  # the first one of Brandimarte (1993)
    result = islands.solve(read(path), **SEARCH, stop="evaluations=3000000")
    assert result.cost == 40
