"""Cuts, colours, covers, cliques and independent sets of graphs of networkx."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import islands
from islands.networkx.calls import Clock, seed_of, weights_of, whole

PROVING = 0.2
"""The part of the time for a proof that a cover or a clique is optimal."""
_MOST_NESTED = 400
"""Nodes of a clique up to which the proof is tried, which calls itself for each."""
MOST_ROWS = 5_000
"""Of a covering problem; independent sets of more edges are quadratic problems."""
_STEPS = 20
"""Steps for each node in a generation of a covering, which is short then."""


def cut_of(
    graph: Any, initial: Any, seed: Any, weight: str | None, clock: Clock
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Return the value and the sides of a large cut; loops and isolated nodes do not matter."""
    nodes = [*graph]
    place = {node: k for k, node in enumerate(nodes)}
    edges = [
        (one, two, 1 if weight is None else data.get(weight, 1))
        for one, two, data in graph.edges(data=True)
        if one != two
    ]
    chosen = {*(initial or ())} & {*nodes}
    if edges:
        pairs = [(place[one], place[two]) for one, two, _ in edges]
        problem = islands.models.max_cut(pairs, whole([each for *_, each in edges]))
        settings: dict[str, Any] = {}
        if chosen:
            settings["start"] = [[int(node in chosen) for node in nodes[: problem.size]]]
        side = clock.solution(problem, seed=seed_of(seed), **settings)
        chosen = {node for node, own in zip(nodes, side, strict=False) if own}
    value = sum(each for one, two, each in edges if (one in chosen) != (two in chosen))
    return value, (chosen, {*nodes} - chosen)


def colours_of(graph: Any, clock: Clock) -> dict[Any, int]:
    """Return the colour of each node, from 0; fewer than a clique has nodes are impossible."""
    import numpy as np

    nodes = [*graph]
    place = {node: k for k, node in enumerate(nodes)}
    edges = {(place[a], place[b]) for a, b, *_ in graph.edges if a != b}
    if not edges:
        return dict.fromkeys(nodes, 0)
    problem = islands.models.graph_colouring([*edges])
    assert problem.plain is not None
    statement: Any = problem.plain()
    seconds = clock.left() * PROVING
    least = len(clock.of_first_rank(lambda: clique_of(graph, seconds)[0]))
    keys = clock.solution(problem, [f"target={least}"])
    colours = islands.models.colouring.colours_of(keys, statement.most)
    colours = np.unique(colours, return_inverse=True)[1].tolist()
    return dict(zip(nodes, [*colours, *[0] * len(nodes)], strict=False))


def clique_of(graph: Any, seconds: float) -> tuple[set[Any], bool]:
    """Return a clique, and whether none is larger: candidates are coloured to bound it (Tomita)."""
    end, nodes = time.perf_counter() + seconds, sorted(graph, key=lambda each: len(graph[each]))
    near = {node: {*graph[node]} - {node} for node in nodes}
    best: list[Any] = []
    for node in nodes[::-1]:
        if near[node].issuperset(best):
            best.append(node)
    if len(best) > _MOST_NESTED:
        return set(best), False

    def extend(clique: list[Any], candidates: list[Any]) -> bool:
        """Look at the cliques with some candidates; return whether there was time for all."""
        nonlocal best
        if len(clique) > len(best):
            best = clique
        classes: list[set[Any]] = []
        bounds = list[tuple[int, Any]]()
        for node in candidates[::-1]:
            own = next((k for k, one in enumerate(classes) if not one & near[node]), len(classes))
            classes[own:own] = [set()] if own == len(classes) else []
            classes[own].add(node)
            bounds.append((own + 1, node))
        bounds.sort(key=lambda each: each[0])
        while bounds:
            colours, node = bounds.pop()
            if len(clique) + colours <= len(best):
                return True
            left = [other for _, other in bounds if other in near[node]]
            if time.perf_counter() > end or not extend([*clique, node], left):
                return False
        return True

    is_largest = extend([], nodes)
    return set(best), is_largest


def cover_of(graph: Any, rows: list[set[Any]], weight: str | None, clock: Clock) -> set[Any]:
    """Return nodes of little weight, of which each row has one; the best, if it is proven soon."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    nodes, costs = [*graph], np.asarray(weights_of(graph, weight), float)
    if (costs < 0).any() or not np.isfinite(costs).all():
        raise ValueError(f"the weight {costs.min()} of a node: must be a number of at least 0")
    place = {node: k for k, node in enumerate(nodes)}
    free = {node for node, cost in zip(nodes, costs, strict=True) if cost == 0}
    left = [[place[node] for node in row] for row in rows if not row & free]
    if not left:
        return free
    first = np.cumsum([0, *map(len, left)])
    matrix = csr_array((np.ones(first[-1]), np.concatenate(left), first), (len(left), len(nodes)))
    options = {"time_limit": PROVING * clock.seconds}

    def proven() -> tuple[Any, bool]:
        found = milp(
            costs,
            integrality=np.ones(len(nodes)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, 1, np.inf),
            options=options,
        )
        return found.x, found.status == 0

    chosen, is_best = clock.of_first_rank(proven)
    if not is_best:
        problem = islands.models.set_cover(np.maximum(whole(costs), 1), left)
        searched = clock.solution(problem, proposals=_STEPS * len(nodes)).astype(float)
        for row in left:  # of a search that had little time
            if not searched[row].any():
                searched[min(row, key=costs.__getitem__)] = 1
        if chosen is None or costs @ searched < costs @ np.rint(chosen):
            chosen = searched
    return free | {node for node, own in zip(nodes, chosen, strict=True) if own > 0.5}


def independent_of(
    nodes: list[Any], edges: Iterable[Any], weights: Sequence[float], clock: Clock
) -> set[Any]:
    """Return nodes of much weight without an edge between them, by a quadratic problem.

    An edge costs more than its lighter node, so that leaving one of two out is better.
    """
    import numpy as np
    from scipy.sparse import coo_array

    place = {node: k for k, node in enumerate(nodes)}
    ends = np.array([(place[edge[0]], place[edge[1]]) for edge in edges]).T
    gain = np.maximum(whole(weights), 1)
    is_loop = ends[0] == ends[1]
    cost = np.where(is_loop, 1 + gain[ends[0]], 1 + np.minimum(*gain[ends]))
    items = np.arange(len(nodes))
    rows, columns = np.concatenate([ends[0], items]), np.concatenate([ends[1], items])
    matrix = coo_array((np.concatenate([cost, -gain]), (rows, columns)), (len(nodes), len(nodes)))
    chosen = clock.solution(islands.qubo(matrix)).astype(bool)
    for one, two in ends.T.tolist():  # of a search that had little time
        if chosen[one] and chosen[two]:
            chosen[one if gain[one] <= gain[two] else two] = False
    return {node for node, own in zip(nodes, chosen, strict=True) if own}
