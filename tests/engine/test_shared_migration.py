"""Runs that share launches exchange migrants, each at its own time, as it does alone."""

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import own_problems
import pytest
from emulated_gpu import EmulatedGpu
from shared_launches import alone, found, require_as_alone, require_same
from slow_problems import slow

import islands
from islands.archipelago.shared import SharedRuns
from islands.backends import choose
from islands.backends.base import Backend
from islands.engine import shared as sharing
from islands.engine.limits import LIMITS
from islands.engine.shared import VisitRecords
from islands.errors import UsageError
from islands.migration.shared import SharedExchange

RING: dict[str, Any] = {"migration": "ring", "interval": 3, "migrants": 2}
GA: dict[str, Any] = {"algorithm": "ga", "encoding": "permutation", "improver": "none"}
SMALL: dict[str, Any] = {"islands": 3, "population": 16}
SELECTION, REPLACEMENT = "migration.selection", "migration.replacement"
DELAY, DUPLICATES = "migration.delay", "migration.duplicates"
CASES: dict[str, dict[str, Any]] = {
    "ring": {**GA, **RING},
    "all others, random ones": {**GA, "migration": "elite", "interval": 4, SELECTION: "random"},
    "a random ring, delayed": {**GA, **RING, "migration": "random", DELAY: 1},
    "from one to all": {**GA, **RING, "migration": "broadcast", SELECTION: "roulette"},
    "if better, delayed": {**GA, **RING, REPLACEMENT: "if-better", DELAY: 1},
    "a torus, no duplicates": {**GA, **RING, "migration": "torus", DUPLICATES: "reject"},
    "random places": {**GA, **RING, "migration": "hypercube", REPLACEMENT: "random"},
    "keys": {"algorithm": "brkga", "migration": "elite", "interval": 5, "reset": 2},
    "swarms": {"algorithm": "pso", **RING, "population": 20},
    "cells": {"algorithm": "cellular", **RING, "improver": "two_opt"},
    "tours of edges": {"algorithm": "eax", **RING, "islands": 2},
    "few generations at a time": {**GA, **RING, "record.every": 2},
}


def require_migrate_as_alone(problems: list[Any], backend: Backend, **settings: Any) -> None:
    """Require that all share launches and migrate, with the same results as when solved alone."""
    assert require_same(problems, backend, **settings) == [*range(len(problems))]
    assert alone(problems[0], 0, **settings).migrations().num_rows > 0


def tours(count: int, size: int) -> list[Any]:
    random = np.random.default_rng(8)
    return [islands.tsp(each) for each in random.random((count, size, 2)) * 1000]


@pytest.mark.parametrize("name", CASES)
def test_runs_migrate_as_they_do_alone(backend: Backend, name: str) -> None:
    # Some runs end sooner, and the next ones take their places: all are in different generations.
    stop = ["stagnation=7", "generations=23"]
    require_migrate_as_alone(tours(9, 12), backend, **{**SMALL, "stop": stop, **CASES[name]})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring", "a random ring, delayed", "tours of edges"])
def test_on_an_emulated_gpu(name: str) -> None:
    settings = {**SMALL, "stop": ["stagnation=7", "generations=23"], **CASES[name]}
    require_migrate_as_alone(tours(4, 12), EmulatedGpu(64), **settings)


@pytest.mark.parametrize("make", [own_problems.order, own_problems.vector])
def test_problems_of_a_users_own(make: Any) -> None:
    settings = {**SMALL, **RING, "algorithm": "ga", "stop": "generations=14"}
    problems = [make(9, np.random.default_rng(number)) for number in range(4)]
    require_migrate_as_alone(problems, choose("cpu", 1), **settings)


def test_runs_that_are_halted_between_migrations_begin_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs, settings = 4, {**GA, "islands": 2, "population": 8, "interval": 2, "generations": 6}
    evaluations, migrated, events = runs * 2 * 8, SharedExchange.migrate, list[Any]()

    def noted(exchange: SharedExchange, numbers: Any, seeds: Any) -> None:
        events.append([*numbers])
        migrated(exchange, numbers, seeds)

    halt = SharedRuns.halt
    monkeypatch.setattr(SharedExchange, "migrate", noted)
    monkeypatch.setattr(SharedRuns, "halt", lambda mine: (events.append("halt"), halt(mine)))
    monkeypatch.setattr(sharing, "LIMITS", replace(LIMITS, longest_launch=0.1))
    # Evaluations become slow in generation 3, after the first migration.
    problem = slow("permutation", "cost", 0.008, quick=7 * evaluations // 2)
    every = islands.solve_many([problem], runs=runs, seed=4, threads=1, backend="cpu", **settings)
    assert events[0] == [1] * runs
    assert "halt" in events
    quick = slow("permutation", "cost", 0.008, quick=10**9)
    for number, mine in zip(range(runs), every, strict=True):
        assert not isinstance(mine.records, VisitRecords), "it was not solved alone"
        other = alone(quick, number, **settings)
        require_as_alone(mine, other)
        assert other.migrations().num_rows > 0


def test_populations_that_are_too_small_for_the_migrants_are_rejected() -> None:
    settings: dict[str, Any] = {**GA, "migration": "elite", "migrants": 5, "interval": 2}
    with pytest.raises(
        UsageError, match=r"problems\[\d\]: migration elite: an island receives up to 15 migra"
    ):
        islands.solve_many(tours(3, 9), backend="cpu", islands=4, population=12, **settings)


def test_the_fault_of_a_topology_names_the_problem() -> None:
    def senders(island: int, count: int, number: int, seed: int) -> list[int]:
        return [(island + 1) % count if seed != 6 else 99]

    back = islands.Topology("back", senders, most=1)
    settings: dict[str, Any] = {**GA, **SMALL, "interval": 2, "generations": 4, "threads": 1}
    results = islands.iter_many(tours(4, 9), migration=back, seed=4, runs=3, **settings)
    with pytest.raises(UsageError, match=r"problems\[0\]: .*99 is not an island number"):
        dict(results)


def test_the_memory_of_runs_that_are_over_is_free_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, original = list[weakref.ref[SharedExchange]](), SharedExchange.__init__

    def noted(exchange: SharedExchange, *arguments: Any, **named: Any) -> None:
        original(exchange, *arguments, **named)
        made.append(weakref.ref(exchange))

    monkeypatch.setattr(SharedExchange, "__init__", noted)
    gc.disable()
    try:
        every = found(tours(3, 9), choose("cpu", 1), **GA, **RING, **SMALL, stop="generations=7")
        assert [each() for each in made] == [None]
    finally:
        gc.enable()
    landings = [landing for *_, landing in every[0].records._visits if landing]
    assert len(landings) == 2
    assert all(each.cost.base is None for each in landings)  # they keep nothing of other runs
