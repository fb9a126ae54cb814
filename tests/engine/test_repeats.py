"""Runs of a few problems with many seeds share launches by problem, and give the usual bits."""

from __future__ import annotations

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
from islands.configuration.resolve import layers, resolve
from islands.engine.repeats import Repeats, seconds_of
from islands.engine.scheduler import Scheduler
from islands.parallel import World
from islands.problems.base import Problem

SMALL: dict[str, Any] = {"islands": 2, "population": 12, "seed": 5, "interval": 4}
SMALL |= {"algorithm": "ga", "stop": ["stagnation=9", "generations=25"], "backend": "cpu"}
RUNS = 3


def repeated(
    problems: list[Problem], settings: list[dict[str, Any]], device: Backend
) -> dict[tuple[int, int], Any]:
    asked = [(resolve(layers(own), each), each) for own in settings for each in problems]
    plan = Repeats(asked)
    cells = plan.cells(range(len(asked)), RUNS)
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
    spec = resolve(layers(SMALL | {"algorithm": "de", "encoding": "keys"}), problem)
    for shares in (True, False):
        plan = Repeats([(spec, problem)], shares=shares)
        cells = plan.cells([0], RUNS)
        found = dict(Scheduler(plan, [choose("cpu", 1)], World(), places=RUNS).run(cells))
        assert {each.was_alone for each in found.values()} == {not shares}
        times = [each.result.seconds for each in found.values()]
        assert seconds_of(found.values()) == (max(times) if shares else sum(times))
