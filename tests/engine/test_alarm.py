"""Time limits and signals in a long generation, which is abandoned and undone."""

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from fakes import Quiet, Silent
from numpy.typing import NDArray
from problems_for_tests import cities, facilities, knapsack

import islands
from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.asynchronous import AsyncLoop
from islands.engine.build import islands_of
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings, Ranks
from islands.migration.transport import find
from islands.parallel import Deal, World
from islands.problems.base import Problem
from islands.problems.mkp import MkpSettings


@pytest.mark.slow
def test_generation_0_is_completed_after_a_foreign_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    def starting(archipelago: Archipelago) -> None:
        start(archipelago)
        begun.append(archipelago.is_partial)

    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        if not begun:  # the first attempt
            batches.append(len(solutions))
            if len(batches) == 3:
                signal.raise_signal(signal.SIGUSR1)
            time.sleep(0.1 * len(solutions))
        return exact_costs(solutions)

    problem, received, batches = cities(23), list[int](), list[int]()
    request: dict[str, Any] = {"algorithm": "ga", "decoding": "host", "stop": "generations=1"}
    request |= {"islands": 2, "population": 16, "backend": "cpu"}
    undisturbed = islands.solve(problem, **request).digest
    begun, start, exact_costs = list[bool](), Archipelago.start, problem.costs
    monkeypatch.setattr(Archipelago, "start", starting)
    monkeypatch.setattr(problem, "costs", costs)
    before = signal.signal(signal.SIGUSR1, lambda number, _: received.append(number))
    try:
        assert islands.solve(problem, **request).digest == undisturbed
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert received == [signal.SIGUSR1]
    assert begun == [True, False]


@pytest.mark.slow
def test_an_asynchronous_rank_ends_generation_0_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        time.sleep(0.1 * len(solutions))
        return exact_costs(solutions)

    problem, world = cities(23), World()
    exact_costs = problem.costs
    monkeypatch.setattr(problem, "costs", costs)
    request = {"algorithm": "ga", "decoding": "host", "islands": 2, "population": 40}
    resolved = resolve(Request.of({**request, "improver": "none", "stop": "seconds=0.3"}), problem)
    islands_ = islands_of(resolved, world, choose("cpu", 1))
    evolution: Any = (islands_, resolved, world, Quiet())
    outcome = AsyncLoop(*evolution, say=Silent().say).run()
    assert outcome.progress.seconds < 4  # a complete generation would take 8 s
    assert 0 < outcome.progress.evaluations < 80
    size = f"; generation 0 is incomplete, with {outcome.progress.evaluations} individuals"
    assert outcome.reason.endswith(f"time limit of 0.3 s reached{size}")


def problem_of(name: str, folder: Path) -> Problem:
    if name == "tsp":
        return cities(23)
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
        ranks=Ranks(world, Deal(3, 1), find(world, backend)[0]),
        improver=ImproverSettings.build(improver),
    )
    islands.start()
    return islands


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run[0]}-{run[1]}")
def test_an_attempt_that_is_undone_has_no_effect(
    backend: Backend, run: tuple[Any, ...], tmp_path: Path
) -> None:
    problem = problem_of(run[0], tmp_path)
    disturbed, straight = (started(backend, problem, run) for _ in range(2))
    disturbed.abandon()
    # On a GPU, short searches do not check for the request.
    assert not disturbed.attempt(2) or backend.name == "cuda"
    disturbed.undo()
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
