"""Runs of a few problems with many seeds share launches by problem, and give the usual bits."""

import time
from itertools import count
from threading import Event, Thread
from typing import Any

import numpy as np
import own_problems
import pytest
from emulated_gpu import EmulatedGpu
from problems_for_tests import facilities
from shared_launches import facts

import islands
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.engine.repeats import Repeats, seconds_of
from islands.engine.scheduler import Scheduler
from islands.engine.workers import SharedIterator, merged
from islands.parallel import World
from islands.problems.base import Problem

SMALL: dict[str, Any] = {"islands": 2, "population": 12, "seed": 5, "interval": 4}
SMALL |= {"algorithm": "ga", "stop": ["stagnation=9", "generations=25"], "backend": "cpu"}
RUNS = 3


def scheduled(
    request: list[Resolved], device: Backend, *, runs: int = RUNS, places: int = RUNS, **how: Any
) -> dict[tuple[int, int], Any]:
    """Return the results of runs of each request, by its number and that of the run."""
    cells = [[(number, run) for run in range(runs)] for number in range(len(request))]
    return dict(Scheduler(Repeats(request, **how), [device], World(), places=places).run(cells))


def small(**settings: Any) -> Resolved:
    return resolve(Request.of(SMALL | settings), facilities(9))


def tours() -> list[Problem]:
    draw = np.random.default_rng(8)
    return [islands.tsp(draw.random((13, 2)) * 1000) for _ in range(2)]


# A run with a local search ends in the generation that reaches the limit of evaluations.
LIMITED: dict[str, Any] = {"algorithm": "de", "improver": "two_opt", "improver.rate": 0.2}
LIMITED |= {"improver.steps": 1, "interval": 7, "record.every": 4}
LIMITED |= {"stop": ["generations=2000", "evaluations=20000"]}


@pytest.mark.parametrize(
    "settings",
    [
        *({"improver": "none"}, {"improver": "two_opt"}),
        *(
            pytest.param(LIMITED | more, marks=pytest.mark.slow)
            for more in ({}, {"improver.every": 3, "migration": "none"}, {"improver": "none"})
        ),
    ],
)
def test_each_has_the_result_of_solve(backend: Backend, settings: dict[str, Any]) -> None:
    require_same(backend, settings)


@pytest.mark.slow
def test_on_an_emulated_gpu() -> None:
    require_same(EmulatedGpu(64), {"improver": "two_opt"})


def require_same(backend: Backend, changes: dict[str, Any]) -> None:
    problems, settings = tours(), [SMALL | changes | {"migrants": k} for k in (1, 2)]
    request = [resolve(Request.of(own), problem) for own in settings for problem in problems]
    found = scheduled(request, backend)
    assert len(found) == len(problems) * len(settings) * RUNS
    for (place, run), mine in found.items():
        own, problem = settings[place // len(problems)], problems[place % len(problems)]
        alone = islands.solve(problem, threads=1, **{**own, "seed": 5 + run})
        assert facts(mine.result) == facts(alone)
        assert not mine.was_alone


def test_faults_of_own_problems_concern_their_run_only() -> None:
    problem = own_problems.order(9, np.random.default_rng(1))
    found = scheduled([resolve(Request.of(SMALL), problem)], choose("cpu", 1))
    for (_, run), mine in found.items():
        alone = islands.solve(problem, threads=1, **{**SMALL, "seed": 5 + run})
        assert facts(mine.result) == facts(alone)


def test_runs_in_turn_take_the_sum_of_their_times() -> None:
    for shares in (True, False):
        request = [small(algorithm="de", encoding="keys")]
        found = scheduled(request, choose("cpu", 1), shares=shares)
        assert {repeat.was_alone for repeat in found.values()} == {not shares}
        times = [repeat.result.seconds for repeat in found.values()]
        assert seconds_of(found.values()) == (max(times) if shares else sum(times))


def test_runs_that_began_in_waves_take_all_of_their_time() -> None:
    request = [small(algorithm="de", encoding="keys")]
    repeats = scheduled(request, choose("cpu", 1), runs=6, places=2).values()
    # The three runs of each place follow each other, however long each of them takes.
    assert seconds_of(repeats) > 0.9 * sum(repeat.result.seconds for repeat in repeats) / 2


def test_one_run_has_the_cost_of_its_last_generation() -> None:
    (found,) = scheduled([small()], choose("cpu", 1), runs=1).values()
    assert (found.was_alone, found.present is None) == (False, False)


def test_those_that_cannot_share_a_time_limit_have_their_part_of_it() -> None:
    own = {"algorithm": "de", "encoding": "keys", "stop": "seconds=0.6", "record.every": 10}
    found = scheduled([small(**own)], choose("cpu", 1), places=1, shares=False, sharers=RUNS)
    assert len(found) == RUNS
    for repeat in found.values():
        assert repeat.was_alone
        assert repeat.result.reason == "time limit of 0.2 s reached"


def test_a_limit_beyond_all_evaluations() -> None:
    own: dict[str, Any] = {"algorithm": "ga", "stop": ["evaluations=1e30", "generations=3"]}
    for each in islands.solve_many([facilities(9)] * 3, backend="cpu", seed=1, threads=1, **own):
        assert each.generations == 3


def test_each_result_has_the_time_of_its_own_compilation() -> None:
    device = choose("cpu", 1)
    found = scheduled([small(migrants=k) for k in (1, 2)], device, runs=2, places=2)
    times = [found[number, 0].result.compile_seconds for number in range(2)]
    assert sum(times) == pytest.approx(device.compile_seconds)
    assert min(times) < device.compile_seconds


@pytest.mark.parametrize("threads", [2, 16])
def test_many_threads_end_with_their_caller(threads: int) -> None:
    numbers = SharedIterator(count(1), lambda: False)
    made = merged([lambda: numbers] * threads, Event(), most=8)
    assert next(made) is not None
    time.sleep(0.2)  # until each thread waits for its results to be taken
    closing = Thread(target=made.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
