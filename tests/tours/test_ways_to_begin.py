"""The ways to make first tours: along a curve, to the nearest city, at random."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from eax_for_tests import genes, placed, require_consistent, shortest, tours, weights
from tours_for_tests import Tours, distances

from islands.algorithms.eax import frame_of
from islands.backends.base import Backend
from islands.problems.tsp import Tsp

RNG = np.random.default_rng(5)
PLACES = {
    "random": placed(RNG.integers(0, 1000, (90, 2))),
    "duplicates": placed(RNG.integers(0, 4, (70, 2))),
    "a line": placed(np.column_stack([np.full(50, 7), RNG.integers(0, 60, 50)])),
    "one place": placed(np.ones((30, 2))),
    "far apart": placed(RNG.integers(-(10**11), 10**11, (40, 2))),
    "two": placed([(0, 0), (3, 4)]),
}


def require_tours(found: np.ndarray, problem: Tsp) -> None:
    assert (np.sort(found, axis=1) == np.arange(problem.size)).all()


@pytest.mark.parametrize("name", PLACES)
def test_curves_visit_each_city_once(name: str, backend: Backend) -> None:
    problem = PLACES[name]
    require_tours(Tours(backend, problem).curves(3, frame_of(problem)), problem)


def test_a_curve_goes_from_each_cell_to_the_next(backend: Backend) -> None:
    grid = placed([(x, y) for x in range(16) for y in range(16)])
    # A power of two, so that the cells of the curve are those of the grid.
    (found,) = Tours(backend, grid).curves(1, np.array([0.0, 0.0, 2.0**15]))
    require_tours(found[np.newaxis], grid)
    steps = [distances(grid)[a, b] for a, b in pairwise(found)]
    assert steps == [1] * 255


@pytest.mark.parametrize("problem", [*PLACES.values(), weights(40)])
@pytest.mark.parametrize("spread", [0, 128])
def test_tours_to_the_nearest_visit_all_cities(problem: Tsp, spread: int, backend: Backend) -> None:
    require_tours(Tours(backend, problem).nearest(3, spread), problem)


@pytest.mark.parametrize("problem", [placed(RNG.integers(0, 99, (11, 2))), weights(11)])
def test_the_nearest_city_is_next(problem: Tsp, backend: Backend) -> None:
    far = distances(problem)  # each city is a neighbour of all others
    for tour in Tours(backend, problem).nearest(5, 0).tolist():
        for i in range(10):
            left = tour[i + 1 :]
            assert tour[i + 1] == min(left, key=lambda each: (far[tour[i], each], each))


@pytest.mark.parametrize("way", ["curve", "nearest", "random"])
def test_individuals_differ_and_are_as_good_as_usual_ones(way: str, backend: Backend) -> None:
    problem = PLACES["random"]
    mine = tours(backend, problem, islands=1, first_tours=way)
    require_consistent(mine)
    found = genes(mine)[0]
    assert len({tuple(tour) for tour in found.tolist()}) == len(found)
    usual = problem.costs(genes(tours(backend, problem, islands=1))[0].astype(np.int64)).mean()
    assert problem.costs(found.astype(np.int64)).mean() < 1.15 * usual
    mine.advance(12)
    require_consistent(mine)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("way", ["curve", "nearest", "random"])
def test_tours_of_few_cities_are_shortest(n: int, way: str, backend: Backend) -> None:
    problem = placed(RNG.integers(0, 9, (n, 2)))
    best = tours(backend, problem, population=3, first_tours=way).best()
    assert best.cost == shortest(problem)
