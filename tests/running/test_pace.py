"""The number of generations between looks at the clock, and until a run can end."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeProblem
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
from islands.run.pace import Pace, last_unmeasured, most_evaluations


def pace(**options: Any) -> Pace:
    return Pace(resolve(layers({"algorithm": "brkga", **options}), FakeProblem()))


def test_a_step_may_be_slow_until_one_was_quick_and_after_a_slow_one() -> None:
    plain = pace(improver="none")
    assert plain.may_be_slow(0, 1)
    plain.epoch_ended(None, 0, 0.001)
    assert not plain.may_be_slow(0, 50)
    plain.step_ended(1, 2.001)
    assert plain.may_be_slow(1, 1)


def test_a_lucky_step_does_not_predict_the_next_ones() -> None:
    searching = pace(improver="swap")
    searching.step_ended(1, 0.1)
    searching.step_ended(2, 0.1001)  # such as one without a search, if only a few are drawn
    assert searching.may_be_slow(2, 1)
    for generation in range(3, 30):
        searching.step_ended(generation, 0.1001)
    assert not searching.may_be_slow(30, 1)


def test_a_few_generations_without_a_search_predict_nothing() -> None:
    few = pace(improver="swap", islands=2, population=100, **{"improver.rate": 0.01})
    for generation in range(1, 5):  # two searches each, on average
        few.step_ended(generation, 0.0001 * generation)
        assert few.may_be_slow(generation, 1)
    few.step_ended(5, 0.0005)
    assert not few.may_be_slow(5, 1)


def test_steps_grow_step_by_step_where_one_may_be_lost() -> None:
    def steps(*seconds: float, may_take_long: bool) -> list[int]:
        tried = Pace(
            resolve(layers({"algorithm": "ga"}), FakeProblem()), may_take_long=may_take_long
        )
        found, generation, now = [], 0, 0.0
        for each in seconds:
            generation, now = generation + tried.step, now + each
            tried.step_ended(generation, now)
            found.append(tried.step)
        return found

    quick = [0.001, 0.001, 0.001]
    assert steps(*quick, may_take_long=False)[0] == 256
    assert steps(*quick, may_take_long=True) == [2, 4, 8]
    assert steps(*quick, 4.0, 0.2, may_take_long=True) == [2, 4, 8, 1, 2]


def test_the_time_of_generation_0_does_not_predict_searches() -> None:
    searching = pace(improver="swap")
    searching.epoch_ended(None, 0, 0.001)
    assert searching.may_be_slow(0, 1)
    searching.step_ended(1, 0.002)
    assert not searching.may_be_slow(1, 1)
    # A search may take many times longer than the previous one.
    searching.step_ended(2, 0.102)
    assert searching.may_be_slow(2, 1)


def test_the_time_of_generation_0_does_not_predict_an_algorithm_that_searches_itself() -> None:
    spec = resolve(layers({"algorithm": "tempering", "backend": "cpu"}), facilities(9))
    searching = Pace(spec)
    assert searching.step == 1
    searching.epoch_ended(None, 0, 0.001)
    assert searching.step == 1
    assert searching.may_be_slow(0, 1)
    searching.step_ended(1, 0.002)
    assert not searching.may_be_slow(1, 1)
    assert searching.step > 1


def test_evaluations_are_counted_in_each_generation_with_a_search() -> None:
    options = {"improver": "swap", "improver.every": 10}
    counting = pace(stop="evaluations=1000", **options)
    assert [g for g in range(31) if counting.counts_at(g)] == [10, 20, 30]
    assert [counting.next_count(g) for g in (0, 3, 9, 10, 25)] == [10, 10, 10, 20, 30]
    for other in (pace(**options), pace(improver="none", stop="evaluations=1000")):
        assert not any(map(other.counts_at, range(31)))
        assert other.next_count(3) == math.inf


def test_generations_without_search_do_not_predict_those_with_search() -> None:
    seldom = pace(improver="swap", **{"improver.every": 100})
    seldom.epoch_ended(None, 0, 0.001)
    seldom.step_ended(50, 0.002)
    assert not seldom.may_be_slow(40, 50)
    assert seldom.may_be_slow(50, 50)
    seldom.step_ended(100, 0.012)
    assert not seldom.may_be_slow(150, 50)
    assert seldom.may_be_slow(150, 1000)


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
