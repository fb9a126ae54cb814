"""The particle swarm on all devices compared with NumPy, bit for bit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_box import highest
from numpy_pso import BITS, KINDS, NONE, QAP, assert_same, both, both_on, sigmoid
from problems_for_tests import NUMBERS, knapsack
from test_operators import Wanted

from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.paths import data_folder
from islands.problems.mkp import WAYS, MkpSettings


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 31, 33, 70])
def test_run_with_migration_equals_the_reference(
    backend: Backend, kind: str, n: int, tmp_path: Path
) -> None:
    mine, reference = both(backend, kind, n, tmp_path, topology="ring")
    assert_same(mine, reference)
    for _ in range(2):
        mine.advance(4)
        mine.migrate()
        reference.evolve(4)
        reference.exchange_in_ring(2)
        assert_same(mine, reference)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("changes", [{}, {"velocity": 0.1}, {"c1": 100, "c2": 100, "inertia": 10}])
@pytest.mark.parametrize("n", [1, 6, 31])
def test_numbers_equal_the_reference(
    backend: Backend, kind: str, changes: dict[str, Any], n: int
) -> None:
    problem = NUMBERS[kind](n)
    mine, reference = both_on(backend, problem, kind, topology="ring", reset=5, **changes)
    assert_same(mine, reference)
    for _ in range(3):
        mine.advance(4)
        reference.evolve(4)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange_in_ring(2)
    assert mine.best().cost == problem.cost(mine.best().solution)
    here = reference.here.reshape(-1, n)
    assert mine._encodings[0].holds(here)
    if "c1" in changes:
        is_at_bound = (here == 0) | (here == highest(kind))
        assert (reference.velocity.reshape(-1, n)[is_at_bound] == 0).any()


@pytest.mark.parametrize("kind", [BITS, QAP])
@pytest.mark.parametrize(
    "changes",
    [
        {"c1": 0.601321, "c2": 1.79865, "inertia": 1, "schedule": "linear", "horizon": 7},
        {"schedule": "early", "inertia": 0.9, "inertia_end": 0.1, "horizon": 20},
        {"schedule": "late", "inertia": 1, "inertia_end": 0.3, "horizon": 12},
        {"velocity": 0.25},
        {"constriction": True, "c1": 2.05, "c2": 2.05},
        {"neighbourhood": "ring", "neighbours": 4},
        {"neighbourhood": "ring", "neighbours": 10, "population": 11},
        {"inertia": 0.001, "c1": 0},
        {"inertia": 10, "c1": 100, "c2": 100},
    ],
    ids=lambda changes: "-".join(f"{name}={value}" for name, value in changes.items()),
)
def test_each_setting_equals_the_reference(
    backend: Backend, kind: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    mine, reference = both(backend, kind, 37, tmp_path, topology="ring", **changes)
    for _ in range(2):
        mine.advance(7)
        reference.evolve(7)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange_in_ring(2)


@pytest.mark.parametrize("encoding", ["bits", "keys"])
@pytest.mark.parametrize("way", WAYS)
def test_each_infeasible_setting_equals_the_reference(
    backend: Backend, way: str, encoding: str
) -> None:
    problem = knapsack(40, 5).adjusted(MkpSettings(infeasible=way, penalty=0.7))
    changes = {"topology": "ring", "reset": 4, "population": 10}
    mine, reference = both_on(backend, problem, encoding, **changes)
    best = [NONE] * 3
    for generation in range(16):
        if generation:
            mine.advance(1)
            reference.evolve(1)
        assert_same(mine, reference)
        for island, costs in enumerate(reference.cost_here.tolist()):
            feasible = (
                [cost // 2 for cost in costs if cost % 2 == 0] if problem.scale.marks else costs
            )
            best[island] = min([best[island], *feasible])
        assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == -problem.cost(mine.best().solution)
    if problem.scale.marks:
        assert (reference.cost % 2).any(), "no best position is infeasible"
    assert reference.restarts > 0
    mine.migrate()
    reference.exchange_in_ring(2)
    mine.advance(2)
    reference.evolve(2)
    assert_same(mine, reference)


def test_velocities_and_keys_have_an_upper_bound(backend: Backend, tmp_path: Path) -> None:
    mine, reference = both(backend, QAP, 9, tmp_path, inertia=10, c1=100, c2=100)
    mine.advance(40)
    reference.evolve(40)
    assert_same(mine, reference)
    saved = mine.snapshot()
    assert np.abs(saved["velocity"][:, :, :9]).max() == np.float32(1e30)
    assert np.abs(saved["offered"][:, :, :9]).max() == np.float32(1e30)


@pytest.mark.parametrize("kind", [BITS, QAP])
@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_islands_restart_after_stagnation_and_keep_the_best(
    backend: Backend, kind: str, schedule: str, tmp_path: Path
) -> None:
    falls = {} if schedule == "constant" else {"schedule": schedule, "horizon": 5}
    mine, reference = both(backend, kind, 5, tmp_path, reset=3, **falls)
    best = [int(cost.min()) for cost in reference.cost]
    for _ in range(14):
        mine.advance(2)
        for _ in range(2):
            reference.evolve(1)
            best = [min(old, int(new.min())) for old, new in zip(best, reference.cost, strict=True)]
        assert_same(mine, reference)
    assert reference.restarts > 3
    assert [measure.best for measure in mine.measure()] == best


@pytest.mark.parametrize("kind", ["tsp", "qap"])
def test_improvers_change_positions_and_their_keys(
    backend: Backend, kind: str, tmp_path: Path
) -> None:
    search = {"name": "swap", "steps": 1, "rate": 0.4}
    mine, reference = both(backend, kind, 9, tmp_path, search=search)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)


def test_given_solutions_are_the_first_individuals(backend: Backend, tmp_path: Path) -> None:
    given = [np.random.default_rng(i).integers(0, 2, 60) for i in range(5)]
    mine, _ = both(backend, BITS, 60, tmp_path, warm_start=lambda: given)
    costs = Wanted(60).costs(np.stack(given)).tolist()
    saved = mine.snapshot()
    for name in ("cost", "offered_cost"):
        found = [saved[name][k, : len(given[k::3])].tolist() for k in range(3)]
        assert found == [costs[k::3] for k in range(3)]
    assert (saved["genes"] == saved["offered"]).all()


def test_sigmoid_of_the_kernels_is_accurate(backend: Backend) -> None:
    x = np.concatenate([np.linspace(-120, 120, 100_001), [-1e30, 1e30, 0]]).astype(np.float32)
    entry = os.path.relpath(Path(__file__).with_name("sigmoid.cuh"), data_folder("kernels"))
    program = backend.compile(Source(entry), Block(32))
    out = backend.upload(np.zeros_like(x))
    count = np.int32(len(x))
    backend.run([backend.call(program, "check_sigmoid", count, backend.upload(x), out, blocks=1)])
    found = backend.download(out)
    assert (found == sigmoid(x)).all()
    exact = 1 / (1 + np.exp(-np.clip(x.astype(np.float64), -700, 700)))
    assert np.abs(found - exact).max() < 1e-6
    near = np.abs(x) < 80
    assert (np.abs(found - exact) / exact)[near].max() < 1e-6
    assert found[-1] == 0.5
