"""Attempted generations: undo them, abandon them early, and count their individuals."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from problems_for_tests import cities, facilities, knapsack

import islands
from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.mkp import MkpSettings


def problem_of(name: str, folder: Path) -> Problem:
    if name == "tsp":
        return cities(23, folder)
    if name == "qap":
        return facilities(12)
    return knapsack(40, 3).adjusted(MkpSettings(infeasible=name))


# Problem or treatment of infeasible solutions; algorithm; encoding; its settings; improver.
RUNS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [
    ("tsp", "brkga", "keys", {"elite": 0.2, "reset": 2}, {"name": "two_opt"}),
    ("qap", "de", "keys", {"adaptation": "jde"}, {"name": "tabu", "steps": 30}),
    ("qap", "cellular", "permutation", {"halo": True}, {"name": "swap", "strategy": "best"}),
    ("repair", "ga", "bits", {}, {"name": "tabu"}),
    ("drop", "pso", "keys", {}, {"name": "exchange22", "strategy": "best"}),
]


def started(backend: Backend, problem: Problem, run: tuple[Any, ...]) -> Archipelago:
    _, algorithm, encoding, settings, improver = run
    kind, world = ALGORITHMS[algorithm], World()
    islands = one_colony(
        problem=problem,
        algorithm=algorithm,
        encoding=encoding,
        settings=kind.completed(kind.Settings.build(settings), encoding),
        population=16,
        islands=3,
        seed=3,
        migration=MigrationSettings.build(
            {"topology": "none"} if "halo" in settings else {"topology": "ring", "delay": 1}
        ),
        backend=backend,
        world=world,
        transport=find(world, backend)[0],
        improver=ImproverSettings.build(improver),
    )
    islands.start()
    return islands


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def test_an_attempt_that_is_undone_has_no_effect(
    backend: Backend, run: tuple[Any, ...], tmp_path: Path
) -> None:
    problem = problem_of(run[0], tmp_path)
    disturbed, straight = (started(backend, problem, run) for _ in range(2))
    for islands_ in (disturbed, straight):
        islands_.advance(5)
        islands_.migrate()
    before = disturbed.snapshot()
    assert disturbed.attempt(3)
    assert disturbed.digests() != straight.digests()
    disturbed.undo()
    for name, array in disturbed.snapshot().items():
        assert np.array_equal(before[name], array), name
    for islands_ in (disturbed, straight):
        islands_.advance(4)
        islands_.migrate()
        islands_.advance(3)
    assert disturbed.generation == straight.generation
    assert disturbed.digests() == straight.digests()
    assert disturbed.measure() == straight.measure()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def test_islands_abandon_a_generation_on_request(
    backend: Backend, run: tuple[Any, ...], tmp_path: Path
) -> None:
    islands_ = started(backend, problem_of(run[0], tmp_path), run)
    before, measures = islands_.digests(), islands_.measure()
    islands_.abandon()
    abandoned = not islands_.attempt(2)
    # On a GPU, short searches do not check for the request.
    assert abandoned or backend.name == "cuda"
    if abandoned:
        islands_.undo()
        assert (islands_.digests(), islands_.measure()) == (before, measures)


def test_a_running_generation_is_visible_and_can_be_abandoned(
    backend: Backend, tmp_path: Path
) -> None:
    problem = cities(1500, tmp_path)  # takes many seconds, even on a GPU
    slow = {"name": "tabu", "steps": 50_000, "rate": 0.1}
    islands_ = started(backend, problem, ("tsp", "brkga", "keys", {}, slow))
    assert not islands_.ahead
    ends = list[bool]()
    attempt = threading.Thread(target=lambda: ends.append(islands_.attempt(1)))
    attempt.start()
    time.sleep(1)
    assert islands_.ahead == range(1, 2)
    assert 0 < islands_.made() < 48  # those without a search are complete early
    islands_.abandon()
    began = time.perf_counter()
    attempt.join(60)
    assert time.perf_counter() - began < 2
    assert ends == [False]
    islands_.undo()
    assert not islands_.ahead


def test_an_abandoned_generation_0_has_a_best_individual(tmp_path: Path) -> None:
    problem = cities(30, tmp_path)
    backend = islands.Solver(problem, backend="cpu")._archipelago.backend
    run = ("tsp", "ga", "permutation", {}, {"name": "none"})
    whole = started(backend, problem, run)
    partial = started(backend, problem, run)
    partial.abandon()
    partial.start()  # without may_be_partial, generation 0 is completed
    assert not partial.is_partial
    assert partial.digests() == whole.digests()
    partial.may_be_partial = True
    adopted = list[bool]()
    partial._adopt = lambda *, everyone=False: adopted.append(everyone)  # type: ignore[method-assign]
    partial.start()
    assert partial.is_partial
    assert not adopted  # no kernel reads unwritten genes
    assert {measure.distance for measure in partial.measure()} == {None}
    first = whole.snapshot()
    saved = partial.snapshot()
    (best,) = partial.elite(1)
    complete = saved["calls"] > 0
    assert complete[0, 0]
    assert complete.sum() < complete.size
    assert best.cost == first["cost"][complete].min() == problem.cost(best.solution)
    assert (saved["cost"][~complete] > saved["cost"][complete].max()).all()
    assert np.array_equal(saved["genes"][complete], first["genes"][complete])
