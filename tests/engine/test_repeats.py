"""Runs of a few problems with many seeds share launches by problem, and give the usual bits."""

from __future__ import annotations

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
from islands.engine.repeats import Repeats, seconds_of
from islands.engine.scheduler import Scheduler
from islands.engine.workers import SharedIterator, merged
from islands.parallel import World
from islands.problems.base import Problem

SMALL: dict[str, Any] = {"islands": 2, "population": 12, "seed": 5, "interval": 4}
SMALL |= {"algorithm": "ga", "stop": ["stagnation=9", "generations=25"], "backend": "cpu"}
RUNS = 3


def repeated(
    problems: list[Problem], settings: list[dict[str, Any]], device: Backend
) -> dict[tuple[int, int], Any]:
    request = [resolve(Request.of(own), each) for own in settings for each in problems]
    plan = Repeats(request)
    cells = [[(place, run) for run in range(RUNS)] for place in range(len(request))]
    return dict(Scheduler(plan, [device], World(), places=RUNS).run(cells))


def tours() -> list[Problem]:
    draw = np.random.default_rng(8)
    return [islands.tsp(draw.random((13, 2)) * 1000) for _ in range(2)]


@pytest.mark.parametrize("improver", ["none", "two_opt"])
def test_each_has_the_result_of_solve(backend: Backend, improver: str) -> None:
    require_same(backend, improver)


@pytest.mark.slow
def test_on_an_emulated_gpu() -> None:
    require_same(EmulatedGpu(64), "two_opt")


def require_same(backend: Backend, improver: str) -> None:
    problems, settings = tours(), [SMALL | {"improver": improver, "migrants": k} for k in (1, 2)]
    found = repeated(problems, settings, backend)
    assert len(found) == len(problems) * len(settings) * RUNS
    for (place, run), mine in found.items():
        own, problem = settings[place // len(problems)], problems[place % len(problems)]
        alone = islands.solve(problem, threads=1, **{**own, "seed": 5 + run})
        assert facts(mine.result) == facts(alone)
        assert not mine.was_alone


def test_faults_of_own_problems_concern_their_run_only() -> None:
    problems = [own_problems.order(9, np.random.default_rng(1))]
    found = repeated(problems, [SMALL], choose("cpu", 1))
    for (_, run), mine in found.items():
        alone = islands.solve(problems[0], threads=1, **{**SMALL, "seed": 5 + run})
        assert facts(mine.result) == facts(alone)


def test_runs_in_turn_take_the_sum_of_their_times() -> None:
    problem = facilities(9)
    first = resolve(Request.of(SMALL | {"algorithm": "de", "encoding": "keys"}), problem)
    for shares in (True, False):
        plan = Repeats([first], shares=shares)
        cells = [[(0, run) for run in range(RUNS)]]
        found = dict(Scheduler(plan, [choose("cpu", 1)], World(), places=RUNS).run(cells))
        assert {each.was_alone for each in found.values()} == {not shares}
        times = [each.result.seconds for each in found.values()]
        assert seconds_of(found.values()) == (max(times) if shares else sum(times))


def test_runs_that_began_in_waves_take_all_of_their_time() -> None:
    problem = facilities(9)
    first = resolve(Request.of(SMALL | {"algorithm": "de", "encoding": "keys"}), problem)
    cells = [[(0, run) for run in range(6)]]
    devices = [choose("cpu", 1)]
    found = dict(Scheduler(Repeats([first]), devices, World(), places=2).run(cells))
    assert seconds_of(found.values()) > 1.5 * max(each.result.seconds for each in found.values())


def test_one_run_has_the_cost_of_its_last_generation() -> None:
    problem = facilities(9)
    plan = Repeats([resolve(Request.of(SMALL), problem)])
    [(_, found)] = Scheduler(plan, [choose("cpu", 1)], World()).run([[(0, 0)]])
    assert (found.was_alone, found.present is None) == (False, False)


def test_those_that_cannot_share_a_time_limit_have_their_part_of_it() -> None:
    problem = facilities(9)
    own = {"algorithm": "de", "encoding": "keys", "stop": "seconds=0.6", "record.every": 10}
    plan = Repeats([resolve(Request.of(SMALL | own), problem)], shares=False, sharers=RUNS)
    cells = [[(0, run) for run in range(RUNS)]]
    for _, each in Scheduler(plan, [choose("cpu", 1)], World()).run(cells):
        assert each.was_alone
        assert each.result.reason == "time limit of 0.2 s reached"


def test_a_limit_beyond_all_evaluations() -> None:
    own: dict[str, Any] = {"algorithm": "ga", "stop": ["evaluations=1e30", "generations=3"]}
    for each in islands.solve_many([facilities(9)] * 3, backend="cpu", seed=1, threads=1, **own):
        assert each.generations == 3


def test_each_result_has_the_time_of_its_own_compilation() -> None:
    device, problem = choose("cpu", 1), facilities(9)
    request = [resolve(Request.of(SMALL | {"migrants": k}), problem) for k in (1, 2)]
    cells = [[(place, run) for run in range(2)] for place in range(2)]
    found = dict(Scheduler(Repeats(request), [device], World(), places=2).run(cells))
    times = [found[place, 0].result.compile_seconds for place in range(2)]
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
