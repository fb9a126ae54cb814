"""Instances that share launches have the results that each of them has alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from shared_launches import facts, found, options, require_compiles_for_gpus

import islands
from islands.archipelago.shared import Found, SharedRuns
from islands.backends import choose
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run.preparing import Preparing, Wanted
from islands.run.shared import VisitRecords

RANDOM = np.random.default_rng(54)
EAX = {"islands": 2, "population": 12, "stop": ["converged", "generations=60"]}


def tours(count: int, size: int = 40) -> list[Problem]:
    return [islands.tsp(each) for each in RANDOM.random((count, size, 2)) * 1000]


def matrices(count: int) -> list[Problem]:
    halves = RANDOM.integers(1, 99, (count, 14, 14))
    return [islands.tsp(distances=np.triu(each, 1) + np.triu(each, 1).T) for each in halves]


def facilities(count: int) -> list[Problem]:
    halves = RANDOM.integers(0, 99, (count, 2, 9, 9))
    return [islands.qap(each + each.T, other + other.T) for each, other in halves]


def unlike() -> list[Problem]:
    """Return assignments of one size and different kinds, several of each."""
    made = facilities(3)
    made += [islands.qap(each, other) for each, other in RANDOM.integers(0, 99, (3, 2, 9, 9))]
    # Kernels of equal facilities need as much memory as there are pairs of different ones.
    equal, others = np.ones((9, 9), int), RANDOM.integers(0, 9, (3, 9, 9))
    made += [islands.qap(equal * number, other) for number, other in enumerate(others)]
    large = [np.where(each < 4, each * 1000, 0) for each in RANDOM.integers(0, 99, (3, 9, 9))]
    return made + [islands.qap(each + each.T, each) for each in large]


def knapsacks(count: int, rows: int = 4, size: int = 30) -> list[Problem]:
    profits = RANDOM.integers(1, 99, (count, size))
    weights = RANDOM.integers(1, 99, (count, rows, size))
    return list(islands.mkp_batch(profits, weights, [20 * size] * rows))


def worse_and_worse(count: int) -> list[Problem]:
    """Return knapsacks whose profits are less than those of the ones before."""
    weights = RANDOM.integers(1, 99, (2, 30))
    profits = RANDOM.integers(50, 99, 30)
    return [islands.mkp(profits * (count - k), weights, [600] * 2) for k in range(count)]


CASES = {
    "eax": (tours(9), EAX),
    "eax on matrices": (matrices(3), EAX),
    "tempering": (facilities(6), {"islands": 2, "stop": "converged"}),
    "few replicas": (facilities(3), {"islands": 1, "population": 8, "stop": "generations=5"}),
    "unlike": (unlike(), {"islands": 1, "population": 8, "stop": "generations=45"}),
    "core": (
        [*knapsacks(4), *knapsacks(3)],
        {"islands": 2, "population": 8, "proposals": 2000, "stop": "generations=12"},
    ),
    # More than there are places, so that runs begin where others were.
    "swarm of knapsacks": (
        knapsacks(7),
        {"algorithm": "pso", "islands": 1, "population": 64, "stop": "generations=9"},
    ),
    "archives": (
        worse_and_worse(9),
        {"algorithm": "ga", "infeasible": "dynamic", "islands": 1, "population": 64}
        | {"stop": "generations=4"},
    ),
    "brkga": (
        tours(3, 20),
        {"algorithm": "brkga", "islands": 1, "population": 16, "reset": 3}
        | {"stop": ["stagnation=20", "generations=70"]},
    ),
}


EMULATED = ("eax", "few replicas", "core", "archives", "brkga")


@pytest.mark.parametrize(
    ("name", "device"), [*((name, "cpu") for name in CASES), *((e, "emulated") for e in EMULATED)]
)
def test_each_has_the_result_that_it_has_alone(name: str, device: str) -> None:
    problems, settings = CASES[name]
    backend = choose("cpu", 2) if device == "cpu" else EmulatedGpu(64)
    every, shared = found(problems, backend, **settings), 0
    for number, problem in enumerate(problems):
        mine = every[number]
        other = islands.solve(problem, backend="cpu", threads=1, seed=4 + number, **settings)
        assert isinstance(mine, Result)
        shared += isinstance(mine.records, VisitRecords)
        assert facts(mine) == facts(other)
        table, same = mine.trace().drop_columns("seconds"), other.trace().drop_columns("seconds")
        assert table.equals(same)
    assert shared > 1, "they were solved alone"


def test_cores_that_share_launches_have_equal_numbers() -> None:
    backend = choose("cpu", 1)
    preparing = Preparing(backend, lambda _: options({"utilities": "scaled"}, backend))
    found = set()
    for number, problem in enumerate(knapsacks(40, 5, 200)):
        waiting = preparing.waiting(number, Wanted(problem.instance, problem, 4))
        assert waiting is not None
        numbers = waiting.parts.algorithm.numbers()
        assert numbers == waiting.problem.core.likeness
        found.add((numbers, waiting.kind))
    assert len({numbers for numbers, _ in found}) == len(found) > 1


def test_places_without_an_instance_do_no_harm() -> None:
    # The second of these has other numbers in its structs, so that its place stays free at first.
    problems = [*facilities(1), islands.qap(np.ones((9, 9), int), np.ones((9, 9), int))]
    every = found(problems * 3, choose("cpu", 1), islands=1, stop="generations=45")
    alone = [
        islands.solve(each, backend="cpu", threads=1, seed=4 + n, islands=1, stop="generations=45")
        for n, each in enumerate(problems * 3)
    ]
    assert [facts(every[n]) for n in range(6)] == [facts(each) for each in alone]


@pytest.mark.parametrize("data", [{"coordinates": [[3, 4]]}, {"distances": [[0]]}])
def test_tours_of_one_city(data: dict[str, Any]) -> None:
    problems = [islands.tsp(**data) for _ in range(20)]
    results = islands.solve_many(problems, backend="cpu", threads=1, seed=1)
    assert [(each.cost, each.solution.tolist()) for each in results] == [(0, [0])] * 20


def test_runs_that_would_exchange_migrants_are_solved_alone() -> None:
    settings = {"islands": 2, "population": 8, "migration": "ring", "interval": 10}
    settings |= {"algorithm": "ga", "encoding": "permutation", "record.every": 5}
    settings |= {"stop": ["target=3300", "generations=30"]}
    problems = tours(6, 9)
    every = found(problems, choose("cpu", 1), **settings)
    shared = 0
    for number, problem in enumerate(problems):
        mine = every[number]
        assert isinstance(mine, Result)
        shared += isinstance(mine.records, VisitRecords)
        other = islands.solve(problem, backend="cpu", threads=1, seed=4 + number, **settings)
        assert facts(mine) == facts(other)
    assert 0 < shared < len(problems), "choose another target"


def test_an_instance_that_comes_later_takes_a_free_place(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [islands.tsp(each) for each in np.random.default_rng(1).random((5, 60, 2)) * 1000]
    settings: dict[str, Any] = {"islands": 1, "population": 30, "stop": "converged"}
    keys = iter([0, 1, 2, 3, None, None, 4])  # the last one comes after a place has become free
    with monkeypatch.context() as without:
        without.setattr(islands, "solve", None)  # none is solved alone
        every = found(problems, choose("cpu", 1), keys=keys, **settings)
    for number, problem in enumerate(problems):
        alone = islands.solve(problem, backend="cpu", threads=1, seed=4 + number, **settings)
        assert facts(every[number]) == facts(alone)


def test_one_that_fails_does_not_stop_the_others() -> None:
    heavy = islands.mkp([5] * 30, [[9] * 30] * 4, [2] * 4)
    with pytest.raises(UsageError):
        islands.solve(heavy, backend="cpu", rho=3)
    problems = [*knapsacks(2), heavy, *knapsacks(2)]
    every = found(problems, choose("cpu", 1), islands=2, population=8, stop="generations=5")
    assert sorted(every) == [0, 1, 2, 3, 4]
    failed = found(problems, choose("cpu", 1), rho=3)
    assert all(isinstance(each, UsageError) for each in failed.values())


def test_what_was_found_is_kept_when_the_rest_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    problems, ends, original = tours(40, 9), list[int](), SharedRuns.found

    def interrupted(runs: SharedRuns, chosen: Sequence[int]) -> list[Found]:
        ends.extend(chosen)  # as by a signal, while several have just ended
        return original(runs, chosen)

    monkeypatch.setattr(SharedRuns, "found", interrupted)
    settings = {**EAX, "stop": "generations=5"}
    every = found(problems, choose("cpu", 1), lambda: bool(ends), **settings)
    assert len(every) == len(ends)
    assert 1 < len(ends) < len(problems)
    for number, mine in every.items():
        other = islands.solve(
            problems[number], backend="cpu", threads=1, seed=4 + number, **settings
        )
        assert facts(mine) == facts(other)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["eax", "tempering", "swarm of knapsacks"])
def test_programs_compile_for_gpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problems, settings = CASES[name]
    require_compiles_for_gpus(monkeypatch, problems[:2], **settings)
