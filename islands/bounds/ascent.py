"""Improve multipliers by subgradient steps (Held and Karp 1971).

A city with more than two edges in the 1-tree gets a larger multiplier, a city with one edge a
smaller one.
"""

from __future__ import annotations

import numpy as np

from islands.bounds.graph import Graph, Ints
from islands.bounds.limit import Limit

_REACH = 0.02
"""A step aims at most at this share above the best value so far, as the tour may be long."""
_MOMENTUM = 0.3
"""The share of the previous direction in a step, which dampens oscillations."""


def ascend(graph: Graph, multipliers: Ints, goal: int, limit: Limit, steps: int) -> Ints:
    """Return the best multipliers of at most `steps` steps.

    `goal` is the length of a tour, which no bound exceeds. Steps begin with twice the length that
    would reach the aim if the bound were linear, and end with 0.
    """
    # In a cluster, cities are near each other, so that smaller steps fit.
    scales = graph.local_lengths()
    scales += 0.01 * scales.mean() + 1e-9
    best, best_value = multipliers, -graph.most * graph.size
    before = np.zeros(graph.size)
    for step in range(steps):
        found = graph.one_tree(multipliers)
        if found.value > best_value:
            best, best_value = multipliers, found.value
        excess = (found.degrees - 2).astype(np.float64)
        done = max(step / steps, limit.share)
        if found.value > graph.scale * (goal - 1) or not excess.any() or done >= 1.0:
            break
        aim = min(graph.scale * goal, best_value + int(_REACH * abs(best_value)))
        length = 2.0 * (1.0 - done) * (aim - found.value) / float((excess**2 * scales).sum())
        direction = (1.0 - _MOMENTUM) * excess + _MOMENTUM * before
        moved = multipliers + np.rint(length * scales * direction).astype(np.int64)
        multipliers, before = np.clip(moved, -graph.most, graph.most), excess
    return best
