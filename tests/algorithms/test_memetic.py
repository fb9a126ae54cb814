"""The memetic algorithm on all devices compared with plain Python, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest
from colonies_for_tests import one_colony
from numpy_memetic import NumpyMemetic
from problems_for_tests import facilities
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms.memetic import MemeticSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend, Block
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.qap import Qap


def both(
    backend: Backend, problem: Qap, population: int = 12, **settings: Any
) -> tuple[Archipelago, NumpyMemetic]:
    """Return the same run on a device and in Python."""
    own = MemeticSettings.build(settings)
    mine = one_colony(
        problem=problem,
        algorithm="memetic",
        encoding="permutation",
        settings=own,
        population=population,
        islands=2,
        seed=5,
        migration=MigrationSettings.build({"topology": "none"}),
        backend=backend,
        world=World(),
    )
    n = problem.size
    reference = NumpyMemetic(
        n, problem.costs, population=population, islands=2, seed=5,
        apart=max(4, int(own.apart * n)), near=int(own.near * n), fewest=own.fewest,
        most=int(own.exchanges * n), crossover=own.crossover, reset=own.reset,
    )  # fmt: skip
    mine.start()
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyMemetic) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost
    assert saved["genes"][:, :, : reference.n].tolist() == reference.orders
    assert sum(each.evaluations for each in mine.measure()) == reference.calls


def assert_evolves(mine: Archipelago, reference: NumpyMemetic, generations: int) -> None:
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)


@pytest.mark.parametrize("crossover", ["uniform_like", "uniform", "pmx", "cycle", "order"])
def test_run_equals_the_reference(backend: Backend, crossover: str) -> None:
    mine, reference = both(backend, facilities(21), near=0.5, crossover=crossover)
    assert_evolves(mine, reference, 25)
    assert reference.kinds["crossed"] > 0
    assert reference.kinds["entered"] > 0
    assert reference.kinds["refused"] > 0


def test_individuals_without_a_different_mate_are_exchanged_at_random(backend: Backend) -> None:
    settings = {"apart": 0.9, "near": 0.8, "exchanges": 0.5, "fewest": 2}
    mine, reference = both(backend, facilities(10), 8, **settings)
    assert_evolves(mine, reference, 25)
    assert reference.kinds["exchanged"] > 0
    assert reference.kinds["crowded"] > 0


@pytest.mark.parametrize("n", [2, 3, 5])
def test_small_orders_and_restarts_equal_the_reference(backend: Backend, n: int) -> None:
    mine, reference = both(backend, facilities(n), 2, reset=3, near=0.0)
    assert_evolves(mine, reference, 12)


@pytest.mark.gpu
def test_the_program_compiles_for_gpus() -> None:
    macros = parts(facilities(40), "memetic", "permutation").macros()
    require_compiles(for_gpu("program.cuh", macros, Block(128, 8)))
