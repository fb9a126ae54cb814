"""Neighbours, greedy tours and local search with lists of neighbours."""

import numpy as np
import pytest
from eax_for_tests import placed, weights
from problems_for_tests import lattice
from tours_for_tests import Tours, distances, expected_neighbours, is_local_optimum

from islands.backends.base import Backend

RNG = np.random.default_rng(3)
PROBLEMS = {
    "random": placed(RNG.integers(0, 1000, (300, 2))),
    "rounded up": placed(RNG.integers(0, 1000, (90, 2)), "CEIL_2D"),
    "clusters": placed(
        np.repeat(RNG.integers(0, 10**6, (6, 2)), 40, axis=0) + RNG.random((240, 2))
    ),
    "duplicates": placed(RNG.integers(0, 4, (150, 2))),
    "a line": placed(np.column_stack([np.full(120, 7), RNG.integers(0, 60, 120)])),
    "a grid": placed(np.array([(x, y) for x in range(12) for y in range(12)])),
    "one place": placed(np.ones((60, 2))),
    "near a half": lattice("ATT"),
    "weights": weights(70, 1000),
    "equal weights": weights(60, 4),
    "five": placed(RNG.integers(0, 100, (5, 2))),
    "two": placed(RNG.integers(0, 100, (2, 2))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_neighbours_are_those_of_all_pairs(name: str, backend: Backend) -> None:
    problem = PROBLEMS[name]
    assert (Tours(backend, problem).neighbours() == expected_neighbours(problem)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("spread", [0, 200])
def test_greedy_tours_visit_each_city_once(name: str, spread: int, backend: Backend) -> None:
    problem = PROBLEMS[name]
    for tour in Tours(backend, problem).greedy(4, spread):
        assert sorted(tour.tolist()) == list(range(problem.size))


@pytest.mark.parametrize("seed", range(6))
def test_tours_without_spread_take_the_shortest_edges_first(backend: Backend, seed: int) -> None:
    # Every city is a neighbour of all others. Distances differ, or many are equal.
    random = np.random.default_rng(seed)
    points = random.integers(0, 10**6, (11, 2))
    if seed % 2:
        points = 10 * np.column_stack(np.divmod(random.permutation(16)[:11], 4))
    problem = placed(points)
    matrix = distances(problem)
    # Of equals, the edge of the lower city comes first.
    edges = sorted((int(matrix[a, b]), a, b) for b in range(11) for a in range(b))
    path, degree, taken = list(range(11)), [0] * 11, set[frozenset[int]]()
    for _, a, b in edges:
        if path[a] != path[b] and max(degree[a], degree[b]) < 2:
            taken.add(frozenset((a, b)))
            degree[a], degree[b] = degree[a] + 1, degree[b] + 1
            path = [path[a] if each == path[b] else each for each in path]
    tour = Tours(backend, problem).greedy(1, 0)[0].tolist()
    assert taken == {frozenset(tour[i : i + 2]) for i in range(10)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_search_ends_in_a_local_optimum(name: str, backend: Backend) -> None:
    problem = PROBLEMS[name]
    tours = Tours(backend, problem)
    rng = np.random.default_rng(1)
    before = np.array([rng.permutation(problem.size) for _ in range(3)])
    after, lengths = tours.improved(before)
    assert (lengths == problem.costs(after.astype(np.int64))).all()
    assert (lengths <= problem.costs(before)).all()
    for tour in after.tolist():
        assert sorted(tour) == list(range(problem.size))
    neighbours = tours.neighbours()
    assert is_local_optimum(problem, after[0].tolist(), neighbours)


def test_a_short_move_comes_before_a_long_one_with_a_larger_gain(backend: Backend) -> None:
    # Cities on a circle, of which one long interval is reversed, and a short one inside it.
    around = list(range(64))
    around[5:31] = around[5:31][::-1]
    around[15:19] = around[15:19][::-1]
    # City 0 finds the long move first, and city 32 the short one.
    angles = [4, *(i for i in range(33) if i not in (4, 21)), 21, *range(33, 64)]
    city = {angle: number for number, angle in enumerate(angles)}
    assert (city[4], city[21]) == (0, 32)
    turns = 2 * np.pi * np.array(angles) / 64
    problem = placed(np.round(10_000 * np.column_stack([np.cos(turns), np.sin(turns)])))
    before = np.array([[city[angle] for angle in around]])
    after = Tours(backend, problem, 1).improved(before)[0][0].tolist()
    at = [angles[each] for each in after]
    joined = {frozenset(pair) for pair in zip(at, at[1:] + at[:1], strict=True)}
    assert {frozenset((21, 20)), frozenset((17, 16))} <= joined
    assert {frozenset((4, 30)), frozenset((5, 31))} <= joined


def test_gains_of_more_than_32_bits_are_compared(backend: Backend) -> None:
    # Lengths along a line are whole, so that a larger unit leads to the same tours.
    places = np.column_stack([RNG.permutation(200), np.zeros(200)])
    before = np.array([RNG.permutation(200) for _ in range(3)])
    small, large = (
        Tours(backend, placed(places * unit)).improved(before)[0] for unit in (1.0, 2.0**36)
    )
    assert (small == large).all()
