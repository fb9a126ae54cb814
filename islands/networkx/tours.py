"""Tours of networkx graphs, and the shortest paths between their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import islands
from islands.networkx.calls import Clock, number_of, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FEW_CITIES = 9
"""Up to this number of cities, all tours are compared, without compilation."""


def length_of(graph: Any, one: Any, two: Any, weight: Any) -> Any:
    """Return the weight of an edge as networkx does: the minimum of parallel edges."""
    data = graph[one][two]
    if callable(weight):
        return weight(one, two, data)
    if graph.is_multigraph():
        return min(edge.get(weight, 1) for edge in data.values())
    return data.get(weight, 1)


class Paths:
    """The shortest paths between some nodes of a graph."""

    def __init__(self, graph: Any, weight: str, chosen: Sequence[Any]) -> None:
        import networkx as nx
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        self._nodes = [*graph]
        place = {node: k for k, node in enumerate(self._nodes)}
        for node in chosen:
            if node not in place:
                raise nx.NodeNotFound(f"Node {node} not found in graph")
        self._chosen = [place[node] for node in chosen]
        steps = [(a, b, length_of(graph, a, b, weight)) for a, b in dict.fromkeys(graph.edges())]
        steps = [(a, b, length) for a, b, length in steps if length is not None and a != b]
        numbers = [number_of(length, a, b, may_be_infinite=True) for a, b, length in steps]
        lengths = np.array(numbers, float)
        if (lengths < 0).any():
            raise ValueError(f"Contradictory paths found: negative weights? {lengths.min()}")
        ends = np.array([(place[a], place[b]) for a, b, _ in steps], int).reshape(-1, 2).T
        shape = len(self._nodes), len(self._nodes)
        matrix = csr_array((lengths, (ends[0], ends[1])), shape)
        lengths, self._before = dijkstra(
            matrix,
            directed=graph.is_directed(),
            indices=self._chosen,
            return_predecessors=True,
        )
        self.lengths = lengths[:, self._chosen]
        if not np.isfinite(self.lengths).all():
            one, two = np.argwhere(~np.isfinite(self.lengths))[0]
            raise nx.NetworkXNoPath(f"No path between {chosen[one]} and {chosen[two]}.")

    def between(self, one: int, two: int) -> list[Any]:
        """Return the nodes of a shortest path, without the first one."""
        at, path = self._chosen[two], []
        while at != self._chosen[one]:
            path.append(self._nodes[at])
            at = int(self._before[one, at])
        return path[::-1]


def tour(
    graph: Any,
    weight: str,
    source: Any,
    start: list[Any] | None,
    clock: Clock,
    seed: int,
) -> list[Any]:
    """Return a short tour of a complete graph that begins and ends at a source.

    The search begins with `start`, if given.
    """
    import networkx as nx
    import numpy as np

    nodes = [*graph]
    if start is not None:
        _require_cycle(graph, start, source)
        source = start[0]
    if any(len({*graph[node]} - {node}) != len(nodes) - 1 for node in nodes):
        raise nx.NetworkXError("G must be a complete graph.")
    if not nodes:
        raise nx.NetworkXPointlessConcept("G has no nodes")
    require_source(source, nodes)
    place = {node: k for k, node in enumerate(nodes)}
    lengths = np.zeros((len(nodes), len(nodes)))
    for one, two in permutations(nodes, 2):
        lengths[place[one], place[two]] = number_of(length_of(graph, one, two, weight), one, two)
    first = None if start is None else [place[node] for node in start[:-1]]
    order = order_of(lengths, clock, seed, start=first)
    order = rotated(order, 0 if source is None else place[source])
    is_nearer = lengths[order[0], order[-1]] < lengths[order[0], order[1 % len(order)]]
    if is_nearer and not graph.is_directed():
        order = [order[0], *order[:0:-1]]  # to the nearer neighbour first, as in networkx
    return [nodes[k] for k in [*order, order[0]]]


def require_source(source: Any, nodes: Sequence[Any]) -> None:
    """Reject a source that is not one of the nodes, with the networkx error."""
    import networkx as nx

    if source is not None and source not in nodes:
        raise nx.NetworkXError(f"Given source node not in G: {source!r}")


def rotated(order: list[int], first: int) -> list[int]:
    """Return the same tour, beginning at another city."""
    begin = order.index(first)
    return order[begin:] + order[:begin]


def _require_cycle(graph: Any, cycle: list[Any], source: Any) -> None:
    """Reject an invalid cycle from a source, with the networkx errors."""
    import networkx as nx

    if source not in (None, cycle[0]):
        raise nx.NetworkXError("source must be first node in init_cycle")
    if cycle[0] != cycle[-1]:
        raise nx.NetworkXError("init_cycle must be a cycle. (return to start)")
    if len(cycle) - 1 != len(graph) or {*cycle} != {*graph}:
        raise nx.NetworkXError("init_cycle should be a cycle over all nodes in G.")


def order_of(
    lengths: NDArray[np.float64],
    clock: Clock,
    seed: int,
    *,
    is_open: bool = False,
    start: list[int] | None = None,
) -> list[int]:
    """Return the order of a short tour, or of a short path with free ends."""
    import numpy as np

    n = len(lengths)
    if is_open:  # a tour through an additional city at distance 0
        far = np.pad(lengths - min(float(lengths.min()), 0.0), (0, 1))
        order = order_of(far, clock, seed)
        begin = order.index(n)
        return order[begin + 1 :] + order[:begin]
    if n <= _FEW_CITIES:
        return _shortest(lengths)
    least = float(lengths[~np.eye(n, dtype=bool)].min())
    beyond = lengths - least
    np.fill_diagonal(beyond, 0)
    problem = islands.tsp(distances=whole(beyond))
    settings: dict[str, Any] = {} if start is None else {"start": [start]}
    return [*map(int, clock.solution(problem, ["converged"], seed=seed, **settings))]


def _shortest(lengths: NDArray[np.float64]) -> list[int]:
    """Return the shortest of all tours of few cities."""
    import numpy as np

    tours = np.array([(0, *others) for others in permutations(range(1, len(lengths)))])
    totals = lengths[tours, np.roll(tours, -1, axis=1)].sum(axis=1)
    best: list[int] = tours[totals.argmin()].tolist()
    return best
