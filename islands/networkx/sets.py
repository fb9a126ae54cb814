"""Cuts, colours, covers, cliques and independent sets of networkx graphs."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import islands
from islands.networkx.calls import Clock, moderate, number_of, seed_of, weights_of, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROVING = 0.2
"""Share of the time for a proof that a cover or a clique is optimal."""
_MOST_NESTED = 400
"""Maximum size of a clique for a proof, which is also the depth of the recursion."""
_MOST_MISSING = 300_000
"""Maximum number of missing edges to list for a clique search; listing more takes seconds."""
_MOST_ROWS = 5_000
"""Maximum number of rows of a covering problem; with more, a quadratic problem is solved."""
_STEPS = 20
"""Steps per node in a generation of a covering problem: few, so that generations are short."""


def cut_of(
    graph: Any, initial: Any, seed: Any, weight: str | None, clock: Clock
) -> tuple[Any, tuple[set[Any], set[Any]]]:
    """Return the value and the sides of a large cut; loops and isolated nodes are ignored."""
    nodes = [node for node in graph if any(other != node for other in graph[node])]
    place = {node: k for k, node in enumerate(nodes)}
    edges = [
        (one, two, 1 if weight is None else data.get(weight, 1))
        for one, two, data in graph.edges(data=True)
        if one != two
    ]
    chosen = {*(initial or ())} & {*graph}
    if edges:
        pairs = [(place[one], place[two]) for one, two, _ in edges]
        weights = whole([number_of(weight, one, two) for one, two, weight in edges])
        problem = islands.models.max_cut(pairs, weights)
        settings: dict[str, Any] = {}
        if chosen:
            settings["start"] = [[int(node in chosen) for node in nodes]]
        side = clock.solution(problem, seed=seed_of(seed), **settings)
        chosen -= {*nodes}  # keeps nodes without edges
        chosen |= {node for node, is_one in zip(nodes, side, strict=True) if is_one}
    value = sum(weight for one, two, weight in edges if (one in chosen) != (two in chosen))
    return value, (chosen, {*graph} - chosen)


def colours_of(graph: Any, clock: Clock) -> dict[Any, int]:
    """Return the colour of each node, from 0; the size of a clique is a lower bound."""
    import numpy as np

    nodes = [node for node in graph if any(other != node for other in graph[node])]
    place = {node: k for k, node in enumerate(nodes)}
    edges = {(place[a], place[b]) for a, b, *_ in graph.edges if a != b}
    if not edges:
        return dict.fromkeys(graph, 0)
    problem = islands.models.graph_colouring([*edges])
    seconds = clock.left() * _PROVING
    least = len(clock.of_first_rank(lambda: clique_of(graph, seconds)[0]))
    colours = clock.solution(problem, [f"target={least}"])
    colouring = dict(zip(nodes, colours.tolist(), strict=True))
    one, two = np.array([*edges]).T
    if (colours[one] == colours[two]).any():
        _separate(graph, colouring)  # the search had little time
    used = {colour: k for k, colour in enumerate(sorted({*colouring.values()}))}
    return dict.fromkeys(graph, 0) | {node: used[colour] for node, colour in colouring.items()}


def _separate(graph: Any, colours: dict[Any, int]) -> None:
    """Give each node with the colour of an earlier neighbour the first free colour."""
    seen: set[Any] = set()
    for node, colour in colours.items():
        taken = {colours[other] for other in graph[node] if other in seen}
        if colour in taken:
            colours[node] = next(k for k in range(len(taken) + 1) if k not in taken)
        seen.add(node)


def largest_clique(graph: Any, clock: Clock) -> set[Any]:
    """Return a large clique; it is the largest one if a quick proof succeeds.

    Otherwise, search for an independent set of the complement, unless it has too many edges.
    """
    import numpy as np

    nodes, loops = [*graph], sum(node in graph[node] for node in graph)
    missing = len(nodes) * (len(nodes) - 1) // 2 + loops - graph.number_of_edges()
    if missing == 0:
        return {*nodes}
    seconds = clock.left() * (_PROVING if missing <= _MOST_MISSING else 1.0)
    clique: set[Any]
    clique, is_largest = clock.of_first_rank(lambda: clique_of(graph, seconds))
    if is_largest or missing > _MOST_MISSING:
        return clique
    place = {node: k for k, node in enumerate(nodes)}
    apart = np.tri(len(nodes), k=-1, dtype=bool)
    for node, k in place.items():
        apart[k, [place[other] for other in graph[node]]] = False
    pairs = [(nodes[one], nodes[two]) for one, two in np.argwhere(apart).tolist()]
    independent = {*nodes} - vertex_cover_of(graph, pairs, None, clock)
    return max(clique, independent, key=len)


def clique_of(graph: Any, seconds: float) -> tuple[set[Any], bool]:
    """Return a clique, and whether it is proven to be the largest one.

    The candidates of a node are its neighbours that follow in smallest-last order: in a sparse
    graph, there are few.
    """
    end, nodes = time.perf_counter() + seconds, sorted(graph, key=lambda node: len(graph[node]))
    near = {node: {*graph[node]} - {node} for node in nodes}
    cliques = _Cliques(near, end)
    for node in nodes[::-1]:
        if near[node].issuperset(cliques.best):
            cliques.best.append(node)
    if len(cliques.best) > _MOST_NESTED:
        return {*cliques.best}, False
    rank = {node: k for k, node in enumerate(_smallest_last(graph, near, nodes))}
    place = {node: k for k, node in enumerate(nodes)}
    for node in sorted(nodes, key=rank.__getitem__, reverse=True):
        after = (other for other in near[node] if rank[other] > rank[node])
        later = sorted(after, key=place.__getitem__)
        if len(later) < len(cliques.best):
            continue
        try:
            is_complete = cliques.extend([node], later)
        except RecursionError:  # very large clique
            is_complete = False
        if not is_complete:
            return {*cliques.best}, False
    return {*cliques.best}, True


@dataclass
class _Cliques:
    """Branch and bound for cliques; a colouring of the candidates is the bound (Tomita)."""

    near: Mapping[Any, set[Any]]
    """The neighbours of each node."""
    end: float
    best: list[Any] = field(default_factory=list)

    def extend(self, clique: list[Any], candidates: list[Any]) -> bool:
        """Search the extensions of a clique; return whether there was time for all."""
        if len(clique) > len(self.best):
            self.best = clique
        classes: list[set[Any]] = []
        bounds = list[tuple[int, Any]]()
        for node in candidates[::-1]:
            if time.perf_counter() > self.end:
                return False
            near = self.near[node]
            colour = next((k for k, group in enumerate(classes) if group.isdisjoint(near)), None)
            if colour is None:
                colour = len(classes)
                classes.append(set())
            classes[colour].add(node)
            bounds.append((colour + 1, node))
        bounds.sort(key=itemgetter(0))
        while bounds:
            colours, node = bounds.pop()
            if len(clique) + colours <= len(self.best):
                return True
            left = [other for _, other in bounds if other in self.near[node]]
            if not self.extend([*clique, node], left):
                return False
        return True


def _smallest_last(graph: Any, near: Mapping[Any, set[Any]], nodes: Sequence[Any]) -> list[Any]:
    """Return the nodes in smallest-last order: remove the one with the fewest neighbours left."""
    left = {node: len(near[node]) for node in nodes}
    waiting: list[list[Any]] = [[] for _ in range(max(left.values(), default=0) + 1)]
    for node in nodes:
        waiting[left[node]].append(node)
    order, fewest = list[Any](), 0
    while len(order) < len(nodes):
        while not waiting[fewest]:
            fewest += 1
        node = waiting[fewest].pop()
        if left.get(node) != fewest:
            continue  # removed already, or listed again with fewer neighbours
        del left[node]
        order.append(node)
        for other in graph[node]:
            if other in left:
                left[other] -= 1
                waiting[left[other]].append(other)
        fewest = max(0, fewest - 1)
    return order


def vertex_cover_of(
    graph: Any, edges: Collection[Any], weight: str | None, clock: Clock
) -> set[Any]:
    """Return nodes of small total weight that cover the edges between nodes of a graph."""
    if len(edges) <= _MOST_ROWS:
        return cover_of(graph, [{*edge[:2]} for edge in edges], weight, clock)
    costs = dict(zip(graph, weights_of(graph, weight), strict=True))
    free = {node for node, cost in costs.items() if cost == 0}
    left = [edge for edge in edges if not free & {*edge[:2]}]
    others = [node for node in costs if node not in free]
    if not left:
        return free
    weights = [costs[node] for node in others]
    return {*graph} - independent_of(others, left, weights, clock)


def cover_of(graph: Any, rows: list[set[Any]], weight: str | None, clock: Clock) -> set[Any]:
    """Return nodes of small total weight that hit each row; optimal if a quick proof succeeds."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    nodes, costs = [*graph], moderate(np.array(weights_of(graph, weight), float))
    place = {node: k for k, node in enumerate(nodes)}
    free = {node for node, cost in zip(nodes, costs, strict=True) if cost == 0}
    left = [[place[node] for node in row] for row in rows if not row & free]
    if not left:
        return free
    first = np.cumsum([0, *map(len, left)])
    matrix = csr_array((np.ones(first[-1]), np.concatenate(left), first), (len(left), len(nodes)))
    options = {"time_limit": _PROVING * clock.seconds, "mip_rel_gap": 0.0}

    def proven() -> tuple[Any, bool]:
        result = milp(
            costs,
            integrality=np.ones(len(nodes)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, 1, np.inf),
            options=options,
        )
        return result.x, result.status == 0

    chosen, is_best = clock.of_first_rank(proven)
    if not is_best:
        problem = islands.models.set_cover(np.maximum(whole(costs), 1), left)
        searched = clock.solution(problem, proposals=_STEPS * len(nodes)).astype(float)
        for row in left:  # rows left uncovered because time was short
            if not searched[row].any():
                searched[min(row, key=costs.__getitem__)] = 1
        if chosen is None or costs @ searched < costs @ np.rint(chosen):
            chosen = searched
    return free | {node for node, value in zip(nodes, chosen, strict=True) if value > 0.5}


def independent_of(
    nodes: list[Any], edges: Iterable[Any], weights: Sequence[float], clock: Clock
) -> set[Any]:
    """Return an independent set of large weight, found by solving a quadratic problem.

    An edge inside the set costs more than its lighter node, so it is better to drop that node.
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
    first = _greedy_set(ends, gain)
    chosen = clock.solution(islands.qubo(matrix), start=[first]).astype(bool)
    for one, two in ends.T.tolist():  # edges inside the set, if time was short
        if chosen[one] and chosen[two]:
            chosen[one if gain[one] <= gain[two] else two] = False
    return {node for node, is_chosen in zip(nodes, chosen, strict=True) if is_chosen}


def _greedy_set(ends: NDArray[np.int64], gain: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an independent set built greedily by weight per degree."""
    import numpy as np
    from scipy.sparse import coo_array

    count = len(gain)
    near = coo_array((np.ones(ends.shape[1]), ends), (count, count)).tocsr()
    near = (near + near.T).tocsr()
    degrees = np.diff(near.indptr)
    chosen, is_free = np.zeros(count, np.int64), near.diagonal() == 0
    for node in np.argsort(-gain / (degrees + 1), kind="stable"):
        if is_free[node]:
            chosen[node] = 1
            is_free[near.indices[near.indptr[node] : near.indptr[node + 1]]] = False
    return chosen
