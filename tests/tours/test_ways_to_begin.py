"""First tours: along a curve, by nearest neighbour, at random, and by an assignment."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from eax_for_tests import genes, placed, require_consistent, shortest, tours, weights
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from tours_for_tests import Tours, distances

import islands
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


_FAR = 10**6


def _matrix(n: int, seed: int, high: int = 1000) -> NDArray[Any]:
    matrix = np.random.default_rng(seed).integers(1, high, (n, n))
    np.fill_diagonal(matrix, 0)
    return matrix


def _assigned(matrix: NDArray[Any]) -> tuple[int, list[list[int]]]:
    """Return the length of an optimal assignment without loops, and its cycles."""
    far = matrix + _FAR * np.eye(len(matrix), dtype=int)
    following = linear_sum_assignment(far)[1].tolist()
    cycles: list[list[int]] = []
    for city in range(len(matrix)):
        if not any(city in cycle for cycle in cycles):
            cycle = [city]
            while following[cycle[-1]] != city:
                cycle.append(following[cycle[-1]])
            cycles.append(cycle)
    return sum(int(matrix[i, following[i]]) for i in range(len(matrix))), cycles


def _tours(backend: Backend, matrix: NDArray[Any], count: int, spread: int) -> NDArray[Any]:
    """Return tours of cities; each city's nodes have to follow each other."""
    found = Tours(backend, islands.tsp(distances=matrix)).assignment(count, spread)
    assert (found[:, 1::2] == found[:, ::2] + 1).all()
    cities = found[:, ::2] // 2
    assert (np.sort(cities, axis=1) == np.arange(len(matrix))).all()
    return cities


@pytest.mark.parametrize("cycles", [1, 2])
def test_cycles_are_shortest_and_joined_at_the_lowest_cost(cycles: int, backend: Backend) -> None:
    n, checked = 9, 0  # each city is a neighbour of all others
    for seed in range(60):
        matrix = _matrix(n, seed)
        length, parts = _assigned(matrix)
        if len(parts) != cycles:
            continue
        joined = 0
        if cycles == 2:
            one, other = parts
            after = {a: b for part in parts for a, b in zip(part, part[1:] + part[:1], strict=True)}
            own = {city: matrix[city, after[city]] for city in after}
            pairs = ((i, j, after[i], after[j]) for i in one for j in other)
            joined = min(matrix[i, b] + matrix[j, a] - own[i] - own[j] for i, j, a, b in pairs)
        (tour,) = _tours(backend, matrix, 1, 0)
        assert matrix[tour, np.roll(tour, -1)].sum() == length + joined
        checked += 1
        if checked == 4:
            return
    pytest.fail("too few matrices")


@pytest.mark.parametrize(
    "matrix",
    [
        _matrix(40, 1),
        _matrix(70, 2, high=4),  # many equal legs
        _matrix(50, 3) + _FAR * (np.add.outer(np.arange(50), np.arange(50)) % 2),  # two groups
        np.where(np.random.default_rng(4).random((30, 30)) < 0.3, np.inf, _matrix(30, 4)),
        _matrix(2, 5) + np.array([[0, 1000], [0, 0]]),
    ],
)
def test_tours_visit_each_city_once_and_differ(matrix: NDArray[Any], backend: Backend) -> None:
    found = _tours(backend, matrix, 6, 512)
    assert len({tuple(tour) for tour in found.tolist()}) >= (4 if len(matrix) >= 30 else 1)


def test_random_matrices_begin_near_the_bound() -> None:
    matrix = _matrix(200, 6)
    bound, _ = _assigned(matrix)
    problem = islands.tsp(distances=matrix)
    own = {"islands": 1, "population": 10, "evaluations": 2, "backend": "cpu"}
    near = islands.solve(problem, first_tours="assignment", **own)
    far = islands.solve(problem, first_tours="greedy", **own)
    assert bound <= near.cost < 1.1 * bound < far.cost
