"""The costs of models in plain Python numbers, of any size, from the arguments of a user."""

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return arrays and nested lists as lists of exact numbers."""
    if hasattr(value, "toarray"):
        coordinates = value.tocoo()
        found = [[Fraction(0)] * value.shape[1] for _ in range(value.shape[0])]
        for i, j, number in zip(*coordinates.coords, coordinates.data.tolist(), strict=True):
            found[i][j] += Fraction(number)
        return found
    if isinstance(value, np.ndarray | memoryview):
        return plain(value.tolist())
    if isinstance(value, list | tuple | range):
        return [plain(each) for each in value]
    if isinstance(value, np.floating):
        return Fraction(float(value))
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def chosen_of(name: str, arguments: Mapping[str, Any], size: int, seed: int) -> list[Any]:
    """Return a random solution: an order, a subset of the right size, or choices."""
    draw = random.Random(seed)
    if name in ("bin_packing", "graph_colouring"):
        values = int(arguments.get("bins") or arguments.get("colours") or 1)
        return [draw.randrange(values) for _ in range(size)]
    if name in ("tsp", "qap", "flow_shop", "job_shop"):
        return draw.sample(range(size), size)
    count = {"p_median": "p", "max_diversity": "size"}.get(name)
    chosen = draw.sample(range(size), int(arguments[count]) if count else draw.randint(0, size))
    return [int(i in chosen) for i in range(size)]


def qubo(x: list[int], *, q: Any, **_: Any) -> Any:
    """Return x^T Q x."""
    if isinstance(q, Mapping):
        return sum(plain(value) * x[i] * x[j] for (i, j), value in q.items())
    rows = plain(q)
    return sum(rows[i][j] * x[i] * x[j] for i in range(len(x)) for j in range(len(x)))


def max_cut(x: list[int], *, edges: Any, weights: Any = None, **_: Any) -> Any:
    """Return the weight of the edges between both sides."""
    pairs = [[int(i) for i in pair] for pair in plain(edges)]
    each = [1] * len(pairs) if weights is None else plain(weights)
    return sum(w for (i, j), w in zip(pairs, each, strict=True) if x[i] != x[j])


def max_diversity(x: list[int], *, distances: Any, **_: Any) -> Any:
    """Return the distances of all pairs of chosen items."""
    rows = plain(distances)
    return sum(rows[i][j] for i, j in combinations([k for k, own in enumerate(x) if own], 2))


def p_median(x: list[int], *, distances: Any, **_: Any) -> Any:
    """Return the sum of the distances of all customers from their nearest chosen places."""
    return sum(min(way for way, own in zip(row, x, strict=True) if own) for row in plain(distances))


def set_cover(x: list[int], *, costs: Any, rows: Any, **_: Any) -> Any:
    """Return the cost of the chosen columns and of the rows that none of them covers."""
    cost = plain(costs)
    covers = [[int(j) for j in plain(row)] for row in rows]
    open_rows = [row for row in covers if not any(x[j] for j in row)]
    chosen = sum(each for each, own in zip(cost, x, strict=True) if own)
    return chosen + sum(min(cost[j] for j in row) + 1 for row in open_rows)


def bin_packing(x: list[int], *, sizes: Any, capacity: int, bins: Any = None, **_: Any) -> Any:
    """Return the number of bins; an overfull bin counts as one more than its items."""
    if bins is None:
        return None
    loads: dict[int, list[Any]] = {}
    for own, size in zip(x, plain(sizes), strict=True):
        loads.setdefault(own, []).append(size)
    return sum(len(each) + 1 if sum(each) > capacity else 1 for each in loads.values())


def graph_colouring(x: list[int], *, edges: Any, colours: Any = None, **_: Any) -> Any:
    if colours is None:
        return None
    return sum(x[i] == x[j] for i, j in {frozenset(map(int, pair)) for pair in plain(edges)})


def flow_shop(x: list[int], *, times: Any, objective: str = "makespan", **_: Any) -> Any:
    """Return the end of the last job, or the sum of all ends."""
    rows, ready, ends = plain(times), [Fraction(0)] * len(plain(times)[0]), []
    for job in x:
        for k, time in enumerate(rows[job]):
            ready[k] = max(ready[k], ready[k - 1] if k else 0) + time
        ends.append(ready[-1])
    return sum(ends) if objective == "flow_time" else max(ends)


def job_shop(
    x: list[int],
    *,
    machines: Any,
    times: Any,
    release: Any = None,
    due: Any = None,
    weights: Any = None,
    objective: str = "makespan",
    **_: Any,
) -> Any:
    """Return the end of the last job, or the weighted tardiness."""
    choices = []  # of all operations: job, operation, machine, time
    for j, (where, lasting) in enumerate(zip(machines, times, strict=True)):
        for k, both in enumerate(zip(where, lasting, strict=True)):
            few, long = (each if isinstance(each, list) else [each] for each in map(plain, both))
            choices += [(j, k, machine, time) for machine, time in zip(few, long, strict=True)]
    jobs = len(machines)
    first = {}
    for choice in x:
        j, k, *own = choices[choice]
        first.setdefault((j, k), own)
    ready = [Fraction(0)] * jobs if release is None else plain(release)
    done, free = [0] * jobs, dict[Any, Any]()
    for j, _k in list(first):
        machine, time = first[j, done[j]]
        done[j] += 1
        ready[j] = free[machine] = max(ready[j], free.get(machine, 0)) + time
    if objective == "makespan":
        return max(ready)
    weight = [1] * jobs if weights is None else plain(weights)
    return sum(w * max(end - d, 0) for w, end, d in zip(weight, ready, plain(due), strict=True))


def tsp(x: list[int], *, distances: Any = None, **_: Any) -> Any:
    """Return the length of a closed tour, or None for coordinates, which other tests check."""
    if distances is None:
        return None
    pairs = [(i, j) for i, j in zip(x, [*x[1:], x[0]], strict=True) if i != j]
    return sum(plain(distances[i][j]) for i, j in pairs)


def qap(x: list[int], *, flows: Any, distances: Any, linear: Any = None, **_: Any) -> Any:
    """Return the flows times distances, and the costs of places."""
    a, b, n = plain(flows), plain(distances), range(len(x))
    own = 0 if linear is None else sum(plain(linear)[i][x[i]] for i in n)
    return own + sum(a[i][j] * b[x[i]][x[j]] for i in n for j in n)


def mkp(x: list[int], *, profits: Any, **_: Any) -> Any:
    return sum(each for each, own in zip(plain(profits), x, strict=True) if own)


COSTS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(qubo, max_cut, max_diversity, p_median, set_cover, bin_packing, graph_colouring),
        *(flow_shop, job_shop, tsp, qap, mkp),
    )
}
