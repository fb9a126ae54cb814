"""Random instances for the runs in docs/measured, drawn as in well-known collections.

Graphs with half of all possible edges, as in DIMACS' DSJC; items of size 20 to 100 in bins of 150,
and triplets that fill bins of 1000, as in Falkenauer's sets; p-medians in random networks, as in
OR-Library's pmed; diversities with integer distances up to 10, as in MDG-a.
"""

from __future__ import annotations

import numpy as np

import islands


def _colouring(nodes: int) -> islands.Problem:
    random = np.random.default_rng(nodes)
    edges = np.argwhere(np.tril(random.random((nodes, nodes)) < 0.5, -1))
    return islands.models.graph_colouring(edges, name=f"random-colouring-{nodes}")


def _uniform(items: int) -> islands.Problem:
    sizes = np.random.default_rng(items).integers(20, 101, items)
    return islands.models.bin_packing(sizes, 150, name=f"random-uniform-{items}")


def _triplets(items: int) -> islands.Problem:
    random, sizes = np.random.default_rng(items), list[int]()
    while len(sizes) < items:
        first = int(random.integers(380, 491))
        second = int(random.integers(250, (1000 - first) // 2 + 1))
        sizes += [first, second, 1000 - first - second]
    return islands.models.bin_packing(sizes, 1000, name=f"random-triplets-{items}")


def _median(nodes: int, p: int) -> islands.Problem:
    from scipy.sparse.csgraph import shortest_path

    random = np.random.default_rng(nodes)
    ways = np.full((nodes, nodes), np.inf)
    begin, end = random.integers(0, nodes, (2, nodes**2 // 50))
    ways[begin, end] = random.integers(1, 101, len(begin))
    line = np.arange(nodes)
    ways[line, np.roll(line, 1)] = random.integers(1, 101, nodes)  # so that all nodes are connected
    ways = shortest_path(np.minimum(ways, ways.T), method="D", directed=False).astype(np.int64)
    return islands.models.p_median(ways, p, name=f"random-pmedian-{nodes}-{p}")


def _diversity(items: int, size: int) -> islands.Problem:
    distances = np.tril(np.random.default_rng(items).integers(0, 11, (items, items)), -1)
    both = distances + distances.T
    return islands.models.max_diversity(both, size, name=f"random-diversity-{items}-{size}")


colouring125, colouring250, colouring500 = map(_colouring, (125, 250, 500))
uniform120, uniform250, uniform500 = map(_uniform, (120, 250, 500))
triplets60, triplets120, triplets249 = map(_triplets, (60, 120, 249))
pmedian100, pmedian200, pmedian400 = (_median(n, p) for n, p in ((100, 10), (200, 20), (400, 40)))
diversity100, diversity500, diversity1000 = (_diversity(n, n // 10) for n in (100, 500, 1000))
