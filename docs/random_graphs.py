"""Random graphs with about eight edges at each node, for the max-cut runs in docs/measured."""

from __future__ import annotations

import numpy as np

import islands


def _graph(nodes: int) -> islands.Problem:
    random = np.random.default_rng(nodes)
    ends = random.integers(0, nodes, (4 * nodes, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return islands.models.max_cut(ends, name=f"random-{nodes}")


graph5000 = _graph(5000)
graph10000 = _graph(10_000)
