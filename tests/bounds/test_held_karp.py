"""The lower bound of Held and Karp."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from eax_for_tests import placed, shortest, weights
from numpy.typing import NDArray
from scipy.optimize import linprog
from tours_for_tests import distances

from islands.backends.base import Backend
from islands.bounds import graph as graphs
from islands.bounds import pricing as pricing_of
from islands.bounds.graph import Graph
from islands.bounds.held_karp import ESTIMATE, ONE_TREE, Bound, lower_bound
from islands.bounds.pricing import Pricing, TimeLimit
from islands.problems import load
from islands.problems.tsp import Tsp

Ints = NDArray[np.int64]


def random(n: int, metric: str = "EUC_2D", side: int = 1000) -> Tsp:
    return placed(np.random.default_rng(n).integers(0, side, (n, 2)), metric)


SMALL = {
    "random": random(9),
    "rounded up": random(8, "CEIL_2D"),
    "pseudo-euclidean": random(10, "ATT"),
    "small numbers": random(9, side=6),
    "duplicates": random(9, side=3),
    "one place": placed(np.ones((7, 2), np.int64)),
    "a line": placed(np.column_stack([np.arange(8) ** 2, np.full(8, 3)])),
    "two clusters": placed(np.array([(x, 10**6 * (x % 2)) for x in range(9)])),
    "weights": weights(9, 1000, 0),
    "large weights": weights(8, 2**31 - 1, 0),
    "three": random(3),
    "four": random(4),
    "five": random(5),
    "four weights": weights(4, 1000, 0),
    "five weights": weights(5, 1000, 0),
}


def bound_of(problem: Tsp, backend: Backend) -> Bound:
    return lower_bound(problem, np.arange(problem.size), backend, seconds=5.0)


def subtour_bound(problem: Tsp) -> float:
    """Return the optimum of the linear program over the subtour polytope."""
    n = problem.size
    edges = list(combinations(range(n), 2))
    costs = [distances(problem)[edge] for edge in edges]
    degrees = [[int(city in edge) for edge in edges] for city in range(n)]
    sets = [set(each) for k in range(3, n - 1) for each in combinations(range(n - 1), k)]
    inside = [[int({*edge} <= each) for edge in edges] for each in sets]
    most = [len(each) - 1 for each in sets]
    unequal = (inside, most) if sets else (None, None)
    found = linprog(costs, *unequal, degrees, [2] * n, bounds=(0, 1))
    return float(found.fun)


@pytest.mark.parametrize("name", SMALL)
def test_the_bound_is_that_of_the_linear_program(name: str, backend: Backend) -> None:
    problem = SMALL[name]
    exact = subtour_bound(problem)
    # The linear program is solved in floating-point numbers.
    highest = int(np.ceil(exact * (1 + 1e-7) - 1e-3))
    found = bound_of(problem, backend)
    assert found.kind == ONE_TREE
    assert 0.995 * exact - 1e-6 <= found.value <= highest
    assert found.value <= shortest(problem)


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].size > 3])
def test_a_1_tree_has_as_many_edges_as_cities(name: str) -> None:
    problem = SMALL[name]
    n = problem.size
    graph = Graph(problem, np.arange(n))
    multipliers = np.random.default_rng(n).integers(-50, 50, n) * graph.scale
    found = graph.one_tree(multipliers)
    assert found.degrees.sum() == 2 * n
    assert found.degrees[found.leaf] == 2
    heavy = graph.weights(multipliers)
    ends = np.r_[graph.starts[found.tree.edges], graph.ends[found.tree.edges]]
    more = found.degrees - np.bincount(ends, minlength=n)
    (other,) = np.flatnonzero(more - (np.arange(n) == found.leaf))
    edge = np.flatnonzero(
        (graph.starts == min(other, found.leaf)) & (graph.ends == max(other, found.leaf))
    )
    whole = heavy[found.tree.edges].sum() + heavy[edge].sum()
    assert found.value == whole - 2 * multipliers.sum()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_only_tour_is_its_own_bound(n: int, backend: Backend) -> None:
    problem = random(n)
    assert bound_of(problem, backend).value == problem.cost(np.arange(n))


@pytest.mark.parametrize(
    ("name", "least"),
    [("berlin52", 7542), ("ulysses22", 0), ("att48", 0), ("gr24", 0), ("kroA100", 0)],
)
def test_bounds_of_published_instances_are_near_their_optima(
    name: str, least: int, backend: Backend, published: Path
) -> None:
    problem = load(f"tsplib/{name}")
    best = problem.best_known.value
    found = bound_of(problem, backend)
    assert max(least, 0.98 * best) <= found.value <= best


def one_tree_by_prim(problem: Tsp, multipliers: Ints, scale: int, leaf: int) -> int:
    """Return the weight of the shortest 1-tree of the complete graph whose extra city is `leaf`."""
    weights = scale * distances(problem) + multipliers[:, np.newaxis] + multipliers
    left = [city for city in range(problem.size) if city != leaf]
    near = {city: weights[left[0], city] for city in left[1:]}
    total = int(np.sort(np.delete(weights[leaf], leaf))[:2].sum())
    while near:
        city = min(near, key=lambda each: near[each])
        total += int(near.pop(city))
        near = {each: min(far, weights[city, each]) for each, far in near.items()}
    return total - 2 * int(multipliers.sum())


def complete(graph: Graph, multipliers: Ints, pricing: Pricing) -> None:
    """Add all edges that a shortest 1-tree needs."""
    is_all = False
    while not is_all:
        found = pricing.find(graph, multipliers, TimeLimit(60.0, lambda: False))
        graph.add(found.starts, found.ends)
        is_all = found.is_all


@pytest.mark.parametrize("problem", [random(150), random(130, side=9), weights(110, 1000, 0)])
@pytest.mark.parametrize("few", [4096, 40])
def test_missing_edges_are_found(
    problem: Tsp, few: int, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "_NEAREST", 1)
    monkeypatch.setattr(pricing_of, "_FEW", few)
    n = problem.size
    graph = Graph(problem, np.arange(n))
    multipliers = graph.scale * np.random.default_rng(n).integers(-200, 200, n)
    before, pricing = graph.one_tree(multipliers), Pricing(problem, backend)
    complete(graph, multipliers, pricing)
    after = graph.one_tree(multipliers)
    assert after.tree.total < before.tree.total
    value = graph.complete_value(multipliers)
    assert value == one_tree_by_prim(problem, multipliers, graph.scale, after.leaf)


def test_gaps_behind_skipped_tiles_count(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    # Three tiles of the line. The last city of the first one is nearer to the third tile than the
    # second tile is, which is too far away to be compared.
    side = np.arange(64)
    first = np.column_stack([16 * (side - 63), 0 * side])
    second = np.column_stack([0 * side, -20 - side])
    third = np.column_stack([side, 500 + 0 * side])
    problem = placed(np.vstack([first, second, third]))
    monkeypatch.setattr(graphs, "_NEAREST", 1)
    graph = Graph(problem, np.arange(problem.size))
    multipliers, pricing = np.zeros(problem.size, np.int64), Pricing(problem, backend)
    complete(graph, multipliers, pricing)
    leaf = graph.one_tree(multipliers).leaf
    value = graph.complete_value(multipliers)
    assert value == one_tree_by_prim(problem, multipliers, graph.scale, leaf)


@pytest.mark.parametrize("few", [4096, 5000])
def test_an_estimate_needs_no_time(
    few: int, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing_of, "_FEW", few)
    problem = random(5000, side=10**6)
    places = problem.near.places
    tour = np.lexsort((places[:, 1].astype(int), (places[:, 0] // 20_000).astype(int)))  # strips
    found = lower_bound(problem, tour, backend, 60.0, is_stopped=lambda: True)
    # A launch that has compared all edges, as each does on a GPU, gives a bound.
    compares_all = few >= problem.size or not backend.in_host_memory
    assert found.kind == (ONE_TREE if compares_all else ESTIMATE)
    assert 0 < found.value < problem.cost(tour)
