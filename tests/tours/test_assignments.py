"""Directed first tours from shortest assignments, beside SciPy's assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from tours_for_tests import Tours

import islands
from islands.backends.base import Backend

_FAR = 10**6


def _matrix(n: int, seed: int, high: int = 1000) -> NDArray[Any]:
    matrix = np.random.default_rng(seed).integers(1, high, (n, n))
    np.fill_diagonal(matrix, 0)
    return matrix


def _assigned(matrix: NDArray[Any]) -> tuple[int, list[list[int]]]:
    """Return the length of a shortest assignment without loops, and its cycles."""
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
