"""Runs of the particle swarm on a device, and the same runs with the NumPy reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numbers_for_tests import NUMBERS
from numpy.typing import NDArray
from numpy_improvers import NumpyLocalSearch, distinct
from numpy_mkp import evaluated
from numpy_pso import Evaluate, NumpyPso
from one_colony import one_colony
from problems_for_tests import cities, facilities
from test_operators import Wanted

from islands.algorithms.pso import PsoSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.encodings import Encoding
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.mkp import Mkp

KINDS: dict[str, tuple[str, Callable[[int, Path], Problem]]] = {
    "bits": ("bits", lambda n, _: Wanted(n)),
    "keys of a subset": ("keys", lambda n, _: Wanted(n)),
    "tsp": ("keys", cities),
    "qap": ("keys", lambda n, _: facilities(n, symmetric="neither", diagonal=True)),
}
BITS, QAP = "bits", "qap"
NONE = 2**62
Place = tuple[int, int, int, int]


def evaluator_of(
    problem: Problem, encoding: str, search: NumpyLocalSearch | None, encoder: Encoding
) -> Evaluate:
    """Return how genomes of an encoding are decoded, evaluated and improved."""

    def evaluate(genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int, int]:
        if isinstance(problem, Mkp):
            return *in_knapsack(problem, genome, place), 1
        if problem.solution_kind in NUMBERS:
            solution = encoder.decode(genome[np.newaxis])[0]
        elif encoding == "bits":
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

    return evaluate


def in_knapsack(problem: Mkp, genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int]:
    """Return the subset after evaluation and its cost, with the item numbers of the device."""
    numbers = problem.numbering()
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
    """Return a new archipelago and the reference, for the given kind of problem."""
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
    mine = one_colony(
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
    evaluate = evaluator_of(problem, encoding, local, mine._encodings[0])
    rest["bounded"] = mine._encodings[0].bounded
    return mine, NumpyPso(problem.size, evaluate, settings, encoding=encoding, **rest)


def unpacked(mine: Archipelago, rows: NDArray[Any], n: int) -> NDArray[Any]:
    """Return rows of genes in the format of the reference."""
    if rows.dtype != np.uint32:
        return rows[:, :, :n]
    return np.stack([mine._encodings[0].decode(island) for island in rows])


def assert_same(mine: Archipelago, reference: NumpyPso) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost.tolist()
    assert saved["offered_cost"].tolist() == reference.cost_here.tolist()
    assert (unpacked(mine, saved["genes"], reference.n) == reference.genomes).all()
    assert (unpacked(mine, saved["offered"], reference.n) == reference.here).all()
    assert (saved["velocity"][:, :, : reference.n] == reference.velocity).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls
