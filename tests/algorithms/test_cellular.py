"""The cellular algorithm on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from numpy_cellular import NumpyCellular
from numpy_improvers import NumpyLocalSearch
from problems_for_tests import flat

from islands.algorithms.cellular import Cellular, CellularSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.improvers import ImproverSettings
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.qap import Qap

TORUS = {"grid": "torus", "population": 20, "width": 5}


def assignment(n: int) -> Qap:
    """Return random asymmetric matrices with non-zero diagonals."""
    a, b = np.random.default_rng(n).integers(0, 50, (2, n, n))
    return Qap(QapFile(name=f"random{n}", path=None, size=n, a=a, b=b))


def both(
    backend: Backend, problem: Problem, encoding: str = "permutation", **changes: Any
) -> tuple[Archipelago, NumpyCellular]:
    """Return the same run on a device and in NumPy."""
    general = {"population": 12, "islands": 2, "seed": 5, "runs": 1}
    general |= {name: changes.pop(name) for name in list(changes) if name in general}
    given, search = changes.pop("given", ()), changes.pop("search", {})
    settings = CellularSettings.build(changes)
    mine = one_colony(
        problem=problem,
        algorithm="cellular",
        encoding=encoding,
        settings=settings,
        migration=MigrationSettings.build({"topology": "none"}),
        backend=backend,
        world=World(),
        improver=ImproverSettings.build(search),
        warm_start=lambda: [np.array(solution, np.int64) for solution in given],
        **general,
    )

    def costs(genomes: np.ndarray) -> np.ndarray:
        return problem.costs(problem.layout.from_device(mine._encodings[0].decode(genomes)))

    width = Cellular(settings, general["population"], encoding).width
    changes |= {"width": width, "encoding": encoding, "given": tuple(given)}
    changes.setdefault("crossover", "pmx" if encoding == "permutation" else "two_point")
    changes.setdefault("mutation", "swap" if encoding == "permutation" else "reset")
    del general["runs"]
    if search:
        changes["search"] = NumpyLocalSearch(problem, **search)
    mine.start()
    return mine, NumpyCellular(problem.size, costs, **general, **changes)


def assert_same(mine: Archipelago, reference: NumpyCellular) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost
    assert saved["genes"][:, :, : mine._encodings[0].size].tolist() == reference.genomes
    assert sum(each.evaluations for each in mine.measure()) == reference.calls


def assert_evolves(mine: Archipelago, reference: NumpyCellular, generations: int = 5) -> None:
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 26])
@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_run_equals_the_reference(backend: Backend, n: int, encoding: str) -> None:
    mine, reference = both(backend, assignment(n), encoding, population=20, mutation_rate=0.5)
    assert_evolves(mine, reference)


@pytest.mark.parametrize(
    ("selection", "grid"),
    [
        ("random", {"neighbours": 2}),
        ("best", {"neighbours": 6}),
        ("proportional", {"neighbours": 10}),
        ("relative", {"neighbours": 10}),
        ("relative", TORUS | {"radius": 2, "population": 35}),
        ("random", {"grid": "torus"}),
        ("best", TORUS),
        ("proportional", TORUS | {"shape": "moore", "population": 15}),
        ("proportional", TORUS | {"radius": 2, "population": 35}),
        ("best", TORUS | {"radius": 2, "shape": "moore", "population": 30}),
    ],
    ids=str,
)
def test_each_neighbourhood_and_selection_equals_the_reference(
    backend: Backend, selection: str, grid: dict[str, Any]
) -> None:
    grid = {"population": 16, **grid}
    assert_evolves(*both(backend, assignment(8), selection=selection, **grid), 3)


@pytest.mark.parametrize("cost", [0, 720])
@pytest.mark.parametrize("selection", ["proportional", "relative"])
def test_equal_neighbours_are_equally_likely(backend: Backend, selection: str, cost: int) -> None:
    mine, reference = both(backend, flat(9, cost), selection=selection, population=200, islands=1)
    assert {each for island in reference.cost for each in island} == {cost}
    chosen = Counter(
        [reference.genomes[k][s] for k, s in reference.neighbourhood(0, slot)].index(
            reference.mate(0, slot)
        )
        for slot in range(200)
    )
    assert all(30 < chosen[k] < 70 for k in range(4))
    assert_evolves(mine, reference, 3)


@pytest.mark.parametrize("group", [1, 5, 64])
@pytest.mark.parametrize("replacement", ["generational", "elitist"])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0, 1), (1, 0)])
def test_groups_share_decisions_and_children_replace_parents(
    backend: Backend, group: int, replacement: str, rates: tuple[float, float]
) -> None:
    mine, reference = both(
        backend, assignment(9), group=group, replacement=replacement,
        crossover_rate=rates[0], mutation_rate=rates[1],
    )  # fmt: skip
    assert_evolves(mine, reference)


PUGACE = {"name": "swap", "strategy": "best", "steps": 1, "scope": "position", "every": 3}


@pytest.mark.parametrize("search", [PUGACE, {"name": "two_opt", "rate": 0.5}], ids=str)
@pytest.mark.parametrize("replacement", ["generational", "elitist"])
def test_the_better_child_is_improved(
    backend: Backend, replacement: str, search: dict[str, Any]
) -> None:
    changes = {"replacement": replacement, "search": search, "reset": 3}
    mine, reference = both(backend, assignment(6), **changes)
    assert_evolves(mine, reference, 12)
    assert reference.restarts > 0


def test_improved_keys_decode_to_their_cost(backend: Backend) -> None:
    problem = assignment(9)
    mine, _ = both(backend, problem, "keys", search=PUGACE, replacement="elitist")
    mine.advance(9)
    saved = mine.snapshot()
    for genomes, costs in zip(saved["genes"], saved["cost"], strict=True):
        assert problem.costs(mine._encodings[0].decode(genomes)).tolist() == costs.tolist()
    # Each individual makes two children per generation, and eight exchanges every third one.
    assert sum(each.evaluations for each in mine.measure()) == 24 * (1 + 2 * 9 + 8 * 3)


@pytest.mark.parametrize("replacement", ["generational", "elitist"])
def test_islands_restart_and_keep_the_best_ever(backend: Backend, replacement: str) -> None:
    problem = assignment(5)
    mine, reference = both(backend, problem, reset=3, replacement=replacement, islands=3)
    mine.advance(25)
    reference.evolve(25)
    assert_same(mine, reference)
    assert reference.restarts > 0
    assert [each.best for each in mine.measure()] == reference.ever
    assert mine.best().cost == min(reference.ever) == problem.cost(mine.best().solution)


@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_given_solutions_are_the_first_individuals(backend: Backend, encoding: str) -> None:
    problem, n = assignment(10), 10
    given = [np.random.default_rng(i).permutation(n).tolist() for i in range(5)]
    mine, reference = both(backend, problem, given=given)
    assert_evolves(mine, reference)
    mine, _ = both(backend, problem, encoding, given=given)
    costs = problem.costs(np.array(given)).tolist()
    found = mine.snapshot()["cost"]
    assert [found[i % 2, i // 2] for i in range(5)] == costs


@pytest.mark.parametrize(
    "grid",
    [{}, {"neighbours": 8}, TORUS | {"shape": "moore", "radius": 2, "population": 25}],
    ids=str,
)
@pytest.mark.parametrize("islands", [1, 4])
def test_halo_makes_islands_slices_of_one_grid(
    backend: Backend, grid: dict[str, Any], islands: int
) -> None:
    changes: dict[str, Any] = {"halo": True, "islands": islands, **grid}
    mine, reference = both(backend, assignment(7), **changes)
    assert_evolves(mine, reference)
    mine.advance(10)
    reference.evolve(10)
    assert_same(mine, reference)


@pytest.mark.parametrize("selection", ["proportional", "relative"])
@pytest.mark.parametrize("neighbours", [2, 126])
def test_extreme_costs_do_not_overflow_the_selection(
    backend: Backend, selection: str, neighbours: int
) -> None:
    a = np.array([[0, 1], [0, 0]]) * 2**30
    b = np.array([[0, 2**29], [1, 0]])
    problem = Qap(QapFile(name="far", path=None, size=2, a=a, b=b))
    mine, reference = both(
        backend,
        problem,
        selection=selection,
        mutation_rate=0,
        neighbours=neighbours,
        population=128,
    )
    assert max(map(max, reference.cost)) - min(map(min, reference.cost)) > 2**58
    assert_evolves(mine, reference, 5)
