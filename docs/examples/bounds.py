"""Instances of the examples, with bounds, known solutions and simple heuristics, for compare.py."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

import bin_packing
import binary_quadratic
import continuous
import flow_shop
import graph_colouring
import job_shop
import max_cut
import numpy as np
import p_median
import set_covering
import vehicle_routing
from numpy.typing import NDArray

import islands


class Instance(NamedTuple):
    """A problem, a value to compare with, and the best cost of HiGHS."""

    problem: islands.Problem
    known: float
    meaning: str
    """The kind of value, such as a lower bound."""
    highs: float | None = None


def instances(seconds: float) -> Iterable[Instance]:
    """Yield an instance of each example; HiGHS runs for `seconds`, if SciPy is installed."""
    yield Instance(flow_shop.make(200), machine_bound(200), "lower bound")
    routes = random_routes(200)
    yield Instance(routes, routes.cost(savings(routes)), "savings heuristic")
    routes = clusters(200)
    yield Instance(routes, served_by_cluster(routes), "known solution")
    yield Instance(continuous.make(200), 0.0, "optimum")
    covering = set_covering.make(1000)
    found, bound = highs_covering(covering, seconds)
    yield Instance(covering, bound, "lower bound of HiGHS", found)
    found, bound = highs_quadratic(500, seconds)
    yield Instance(binary_quadratic.make(500), bound, "upper bound of HiGHS", found)
    jobs = job_shop.make(200)
    yield Instance(jobs, load_bound(jobs), "lower bound")
    cut: Any = max_cut.make(500)
    yield Instance(cut, float(cut.members["weights"].clip(0).sum()), "optimum")
    median = p_median.make(200)
    found, bound = highs_median(median, seconds)
    yield Instance(median, bound, "lower bound of HiGHS", found)
    graph = graph_colouring.make(200)
    yield Instance(graph, graph.cost(np.argsort(np.arange(200) % 8)), "known solution")
    bins: Any = bin_packing.make(200)
    yield Instance(bins, 50 * int(bins.members["capacity"]), "optimum")


def load_bound(problem: Any) -> int:
    """Return a lower bound on a job shop: the longest job, or the largest load of a machine."""
    data = problem.members
    times = data["times"].reshape(-1, data["machines"]).astype(int)
    loads = np.bincount(data["machine_of"].ravel(), times.ravel())
    return int(max(times.sum(axis=1).max(), loads.max()))


def highs_median(problem: Any, seconds: float) -> tuple[float | None, float]:
    """Return the best cost of HiGHS for a p-median, and its lower bound."""
    n = problem.size
    distances = problem.members["distances"].reshape(n, n)
    place, depot = map(np.ravel, np.indices((n, n)))
    pair, whole = n + np.arange(n * n), np.append(np.ones(n), np.zeros(n * n))
    # Each place has one depot: its pairs sum to 1. Only open depots have pairs: depot >= pair.
    rows = [place, pair, pair, np.full(n, n + n * n)]
    entries = [pair, depot, pair, np.arange(n)]
    signs = np.concatenate([np.ones(2 * n * n), -np.ones(n * n), -np.ones(n)])
    matrix = (signs, (np.concatenate(rows), np.concatenate(entries)))
    low = np.concatenate([np.ones(n), np.zeros(n * n), [-(n // 10)]])
    return _highs(np.append(np.zeros(n), distances.ravel()), matrix, low, whole, seconds)


def machine_bound(jobs: int, machines: int = 20) -> int:
    """Return a lower bound on a flow shop: a machine's load plus its least idle time."""
    times = np.random.default_rng(1).integers(1, 100, (jobs, machines), np.int32).astype(int)
    before = times.cumsum(axis=1) - times
    after = times.sum(axis=1, keepdims=True) - before - times
    return int((before.min(axis=0) + times.sum(axis=0) + after.min(axis=0)).max())


def random_routes(customers: int) -> islands.Problem:
    """Return customers in a square with the depot in its centre; a route serves about ten."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, 1001, (customers + 1, 2))
    places[0] = 500
    return vehicle_routing.routing(places, rng.integers(1, 20, customers), capacity=100)


def savings(problem: Any) -> NDArray[np.int64]:
    """Return the order of the savings heuristic (Clarke and Wright 1964)."""
    n, data = problem.size, problem.members
    distances = data["distances"].reshape(n + 1, n + 1).astype(int)
    route_of = {i: [i] for i in range(n)}
    home = distances[0, 1:]
    saved = np.triu(home[:, np.newaxis] + home - distances[1:, 1:], 1)
    for place in np.argsort(-saved, axis=None, kind="stable"):
        i, j = divmod(int(place), n)
        one, other = route_of[i], route_of[j]
        load = data["demands"][[*one, *other]].sum()
        ends = i in (one[0], one[-1]) and j in (other[0], other[-1])
        if saved[i, j] <= 0 or one is other or load > data["capacity"] or not ends:
            continue
        one = one if one[-1] == i else one[::-1]
        joined = one + (other if other[0] == j else other[::-1])
        route_of |= dict.fromkeys(joined, joined)
    routes = {id(route): route for route in route_of.values()}
    return np.concatenate(list(routes.values()))


def clusters(customers: int) -> islands.Problem:
    """Return clusters of ten customers on a circle; a route can serve one cluster."""
    angles = 2 * np.pi * (np.arange(customers) // 10) / (customers // 10)
    rng = np.random.default_rng(1)
    angles += rng.uniform(-0.02, 0.02, customers)
    circle = 10_000 * np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.vstack([np.zeros((1, 2)), circle])
    return vehicle_routing.routing(places, np.ones(customers, int), capacity=10)


def served_by_cluster(problem: islands.Problem) -> float:
    """Return the length if each route serves one cluster, in the order of the angles."""
    angles = np.random.default_rng(1).uniform(-0.02, 0.02, problem.size).reshape(-1, 10)
    order = np.arange(problem.size).reshape(-1, 10)
    return problem.cost(np.take_along_axis(order, angles.argsort(axis=1), axis=1).ravel())


def highs_covering(problem: Any, seconds: float) -> tuple[float | None, float]:
    """Return the best cost of HiGHS for a set covering problem, and its lower bound."""
    data, n = problem.members, problem.size
    covers = data["covers"].reshape(n, -1).T
    return _highs(data["costs"], covers, np.ones(len(covers)), np.ones(n), seconds)


def highs_quadratic(n: int, seconds: float) -> tuple[float | None, float]:
    """Return the best value of HiGHS for a quadratic binary problem, and its upper bound."""
    q = binary_quadratic.matrix(n, seed=1)
    row, column = np.triu(q, 1).nonzero()
    value, pairs = q[row, column], len(row)
    # y is the product of a and b: y <= a and y <= b if its value is positive, else y >= a + b - 1.
    y = n + np.arange(pairs)
    plus, minus = np.flatnonzero(value > 0), np.flatnonzero(value < 0)
    rows = [np.arange(2 * len(plus))] * 2 + [2 * len(plus) + np.arange(len(minus))] * 3
    entries = [np.append(row[plus], column[plus]), np.append(y[plus], y[plus])]
    entries += [y[minus], row[minus], column[minus]]
    signs = np.concatenate(
        [np.full(len(r), s) for r, s in zip(rows, [1, -1, 1, -1, -1], strict=True)]
    )
    places = (np.concatenate(rows), np.concatenate(entries))
    low = np.append(np.zeros(2 * len(plus)), -np.ones(len(minus)))
    whole = np.append(np.ones(n), np.zeros(pairs))
    costs = -np.append(q.diagonal(), value)
    found, bound = _highs(costs, (signs, places), low, whole, seconds)
    return None if found is None else -found, -bound


def _highs(
    costs: NDArray[Any], matrix: Any, low: NDArray[Any], whole: NDArray[Any], seconds: float
) -> tuple[float | None, float]:
    """Return the best cost of HiGHS, or None, and its bound, or NaN."""
    try:
        optimize, sparse = import_module("scipy.optimize"), import_module("scipy.sparse")
    except ImportError as error:
        print(f"without HiGHS: {error}. Install SciPy", file=sys.stderr)
        return None, np.nan
    rows = sparse.csr_array(matrix, shape=(len(low), len(costs)))
    result = optimize.milp(
        costs,
        integrality=whole,
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(rows, low, np.inf),
        options={"time_limit": seconds},
    )
    return result.fun, np.nan if result.mip_dual_bound is None else result.mip_dual_bound
