"""Concurrent runs in a batch give the same results as single runs."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problems_for_tests import cities, facilities, knapsack

import islands
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.errors import Suspended, UsageError
from islands.problems.base import Problem
from islands.run import concurrent as module
from islands.run.concurrent import run_concurrently
from islands.run.signals import Interruption

SETTINGS = {"islands": 2, "population": 20, "migration": "none", "improver": "none", "seed": 5}
SETTINGS |= {"algorithm": "brkga"}
DELAYED = {"migration": "ring", "interval": 7, "migration.delay": 1}


def slow_cities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problem:
    """Return a problem of which generation 0 of two runs takes 8 s if the host evaluates."""
    problem = cities(30, tmp_path)
    exact_costs = problem.costs

    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        time.sleep(0.1 * len(solutions))
        return exact_costs(solutions)

    monkeypatch.setattr(problem, "costs", costs)
    return problem


def test_each_run_gives_the_same_result_as_a_single_run(backend: Backend, tmp_path: Path) -> None:
    problem = cities(30, tmp_path)
    asked = {**SETTINGS, "stop": ["generations=60", "evaluations=1500"], "record.every": 10}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    alone = [
        islands.solve(problem, backend=backend.name, **{**asked, "seed": seed})
        for seed in (5, 6, 7)
    ]
    assert [run.digest for run in batch.runs] == [run.digest for run in alone]
    assert len({run.digest for run in batch.runs}) == 3
    for mine, other in zip(batch.runs, alone, strict=True):
        assert (mine.seed, mine.progress.cost) == (other.seed, other.cost)
        assert (mine.progress.evaluations, mine.reason) == (other.evaluations, other.reason)
        assert mine.best.solution.tolist() == list(other.solution)
    assert batch.seconds_a_run * 3 == pytest.approx(batch.seconds)


@pytest.mark.parametrize("way", ["repair", "drop", "linear", "dynamic"])
def test_each_knapsack_run_gives_the_same_result_as_a_single_run(
    backend: Backend, way: str
) -> None:
    problem = knapsack(40, 3)
    asked = {**SETTINGS, "algorithm": "cellular", "infeasible": way, "stop": "generations=20"}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 2, backend)
    for mine in batch.runs:
        other = islands.solve(problem, backend=backend.name, **{**asked, "seed": mine.seed})
        assert (mine.digest, mine.progress.cost) == (other.digest, other.cost)
        assert mine.best is not None
        assert problem.cost(mine.best.solution) == problem.cost(other.solution) == other.cost


def test_a_run_that_ends_early_keeps_its_result(backend: Backend, tmp_path: Path) -> None:
    problem = cities(12, tmp_path)
    asked = {**SETTINGS, "stop": ["target=36000", "generations=300"], "record.every": 5}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    ends = [run.progress.generation for run in batch.runs]
    assert len(set(ends)) > 1, "choose another target"
    for run in batch.runs:
        other = islands.solve(problem, backend=backend.name, **{**asked, "seed": run.seed})
        assert (run.digest, run.progress.generation) == (other.digest, other.generations)


def test_the_time_for_a_result_does_not_count_for_other_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem, now, ended = cities(12, tmp_path), [5.0], list[int]()
    advance, end = Archipelago.advance, module._ConcurrentLoop._end

    def advancing(archipelago: Archipelago, generations: int) -> None:
        advance(archipelago, generations)
        now[0] += generations

    def ending(loop: Any, *arguments: Any) -> Any:
        now[0] += 1000
        ended.append(loop._archipelago.generation)
        return end(loop, *arguments)

    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(Archipelago, "advance", advancing)
    monkeypatch.setattr(module._ConcurrentLoop, "_end", ending)
    asked = {**SETTINGS, "stop": ["target=36000", "generations=300"], "record.every": 5}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, choose("cpu"))
    assert len(set(ended)) > 1, "choose another target"
    assert batch.seconds == max(ended)
    assert sorted(run.progress.seconds for run in batch.runs) == ended


@pytest.mark.parametrize("migration", [{}, DELAYED])
@pytest.mark.parametrize("algorithm", ["brkga", "cellular", "ga", "pso"])
def test_results_do_not_depend_on_how_often_the_host_measures(
    monkeypatch: pytest.MonkeyPatch,
    backend: Backend,
    tmp_path: Path,
    algorithm: str,
    migration: dict[str, Any],
) -> None:
    looked: list[int] = []
    measure = Archipelago.measure

    def noted(archipelago: Archipelago) -> list[IslandMeasure]:
        looked.append(archipelago.generation)
        return measure(archipelago)

    monkeypatch.setattr(Archipelago, "measure", noted)
    # With few cities, an island that restarts finds its best cost again.
    problem = cities(6, tmp_path)
    asked = {**SETTINGS, "algorithm": algorithm, "reset": 9, "record.every": 1, **migration}
    ends = []
    for stop in (["generations=133"], ["generations=133", "target=1"]):
        spec = resolve(layers({**asked, "stop": stop}), problem)
        runs = run_concurrently(spec, problem, 3, backend).runs
        ends.append([(run.digest, replace(run.progress, seconds=0.0)) for run in runs])
    assert looked == [0, 133, *range(134)]
    assert ends[0] == ends[1]


def test_the_time_limit_ends_runs_inside_an_epoch(backend: Backend, tmp_path: Path) -> None:
    problem = cities(30, tmp_path)
    asked = {**SETTINGS, "record.every": 10**5, "stop": ["seconds=0.3", "generations=100000"]}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    assert 0.3 <= batch.seconds < 2.3
    for run in batch.runs:
        assert 0 < run.progress.generation < 10**5
        assert run.reason.endswith("time limit of 0.3 s reached")
    alone = {**asked, "stop": f"generations={batch.runs[0].progress.generation}"}
    assert islands.solve(problem, backend=backend.name, **alone).digest == batch.runs[0].digest


def test_a_time_limit_shorter_than_generation_0_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = slow_cities(tmp_path, monkeypatch)
    asked = {**SETTINGS, "decoding": "host", "stop": "seconds=0.3"}
    began = time.perf_counter()
    # Some of the runs may have no individual by then.
    with pytest.raises(UsageError, match="too short to complete generation 0 of the runs"):
        run_concurrently(resolve(layers(asked), problem), problem, 2, choose("cpu"))
    assert time.perf_counter() - began < 4  # a complete generation would take 8 s


@pytest.mark.parametrize("arrives", ["before", "during"])
def test_a_signal_that_an_outer_block_handles_ends_generation_0(
    arrives: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = slow_cities(tmp_path, monkeypatch)
    spec = resolve(layers({**SETTINGS, "decoding": "host", "stop": "generations=1"}), problem)
    began = time.perf_counter()
    with Interruption(suspends="ending") as outer:
        Timer(0.0 if arrives == "before" else 0.5, signal.raise_signal, [signal.SIGTERM]).start()
        while arrives == "before" and not outer.requested:
            time.sleep(0.01)
        with pytest.raises(Suspended):
            run_concurrently(spec, problem, 2, choose("cpu"))
    assert time.perf_counter() - began < 4  # a complete generation would take 8 s


@pytest.mark.parametrize("topology", ["ring", "broadcast", "random", "hypercube"])
@pytest.mark.parametrize("islands_a_run", [2, 5])
def test_migrants_stay_in_their_run(
    backend: Backend, tmp_path: Path, topology: str, islands_a_run: int
) -> None:
    problem = cities(30, tmp_path)
    asked = {**SETTINGS, "islands": islands_a_run, "stop": ["generations=45"], "record.every": 10}
    migrating = {**asked, "migration": topology, "interval": 7, "migrants": 1}
    batch = run_concurrently(resolve(layers(migrating), problem), problem, 3, backend)
    alone = [
        islands.solve(problem, backend=backend.name, **{**migrating, "seed": seed})
        for seed in (5, 6, 7)
    ]
    apart = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    assert [run.digest for run in batch.runs] == [run.digest for run in alone]
    assert {run.digest for run in batch.runs}.isdisjoint(run.digest for run in apart.runs)


def test_seeds_out_of_range_are_refused_before_islands_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("islands.run.concurrent.islands_of", None)
    problem = knapsack(9, 2)
    spec = resolve(layers({"seed": 2**63 - 2}), problem)
    message = "seed=9223372036854775806: the last of 3 runs would have the seed 9223372036854775808"
    with pytest.raises(UsageError, match=message):
        run_concurrently(spec, problem, 3, choose("cpu"))


def test_a_batch_with_halos_is_refused() -> None:
    problem = facilities(8)
    asked = {"algorithm": "cellular", "halo": True, "islands": 2, "population": 16}
    spec = resolve(layers(asked), problem)
    with pytest.raises(UsageError, match="halo=true with 2 concurrent runs"):
        run_concurrently(spec, problem, 2, choose("cpu"))
