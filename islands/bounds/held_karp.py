"""The lower bound of Held and Karp (1971): the largest value of a shortest 1-tree.

Subgradient steps improve the multipliers: a city with more than two edges in the 1-tree gets a
larger multiplier, a city with one edge a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from islands.backends.base import Backend
from islands.bounds.graph import Graph, Ints
from islands.bounds.pricing import Limit, Pricing
from islands.problems.base import Problem

_STEPS, _MORE_STEPS = 400, 200
_SHARE = 0.7  # of the time that is left, for the steps of a round
_ROUNDS = 10
_LITTLE = 1e-4
"""A round that raises the bound by less than this share, and finds no edges, is the last."""

_REACH = 0.02
"""A step aims at most at this share above the best value so far, as the tour may be long."""
_MOMENTUM = 0.3
"""The share of the previous direction in a step, which dampens oscillations."""

ONE_TREE, ESTIMATE, NEAREST = "1-tree", "estimate", "nearest"


@dataclass(frozen=True)
class Bound:
    """A lower bound, or only an estimate of it."""

    value: int
    kind: str
    """`1-tree`: no tour is shorter. `estimate`: the 1-tree is the shortest of a sparse graph, as
    the time did not suffice to compare all edges; a tour may be shorter."""
    seconds: float


def lower_bound(
    problem: Problem,
    tour: Ints,
    backend: Backend,
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Bound:
    """Return a lower bound of the lengths of all tours, given a good one, in about `seconds`.

    The steps use a sparse graph; then all edges of the complete graph are compared, and those that
    were missing are added. If this is not complete by then, it may take as long again. The program
    for it is compiled before the time begins.
    """
    goal = int(problem.costs(tour[np.newaxis])[0])
    if problem.size <= 3:
        return Bound(goal, ONE_TREE, 0.0)  # the only tour
    pricing = Pricing(problem, backend)
    limit = Limit(seconds, is_stopped)
    # A weak bound is worth more than an estimate.
    for_first = Limit(2 * seconds, is_stopped)
    graph = Graph(problem, tour)
    multipliers = np.zeros(graph.size, np.int64)
    best: int | None = None
    for number in range(_ROUNDS):
        steps = _STEPS if number == 0 else _MORE_STEPS
        multipliers = ascend(graph, multipliers, goal, limit.part(_SHARE), steps)
        edges = len(graph.lengths)
        if not _complete(graph, pricing, multipliers, for_first if best is None else limit):
            break
        before, value = best, graph.complete_value(multipliers)
        best = value if before is None else max(before, value)
        gains = before is None or best - before >= _LITTLE * abs(best)
        is_flat = not gains and len(graph.lengths) == edges
        if is_flat or _rounded_up(best, graph) >= goal or limit.left == 0.0:
            break
    if best is None:
        value = graph.one_tree(multipliers).value
        return Bound(_rounded_up(value, graph), ESTIMATE, limit.elapsed)
    return Bound(_rounded_up(best, graph), ONE_TREE, limit.elapsed)


def _complete(graph: Graph, pricing: Pricing, multipliers: Ints, limit: Limit) -> bool:
    """Add the edges of the shortest spanning tree of the complete graph; False: no time is left."""
    while (found := pricing.find(graph, multipliers, limit)) is not None:
        graph.add(found.starts, found.ends)
        if found.is_all:
            return True
        if limit.left == 0.0:
            break
    return False


def _rounded_up(value: int, graph: Graph) -> int:
    """Return the smallest whole length of a tour with at least a scaled length."""
    return -(-value // graph.scale)


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
