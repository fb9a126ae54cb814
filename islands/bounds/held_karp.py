"""The lower bound of Held and Karp (1971): the largest value of a minimum 1-tree.

Subgradient steps improve the multipliers: those of cities with more than two edges in the 1-tree
increase, those of cities with one edge decrease.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from islands.backends.base import Backend
from islands.bounds.graph import Graph, Ints
from islands.bounds.pricing import Pricing, TimeLimit
from islands.problems.base import Problem

_STEPS, _MORE_STEPS = 400, 200
_SHARE = 0.7  # share of the remaining time for the steps of a round
_ROUNDS = 10
_LITTLE = 1e-4
"""Rounds end with the first one that raises the bound by less than this share and adds no edges."""

_REACH = 0.02
"""The target of a step exceeds the best value by at most this share, as the tour may be long."""
_MOMENTUM = 0.3
"""Weight of the previous direction in a step, which dampens oscillations."""

ONE_TREE, ESTIMATE, NEAREST = "1-tree", "estimate", "nearest"


@dataclass(frozen=True)
class Bound:
    """A lower bound, or an estimate of it."""

    value: int
    kind: str
    """`1-tree`: no tour is shorter. `estimate`: the 1-tree is the shortest of a sparse graph, as
    there was no time to compare all edges; a tour may be shorter."""
    seconds: float


def lower_bound(
    problem: Problem,
    tour: Ints,
    backend: Backend,
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Bound:
    """Return a lower bound on all tour lengths, given a good tour, in about `seconds`.

    The steps use a sparse graph. Then all edges of the complete graph are compared, and missing
    ones are added. If this is incomplete at the limit, it may take as long again. Compilation does
    not count towards the limit.
    """
    goal = int(problem.costs(tour[np.newaxis])[0])
    if problem.size <= 3:
        return Bound(goal, ONE_TREE, 0.0)  # the only tour
    pricing = Pricing(problem, backend)
    limit = TimeLimit(seconds, is_stopped)
    # A weak bound is more useful than an estimate.
    for_first = TimeLimit(2 * seconds, is_stopped)
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


def _complete(graph: Graph, pricing: Pricing, multipliers: Ints, limit: TimeLimit) -> bool:
    """Add missing edges of the complete graph's minimum spanning tree; False at the time limit."""
    while (shorter := pricing.find(graph, multipliers, limit)) is not None:
        graph.add(shorter.starts, shorter.ends)
        if shorter.is_all:
            return True
        if limit.left == 0.0:
            break
    return False


def _rounded_up(value: int, graph: Graph) -> int:
    """Return a scaled length in the unit of tours, rounded up to an integer."""
    return -(-value // graph.scale)


def ascend(graph: Graph, multipliers: Ints, goal: int, limit: TimeLimit, steps: int) -> Ints:
    """Return the best multipliers of at most `steps` steps.

    `goal` is the length of a tour, an upper limit of all bounds. Step sizes start at twice the one
    that would reach the target if the bound were linear, and decrease to 0.
    """
    # Cities in a cluster are close to each other and need smaller steps.
    scales = graph.local_lengths()
    scales += 0.01 * scales.mean() + 1e-9
    best, best_value = multipliers, -graph.most * graph.size
    before = np.zeros(graph.size)
    for step in range(steps):
        tree = graph.one_tree(multipliers)
        if tree.value > best_value:
            best, best_value = multipliers, tree.value
        excess = (tree.degrees - 2).astype(np.float64)
        done = max(step / steps, limit.share)
        if tree.value > graph.scale * (goal - 1) or not excess.any() or done >= 1.0:
            break
        aim = min(graph.scale * goal, best_value + int(_REACH * abs(best_value)))
        length = 2.0 * (1.0 - done) * (aim - tree.value) / float((excess**2 * scales).sum())
        direction = (1.0 - _MOMENTUM) * excess + _MOMENTUM * before
        moved = multipliers + np.rint(length * scales * direction).astype(np.int64)
        multipliers, before = np.clip(moved, -graph.most, graph.most), excess
    return best
