"""A backend of networkx for tours, cuts, colours, covers and independent sets.

    nx.approximation.traveling_salesman_problem(G, backend="islands")

It needs `pip install 'islands[networkx]'`. Each function has the arguments and the answer of the
function of networkx with its name, and `time_limit`, the most seconds that a call takes. networkx
finds this file by the entry points of the package and imports it when it is imported itself: so
NumPy and networkx are imported late.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import islands

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECONDS = 1.0
"""The default of `time_limit`."""
_LEAST_SECONDS = 0.05
_LARGEST = 2**30
"""Of weights in a search, which are whole numbers."""
_FEW_CITIES = 9
"""Up to so many, the best of all tours is computed."""
_PROVING = 0.3
"""The part of the time for a proof that a cover is optimal."""
_MOST_ROWS = 5_000
"""Of a covering problem; independent sets of more edges are quadratic problems."""
_STEPS = 20
"""Steps for each node in a generation of a covering, which is short then."""
_SMALL = 50
"""Nodes up to which a search ends when it has converged."""
_STRATEGIES = (
    *("largest_first", "random_sequential", "smallest_last", "independent_set"),
    *("connected_sequential_bfs", "connected_sequential_dfs", "connected_sequential"),
    *("saturation_largest_first", "DSATUR"),
)
_TOURS = ("christofides", "greedy_tsp", "simulated_annealing_tsp", "threshold_accepting_tsp")
_NO_DIRECTION = (
    *_TOURS,
    *("traveling_salesman_problem", "greedy_color", "min_weighted_dominating_set"),
)
_INFERIOR = {
    "TestGreedyTSP::test_greedy": "expects the longer tours of the nearest neighbour",
    "test_failure_of_costs_too_high_when_iterations_low": "expects a tour that is not optimal",
}
"""Tests of networkx that expect the inferior answer of a named heuristic, and why."""


def get_info() -> dict[str, Any]:
    """Return what networkx tells about this backend."""
    limit = {"time_limit : float, optional": "The most seconds of a call, by default 1."}
    names = ("one_exchange", "randomized_partitioning", "greedy_color", "max_clique")
    names += ("min_weighted_dominating_set", "min_weighted_vertex_cover")
    names += ("maximum_independent_set", "traveling_salesman_problem", *_TOURS)
    return {
        "backend_name": "islands",
        "project": "islands",
        "package": "islands",
        "short_summary": "Short tours, large cuts and few colours by a parallel search",
        "functions": {
            name: {"additional_docs": "Searches with islands.", "additional_parameters": limit}
            for name in names
        },
    }


class _Clock:
    """The time of a call."""

    def __init__(self, graph: Any, seconds: Any) -> None:
        """Begin; networkx need not keep, and warn of, a converted graph, as the graph is read."""
        cache = getattr(graph, "__networkx_cache__", None) or {}
        cache.get("backends", {}).pop("islands", None)
        if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise ValueError(f"time_limit={seconds!r}: must be a positive number of seconds")
        self.seconds, self._end = seconds, time.perf_counter() + seconds

    def left(self) -> float:
        """Return the seconds that are left, or those that a search needs in any case."""
        return max(self._end - time.perf_counter(), _LEAST_SECONDS)

    def solution(self, problem: Any, stop: Sequence[str] = (), **settings: Any) -> Any:
        """Return the best solution that is found in the time that is left."""
        if problem.size <= _SMALL:
            stop = [*stop, "converged"]
        record = {"every": max(1, 2000 // problem.size)}  # to look at the clock often
        stop = [*stop, f"seconds={self.left()}"]
        return islands.solve(problem, stop=stop, record=record, **settings).solution


class Backend:
    """The functions by their names in networkx."""

    @staticmethod
    def convert_from_nx(graph: Any, **_: Any) -> Any:
        """Return the graph, which is read as it is."""
        return graph

    @staticmethod
    def convert_to_nx(obj: Any, **_: Any) -> Any:
        """Return an answer, which is one of networkx."""
        return obj

    @staticmethod
    def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
        """Return whether a call can be answered, or why not."""
        graph = args[0] if args else kwargs.get("G")
        if name in _NO_DIRECTION and graph is not None and graph.is_directed():
            return "the graph is directed"
        if name == "greedy_color":
            given = dict(zip(("G", "strategy", "interchange"), args, strict=False)) | dict(kwargs)
            if given.get("interchange"):
                return "interchange=True"
            if callable(given.get("strategy")):
                return "the strategy is a function"
        return True

    @staticmethod
    def on_start_tests(items: Iterable[Any]) -> None:
        """Mark the tests of networkx that expect an inferior answer."""
        import pytest

        for item in items:
            for name, reason in _INFERIOR.items():
                if item.nodeid.endswith(name):
                    item.add_marker(pytest.mark.xfail(reason=f"islands: {reason}", strict=False))

    @staticmethod
    def traveling_salesman_problem(
        G: Any,  # noqa: N803 (the name of networkx)
        weight: str = "weight",
        nodes: Any = None,
        cycle: bool = True,
        method: Any = None,
        time_limit: float = SECONDS,
        **kwargs: Any,
    ) -> list[Any]:
        """Return a short walk through nodes, by shortest paths, and back unless `cycle` is false.

        Whatever the `method` of networkx, the search is the same; another function is called.
        """
        import networkx as nx

        _require_undirected("traveling_salesman_problem", G)
        known = (None, *(getattr(nx.approximation, name) for name in _TOURS))
        if method not in known:
            whole = nx.approximation.traveling_salesman_problem.orig_func
            return list(whole(G, weight, nodes, cycle, method, **kwargs))
        clock = _Clock(G, time_limit)
        chosen = [*(G if nodes is None else dict.fromkeys(nodes))]
        if not chosen:
            raise nx.NetworkXPointlessConcept("G has no nodes, or nodes is empty")
        paths = _Paths(G, weight, chosen)
        seed = _seed(kwargs.get("seed"))
        order = _order(paths.lengths, clock, seed, is_open=not cycle)
        places = [*order, order[0]] if cycle else order
        walk = [chosen[places[0]]]
        for one, two in pairwise(places):
            walk += paths.between(one, two)
        return walk

    @staticmethod
    def christofides(
        G: Any,  # noqa: N803
        weight: str = "weight",
        tree: Any = None,
        time_limit: float = SECONDS,
    ) -> list[Any]:
        """Return a short tour; the spanning `tree` has no effect."""
        return _tour("christofides", G, weight, None, None, time_limit)

    @staticmethod
    def greedy_tsp(
        G: Any,  # noqa: N803
        weight: str = "weight",
        source: Any = None,
        time_limit: float = SECONDS,
    ) -> list[Any]:
        """Return a short tour that begins at `source`."""
        return _tour("greedy_tsp", G, weight, source, None, time_limit)

    @staticmethod
    def simulated_annealing_tsp(
        G: Any,  # noqa: N803
        init_cycle: Any,
        weight: str = "weight",
        source: Any = None,
        temp: float = 100,
        move: Any = "1-1",
        max_iterations: int = 10,
        N_inner: int = 100,  # noqa: N803
        alpha: float = 0.01,
        seed: Any = None,
        time_limit: float = SECONDS,
    ) -> list[Any]:
        """Return a tour no longer than `init_cycle`; temperatures and moves have no effect."""
        start = None if isinstance(init_cycle, str) and init_cycle == "greedy" else [*init_cycle]
        return _tour("simulated_annealing_tsp", G, weight, source, start, time_limit, seed)

    @staticmethod
    def threshold_accepting_tsp(
        G: Any,  # noqa: N803
        init_cycle: Any,
        weight: str = "weight",
        source: Any = None,
        threshold: float = 1,
        move: Any = "1-1",
        max_iterations: int = 10,
        N_inner: int = 100,  # noqa: N803
        alpha: float = 0.1,
        seed: Any = None,
        time_limit: float = SECONDS,
    ) -> list[Any]:
        """Return a tour no longer than `init_cycle`; thresholds and moves have no effect."""
        start = None if isinstance(init_cycle, str) and init_cycle == "greedy" else [*init_cycle]
        return _tour("threshold_accepting_tsp", G, weight, source, start, time_limit, seed)

    @staticmethod
    def one_exchange(
        G: Any,  # noqa: N803
        initial_cut: Any = None,
        seed: Any = None,
        weight: str | None = None,
        time_limit: float = SECONDS,
    ) -> tuple[Any, tuple[set[Any], set[Any]]]:
        """Return the value of a large cut, and its two sides."""
        return _cut(G, initial_cut, seed, weight, _Clock(G, time_limit))

    @staticmethod
    def randomized_partitioning(
        G: Any,  # noqa: N803
        seed: Any = None,
        p: float = 0.5,
        weight: str | None = None,
        time_limit: float = SECONDS,
    ) -> tuple[Any, tuple[set[Any], set[Any]]]:
        """Return the value of a large cut, and its two sides; with p = 0 or 1, one is empty."""
        if not 0 < p < 1:
            return 0, (set(G) if p >= 1 else set(), set() if p >= 1 else set(G))
        return _cut(G, None, seed, weight, _Clock(G, time_limit))

    @staticmethod
    def greedy_color(
        G: Any,  # noqa: N803
        strategy: Any = "largest_first",
        interchange: bool = False,
        time_limit: float = SECONDS,
    ) -> dict[Any, int]:
        """Return the colour of each node, of few; all strategies by name mean the same search."""
        import networkx as nx

        refusal = Backend.can_run("greedy_color", (G, strategy, interchange), {})
        if refusal is not True:
            raise NotImplementedError(f"greedy_color: {refusal}. Leave backend out")
        if strategy not in _STRATEGIES:
            raise nx.NetworkXError(
                f"strategy must be callable or a valid string. {strategy} not valid."
            )
        return _colours(G, _Clock(G, time_limit))

    @staticmethod
    def min_weighted_dominating_set(
        G: Any,  # noqa: N803
        weight: str | None = None,
        time_limit: float = SECONDS,
    ) -> set[Any]:
        """Return nodes of little weight that dominate all others."""
        _require_undirected("min_weighted_dominating_set", G)
        rows = [{node, *G[node]} for node in G]
        return _cover(G, rows, weight, _Clock(G, time_limit))

    @staticmethod
    def min_weighted_vertex_cover(
        G: Any,  # noqa: N803
        weight: str | None = None,
        time_limit: float = SECONDS,
    ) -> set[Any]:
        """Return nodes of little weight that cover all edges."""
        clock = _Clock(G, time_limit)
        if G.number_of_edges() <= _MOST_ROWS:
            return _cover(G, [{*edge[:2]} for edge in G.edges], weight, clock)
        return set(G) - _independent([*G], G.edges, _weights(G, weight), clock)

    @staticmethod
    def maximum_independent_set(
        G: Any,  # noqa: N803
        time_limit: float = SECONDS,
    ) -> set[Any]:
        """Return many nodes without an edge between them."""
        return set(G) - Backend.min_weighted_vertex_cover(G, time_limit=time_limit)

    @staticmethod
    def max_clique(
        G: Any,  # noqa: N803
        time_limit: float = SECONDS,
    ) -> set[Any]:
        """Return many nodes with all edges between them."""
        import networkx as nx

        clock = _Clock(G, time_limit)
        others = nx.Graph()
        others.add_nodes_from(G)
        others.add_edges_from(pair for pair in combinations(G, 2) if pair[1] not in G[pair[0]])
        return Backend.maximum_independent_set(others, time_limit=clock.left())


def _require_undirected(name: str, graph: Any) -> None:
    if graph.is_directed():
        raise NotImplementedError(
            f"{name}: the graph is directed, and islands takes undirected ones. Leave backend out"
        )


def _seed(random: Any) -> int:
    """Return a seed: the decorators of networkx make a generator of what a caller passes."""
    if random is None:
        return 1
    if isinstance(random, int):
        return random % 2**31
    draw = getattr(random, "randrange", None) or random.randint
    return int(draw(2**31 - 1))


def _whole(weights: Any) -> NDArray[np.int64]:
    """Return weights as whole numbers: as they are, or rounded to some nine digits."""
    import numpy as np

    values = np.asarray(weights, float)
    finite = np.isfinite(values)
    if not finite.all():
        raise ValueError(f"the weight {values[~finite].ravel()[0]} is not finite")
    most = float(np.abs(values).max(initial=0.0))
    if most > _LARGEST or (values != np.rint(values)).any():
        values = values * (_LARGEST / most)
    return np.rint(values).astype(np.int64)


def _weights(graph: Any, weight: str | None) -> list[Any]:
    """Return the weight of each node, 1 where it has none."""
    return [1 if weight is None else data.get(weight, 1) for _, data in graph.nodes(data=True)]


def _length(graph: Any, one: Any, two: Any, weight: Any) -> Any:
    """Return the weight of an edge, of parallel ones the least, as networkx takes it."""
    data = graph[one][two]
    if callable(weight):
        return weight(one, two, data)
    if graph.is_multigraph():
        return min(each.get(weight, 1) for each in data.values())
    return data.get(weight, 1)


class _Paths:
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
        steps = [(a, b, _length(graph, a, b, weight)) for a, b in dict.fromkeys(graph.edges())]
        steps = [each for each in steps if each[2] is not None and each[0] != each[1]]
        lengths = np.array([each[2] for each in steps], float)
        if (lengths < 0).any():
            raise ValueError(f"Contradictory paths found: negative weights? {lengths.min()}")
        ends = np.array([(place[a], place[b]) for a, b, _ in steps], int).reshape(-1, 2).T
        shape = len(self._nodes), len(self._nodes)
        matrix = csr_array((lengths, (ends[0], ends[1])), shape)
        found, self._before = dijkstra(
            matrix, directed=False, indices=self._chosen, return_predecessors=True
        )
        self.lengths = found[:, self._chosen]
        if not np.isfinite(self.lengths).all():
            one, two = np.argwhere(~np.isfinite(self.lengths))[0]
            raise nx.NetworkXNoPath(f"No path between {chosen[one]} and {chosen[two]}.")

    def between(self, one: int, two: int) -> list[Any]:
        """Return the nodes of a path after the first one."""
        at, found = self._chosen[two], []
        while at != self._chosen[one]:
            found.append(self._nodes[at])
            at = int(self._before[one, at])
        return found[::-1]


def _tour(
    name: str,
    graph: Any,
    weight: str,
    source: Any,
    start: list[Any] | None,
    seconds: float,
    seed: Any = None,
) -> list[Any]:
    """Return a tour of a complete graph that begins at a source, and ends there."""
    import networkx as nx
    import numpy as np

    clock = _Clock(graph, seconds)
    _require_undirected(name, graph)
    nodes = [*graph]
    if start is not None:
        _require_cycle(graph, start, source)
        source = start[0]
    if any(len({*graph[node]} - {node}) != len(nodes) - 1 for node in nodes):
        raise nx.NetworkXError("G must be a complete graph.")
    if not nodes:
        raise nx.NetworkXPointlessConcept("G has no nodes")
    place = {node: k for k, node in enumerate(nodes)}
    lengths = np.zeros((len(nodes), len(nodes)))
    for one, two in combinations(nodes, 2):
        i, j = place[one], place[two]
        lengths[i, j] = lengths[j, i] = _length(graph, one, two, weight)
    first = None if start is None else [place[node] for node in start[:-1]]
    order = _order(lengths, clock, _seed(seed), start=first)
    begin = order.index(0 if source is None else place[source])
    order = order[begin:] + order[:begin]
    return [nodes[k] for k in [*order, order[0]]]


def _require_cycle(graph: Any, cycle: list[Any], source: Any) -> None:
    """Refuse what is no cycle from a source, with the errors of networkx."""
    import networkx as nx

    if source not in (None, cycle[0]):
        raise nx.NetworkXError("source must be first node in init_cycle")
    if cycle[0] != cycle[-1]:
        raise nx.NetworkXError("init_cycle must be a cycle. (return to start)")
    if len(cycle) - 1 != len(graph) or {*cycle} != {*graph}:
        raise nx.NetworkXError("init_cycle should be a cycle over all nodes in G.")


def _order(
    lengths: NDArray[np.float64],
    clock: _Clock,
    seed: int,
    *,
    is_open: bool = False,
    start: list[int] | None = None,
) -> list[int]:
    """Return the order of a short tour, or of a short path with any ends."""
    import numpy as np

    n = len(lengths)
    if is_open:  # a tour through a city that is near to all
        far = np.pad(lengths - min(float(lengths.min()), 0.0), (0, 1))
        order = _order(far, clock, seed)
        begin = order.index(n)
        return order[begin + 1 :] + order[:begin]
    if n <= _FEW_CITIES:
        return _shortest(lengths)
    whole = _whole(lengths)
    np.fill_diagonal(whole, whole.max())
    problem = islands.tsp(distances=whole - whole.min())
    settings = {} if start is None else {"start": [start]}
    return [*map(int, clock.solution(problem, ["converged"], seed=seed, **settings))]


def _shortest(lengths: NDArray[np.float64]) -> list[int]:
    """Return the shortest tour of few cities, by the best way through each set (Held and Karp)."""
    n, far = len(lengths), lengths.tolist()
    if n < 4:
        return [*range(n)]
    best = {(1 << k, k): (far[0][k], 0) for k in range(1, n)}
    for size in range(2, n):
        for some in combinations(range(1, n), size):
            code = sum(1 << k for k in some)
            for last in some:
                before = code ^ (1 << last)
                options = ((best[before, k][0] + far[k][last], k) for k in some if k != last)
                best[code, last] = min(options)
    code = 2**n - 2
    last = min(range(1, n), key=lambda k: best[code, k][0] + far[k][0])
    order = [0]
    while last:
        order.append(last)
        code, last = code ^ (1 << last), best[code, last][1]
    return order


def _cut(
    graph: Any, initial: Any, seed: Any, weight: str | None, clock: _Clock
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
        problem = islands.models.max_cut(pairs, _whole([each for *_, each in edges]))
        settings = {}
        if chosen:
            settings["start"] = [[int(node in chosen) for node in nodes[: problem.size]]]
        side = clock.solution(problem, seed=_seed(seed), **settings)
        chosen = {node for node, own in zip(nodes, side, strict=False) if own}
    value = sum(each for one, two, each in edges if (one in chosen) != (two in chosen))
    return value, (chosen, {*nodes} - chosen)


def _colours(graph: Any, clock: _Clock) -> dict[Any, int]:
    """Return the colour of each node, from 0; fewer than a clique has nodes are impossible."""
    import numpy as np

    nodes = [*graph]
    place = {node: k for k, node in enumerate(nodes)}
    edges = {(place[a], place[b]) for a, b, *_ in graph.edges if a != b}
    if not edges:
        return dict.fromkeys(nodes, 0)
    problem = islands.models.graph_colouring([*edges])
    keys = clock.solution(problem, [f"target={_clique_size(graph)}"])
    colours = islands.models.colouring.colours_of(keys, problem.plain().most)
    colours = np.unique(colours, return_inverse=True)[1].tolist()
    return dict(zip(nodes, [*colours, *[0] * len(nodes)], strict=False))


def _clique_size(graph: Any) -> int:
    """Return the size of a clique that is found by taking the busiest nodes first."""
    clique: set[Any] = set()
    for node in sorted(graph, key=lambda each: -len(graph[each])):
        if clique <= {*graph[node]} - {node}:
            clique.add(node)
    return len(clique)


def _cover(graph: Any, rows: list[set[Any]], weight: str | None, clock: _Clock) -> set[Any]:
    """Return nodes of little weight, of which each row has one; the best, if it is proven soon."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    nodes, costs = [*graph], np.asarray(_weights(graph, weight), float)
    if (costs < 0).any() or not np.isfinite(costs).all():
        raise ValueError(f"the weight {costs.min()} of a node: must be a number of at least 0")
    place = {node: k for k, node in enumerate(nodes)}
    free = {node for node, cost in zip(nodes, costs, strict=True) if cost == 0}
    left = [[place[node] for node in row] for row in rows if not row & free]
    if not left:
        return free
    first = np.cumsum([0, *map(len, left)])
    matrix = csr_array((np.ones(first[-1]), np.concatenate(left), first), (len(left), len(nodes)))
    options = {"time_limit": _PROVING * clock.seconds}
    found = milp(
        costs,
        integrality=np.ones(len(nodes)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, 1, np.inf),
        options=options,
    )
    chosen = found.x
    if found.status != 0:
        problem = islands.models.set_cover(np.maximum(_whole(costs), 1), left)
        searched = clock.solution(problem, proposals=_STEPS * len(nodes)).astype(float)
        for row in left:  # of a search that had little time
            if not searched[row].any():
                searched[min(row, key=costs.__getitem__)] = 1
        if chosen is None or costs @ searched < costs @ np.rint(chosen):
            chosen = searched
    return free | {node for node, own in zip(nodes, chosen, strict=True) if own > 0.5}


def _independent(
    nodes: list[Any], edges: Iterable[Any], weights: Sequence[float], clock: _Clock
) -> set[Any]:
    """Return nodes of much weight without an edge between them, by a quadratic problem.

    An edge costs more than its lighter node, so that leaving one of two out is better.
    """
    import numpy as np
    from scipy.sparse import coo_array

    place = {node: k for k, node in enumerate(nodes)}
    ends = np.array([(place[edge[0]], place[edge[1]]) for edge in edges]).T
    gain = np.maximum(_whole(weights), 1)
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


backend = Backend()
