"""The particle swarm on every device against NumPy, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_improvers import NumpyLocalSearch, distinct
from numpy_mkp import evaluated
from numpy_pso import Evaluate, NumpyPso, sigmoid
from problems_for_tests import cities, facilities, knapsack
from test_operators import Wanted

from islands.algorithms.pso import PsoSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.paths import data_folder
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.mkp_settings import WAYS, MkpSettings

KINDS: dict[str, tuple[str, Callable[[int, Path], Problem]]] = {
    "bits": ("bits", lambda n, _: Wanted(n)),
    "keys of a subset": ("keys", lambda n, _: Wanted(n)),
    "tsp": ("keys", cities),
    "qap": ("keys", lambda n, _: facilities(n, symmetric="neither", diagonal=True)),
}
BITS, QAP = "bits", "qap"
NONE = 2**62
Place = tuple[int, int, int, int]


def judge_of(problem: Problem, encoding: str, search: NumpyLocalSearch | None) -> Evaluate:
    """Return how genomes are decoded, evaluated and improved."""

    def judge(genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int, int]:
        if isinstance(problem, Mkp):
            return *in_knapsack(problem, genome, place), 1
        if encoding == "bits":
            solution = genome
        elif problem.solution_kind == "subset":
            solution = (genome >= np.float32(0.5)).astype(np.int64)
        else:
            solution = np.argsort(genome, kind="stable")
            solution = np.argsort(solution) if problem.assigns else solution
        cost = int(problem.costs(solution[np.newaxis])[0])
        if search is None or place[2] == 0 or not search.is_due(place):
            return genome, cost, 1
        order, better, tried = search.improve(solution.tolist(), cost, place)
        if better == cost:
            return genome, cost, 1 + tried
        improved = np.empty_like(genome)
        improved[np.argsort(order) if problem.assigns else order] = distinct(genome)
        return improved, better, 1 + tried

    return judge


def in_knapsack(problem: Mkp, genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int]:
    """Return what becomes of a choice whose items have the device's numbers, and its cost."""
    numbering = problem.numbering()
    numbers = np.arange(problem.size) if numbering is None else numbering
    packed = genome.dtype == np.int64
    before = genome if packed else (genome >= np.float32(0.5)).astype(np.int64)
    choice = np.empty_like(before)
    choice[numbers] = before
    changed, cost = evaluated(problem, choice, place[0], place[1:])
    after = changed[numbers]
    if packed:
        return after, cost
    mirrored = np.float32(1) - genome
    keys = np.where((mirrored >= np.float32(0.5)) == after, mirrored, np.float32(0.25))
    return np.where(before == after, genome, keys), cost


def both(
    backend: Backend,
    kind: str,
    n: int,
    folder: Path,
    **changes: Any,
) -> tuple[Archipelago, NumpyPso]:
    """Return an archipelago at its start, and the reference, on a problem of some kind."""
    encoding, made = KINDS[kind]
    return both_on(backend, made(n, folder), encoding, **changes)


def both_on(
    backend: Backend,
    problem: Problem,
    encoding: str,
    *,
    topology: str = "none",
    search: dict[str, Any] | None = None,
    warm_start: Any = tuple,
    **changes: Any,
) -> tuple[Archipelago, NumpyPso]:
    rest = {"population": 12, "islands": 3, "seed": 5}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    settings = PsoSettings.build(changes)
    mine = Archipelago(
        problem=problem,
        algorithm="pso",
        encoding=encoding,
        settings=settings,
        migration=MigrationSettings.build({"topology": topology, "migrants": 2}),
        backend=backend,
        world=World(),
        improver=ImproverSettings.build(search or {}),
        warm_start=warm_start,
        **rest,
    )
    mine.start()
    local = NumpyLocalSearch(problem, **search) if search else None
    judge = judge_of(problem, encoding, local)
    return mine, NumpyPso(problem.size, judge, settings, encoding=encoding, **rest)


def unpacked(mine: Archipelago, rows: NDArray[Any], n: int) -> NDArray[Any]:
    """Return rows of genes as the reference has them."""
    if rows.dtype != np.uint32:
        return rows[:, :, :n]
    return np.stack([mine._encoding.decode(island) for island in rows])


def assert_same(mine: Archipelago, reference: NumpyPso) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost.tolist()
    assert saved["met_cost"].tolist() == reference.cost_here.tolist()
    assert (unpacked(mine, saved["genes"], reference.n) == reference.genomes).all()
    assert (unpacked(mine, saved["met"], reference.n) == reference.here).all()
    assert (saved["velocity"][:, :, : reference.n] == reference.velocity).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 31, 33, 70])
def test_a_run_with_migration_is_the_reference_bit_for_bit(
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
def test_every_setting(
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
def test_every_way_with_infeasible_positions(backend: Backend, way: str, encoding: str) -> None:
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
            feasible = [cost // 2 for cost in costs if cost % 2 == 0] if problem.marks else costs
            best[island] = min([best[island], *feasible])
        assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == -problem.cost(mine.best().solution)
    if problem.marks:
        assert (reference.cost % 2).any(), "no best position is infeasible"
    assert reference.restarts > 0
    mine.migrate()
    reference.exchange_in_ring(2)
    mine.advance(2)
    reference.evolve(2)
    assert_same(mine, reference)


def test_velocities_and_keys_that_grow_out_of_all_bounds_stop_there(
    backend: Backend, tmp_path: Path
) -> None:
    mine, reference = both(backend, QAP, 9, tmp_path, inertia=10, c1=100, c2=100)
    mine.advance(40)
    reference.evolve(40)
    assert_same(mine, reference)
    saved = mine.snapshot()
    assert np.abs(saved["velocity"][:, :, :9]).max() == np.float32(1e30)
    assert np.abs(saved["met"][:, :, :9]).max() == np.float32(1e30)


def test_keys_begin_in_their_range(backend: Backend, tmp_path: Path) -> None:
    mine, reference = both(backend, QAP, 40, tmp_path, low=-3, high=5)
    assert_same(mine, reference)
    keys = mine.snapshot()["genes"][:, :, :40]
    assert keys.min() >= -3
    assert keys.max() < 5
    assert abs(keys.mean() - 1) < 0.3


@pytest.mark.parametrize("kind", [BITS, QAP])
@pytest.mark.parametrize("schedule", ["constant", "linear"])
def test_islands_restart_after_stagnation_and_keep_their_best(
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
def test_positions_are_improved_and_their_keys_too(
    backend: Backend, kind: str, tmp_path: Path
) -> None:
    search = {"name": "swap", "steps": 1, "rate": 0.4}
    mine, reference = both(backend, kind, 9, tmp_path, search=search)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)


def test_a_snapshot_goes_on_as_the_run_did(backend: Backend, tmp_path: Path) -> None:
    settings = {"schedule": "linear", "reset": 4}
    mine, reference = both(backend, BITS, 50, tmp_path, **settings)
    mine.advance(6)
    saved = mine.snapshot()
    other, _ = both(backend, BITS, 50, tmp_path, **settings)
    other.restore(saved, generation=6, migrations=0)
    other.advance(6)
    reference.evolve(12)
    assert (unpacked(other, other.snapshot()["met"], 50) == reference.here).all()
    assert other.snapshot()["cost"].tolist() == reference.cost.tolist()


def test_the_best_is_never_lost(backend: Backend, tmp_path: Path) -> None:
    mine, _ = both(backend, BITS, 60, tmp_path, topology="ring")
    before = [measure.best for measure in mine.measure()]
    for _ in range(5):
        mine.advance(3)
        mine.migrate()
        after = [measure.best for measure in mine.measure()]
        assert all(new <= old for new, old in zip(after, before, strict=True))
        before = after


def test_given_solutions_come_first(backend: Backend, tmp_path: Path) -> None:
    given = [np.random.default_rng(i).integers(0, 2, 60) for i in range(5)]
    mine, _ = both(backend, BITS, 60, tmp_path, warm_start=lambda: given)
    costs = Wanted(60).costs(np.stack(given)).tolist()
    saved = mine.snapshot()
    for name in ("cost", "met_cost"):
        found = [saved[name][k, : len(given[k::3])].tolist() for k in range(3)]
        assert found == [costs[k::3] for k in range(3)]
    assert (saved["genes"] == saved["met"]).all()


def test_a_swarm_finds_what_is_wanted(backend: Backend, tmp_path: Path) -> None:
    settings = {"c1": 0.6, "c2": 1.8, "inertia": 1, "schedule": "linear", "horizon": 200}
    mine, _ = both(backend, BITS, 40, tmp_path, islands=1, population=60, **settings)
    mine.advance(200)
    assert mine.best().cost == 0
    assert mine.best().solution.tolist() == Wanted(40).wanted.tolist()


def test_the_sigmoid_of_the_kernels_is_that_of_mathematics(backend: Backend) -> None:
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
