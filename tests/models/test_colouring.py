"""Colourings compared with brute force, and with edges one by one."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend

RANDOM = np.random.default_rng(10)
EDGES = [(i, j) for i in range(8) for j in range(i) if RANDOM.random() < 0.6]
SEARCH = {"algorithm": "tempering", "generations": 40, "seed": 1}


def clashes(colours: Any) -> int:
    return sum(colours[i] == colours[j] for i, j in EDGES)


def fewest() -> int:
    return next(
        k for k in range(1, 9) if any(not clashes(each) for each in product(range(k), repeat=8))
    )


def test_the_fewest_colours_are_those_of_all_colourings(backend: Backend) -> None:
    problem = islands.models.graph_colouring(EDGES)
    result = islands.solve(problem, **SEARCH, backend=backend.name)
    colours = result.solution
    assert clashes(colours) == 0
    assert result.cost == len(set(colours.tolist())) == fewest()


@pytest.mark.parametrize(("nodes", "missing"), [(5, 0), (10, 0), (12, 0), (20, 0), (20, 10)])
def test_dense_graphs_get_the_colours_that_they_need(
    backend: Backend, nodes: int, missing: int
) -> None:
    """Random colours use only some of those that a dense graph needs."""
    pairs = {*combinations(range(nodes), 2)} - {(2 * k, 2 * k + 1) for k in range(missing)}
    problem = islands.models.graph_colouring([*pairs])
    for seed in range(1, 5):
        options = SEARCH | {"seed": seed, "islands": 1, "backend": backend.name}
        assert islands.solve(problem, **options).cost == nodes - missing


@pytest.mark.slow
def test_children_keep_the_classes_of_their_parents() -> None:
    random = np.random.default_rng(6)
    edges = [(a, b) for a in range(40) for b in range(a) if random.random() < 0.4]
    still = """
    using base::prepare;
    __device__ bool propose(const State&, const Solution&, int, const Data&, Random&, Step&) {
        return false;
    }
    """

    class Still(islands.models.GraphColouring, state=still):
        pass

    problem = Still(edges, 9)
    options = {"islands": 1, "population": 16, "tuning": 1, "patience": 1, "seed": 1}
    first, last = (
        islands.solve(problem, algorithm="tempering", **options, generations=each).cost
        for each in (1, 60)
    )
    # Nothing but the crossover changes a colouring. Children of other colours at random would be
    # no better than the best of sixteen random ones.
    assert last < first - 5


@pytest.mark.slow
def test_a_hidden_colouring_is_found() -> None:
    random, classes = np.random.default_rng(5), np.arange(90) % 9
    pairs = [(a, b) for a in range(90) for b in range(a) if classes[a] != classes[b]]
    edges = [each for each in pairs if random.random() < 0.7]
    problem = islands.models.graph_colouring(edges)
    assert islands.solve(problem, stop="evaluations=300000", seed=1).cost <= 9


def test_graphs_with_other_numbers_of_colours_share_a_program() -> None:
    whole = ([(a, b) for a in range(n) for b in range(a)] for n in (5, 40))
    some = [islands.models.graph_colouring(each) for each in whole]
    assert [each.colours for each in some] == [5, 40]
    assert some[0].header == some[1].header
    many = islands.models.graph_colouring(EDGES, 100)
    assert many.header != islands.models.graph_colouring(EDGES, 10).header
