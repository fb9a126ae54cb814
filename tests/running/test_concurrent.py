"""Concurrent runs in a batch give the same results as single runs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from problems_for_tests import cities, facilities

import islands
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.run.concurrent import run_concurrently

SETTINGS = {"islands": 2, "population": 20, "migration": "none", "improver": "none", "seed": 5}
SETTINGS |= {"algorithm": "brkga"}
DELAYED = {"migration": "ring", "interval": 7, "migration.delay": 1}


def test_a_run_that_ends_early_keeps_its_result(backend: Backend, tmp_path: Path) -> None:
    problem = cities(12, tmp_path)
    asked = {**SETTINGS, "stop": ["target=36000", "generations=300"], "record.every": 5}
    batch = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    ends = [run.progress.generation for run in batch.runs]
    assert len(set(ends)) > 1, "choose another target"
    for run in batch.runs:
        other = islands.solve(problem, backend=backend.name, **{**asked, "seed": run.seed})
        assert (run.digest, run.progress.generation) == (other.digest, other.generations)


@pytest.mark.parametrize("migration", [{}, DELAYED])
@pytest.mark.parametrize("algorithm", ["ga", "pso"])
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
    problem = cities(30, tmp_path)
    exact_costs = problem.costs

    def costs(solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        time.sleep(0.1 * len(solutions))
        return exact_costs(solutions)

    monkeypatch.setattr(problem, "costs", costs)
    asked = {**SETTINGS, "decoding": "host", "stop": "seconds=0.3"}
    began = time.perf_counter()
    with pytest.raises(UsageError, match="too short"):
        run_concurrently(resolve(layers(asked), problem), problem, 2, choose("cpu"))
    assert time.perf_counter() - began < 4  # a complete generation would take 8 s


@pytest.mark.parametrize("topology", ["broadcast", "hypercube"])
def test_migrants_stay_in_their_run(backend: Backend, tmp_path: Path, topology: str) -> None:
    problem = cities(30, tmp_path)
    asked = {**SETTINGS, "islands": 5, "stop": ["generations=45"], "record.every": 10}
    migrating = {**asked, "migration": topology, "interval": 7, "migrants": 1}
    batch = run_concurrently(resolve(layers(migrating), problem), problem, 3, backend)
    alone = [
        islands.solve(problem, backend=backend.name, **{**migrating, "seed": seed})
        for seed in (5, 6, 7)
    ]
    apart = run_concurrently(resolve(layers(asked), problem), problem, 3, backend)
    assert [run.digest for run in batch.runs] == [run.digest for run in alone]
    assert {run.digest for run in batch.runs}.isdisjoint(run.digest for run in apart.runs)


def test_a_batch_with_halos_is_refused() -> None:
    problem = facilities(8)
    asked = {"algorithm": "cellular", "halo": True, "islands": 2, "population": 16}
    spec = resolve(layers(asked), problem)
    with pytest.raises(UsageError, match="halo"):
        run_concurrently(spec, problem, 2, choose("cpu"))
