"""Compare the algorithms on the examples of this folder: the table of docs/choosing.md.

    python compare.py [SECONDS [SEEDS]]

Each run uses two threads. Gaps are in per cent of a bound or of a known cost.
"""

import sys
from typing import Any

import binary_quadratic
import continuous
import flow_shop
import numpy as np
import set_covering
import vehicle_routing
from numpy.typing import NDArray

import islands

ALGORITHMS = ("brkga", "de", "ga", "cellular", "pso")


def clusters(customers: int) -> islands.Problem:
    """Return clusters of ten customers on a circle, of which a route serves one."""
    angles = 2 * np.pi * (np.arange(customers) // 10) / (customers // 10)
    rng = np.random.default_rng(1)
    angles += rng.uniform(-0.02, 0.02, customers)
    circle = 10_000 * np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.vstack([np.zeros((1, 2)), circle])
    return vehicle_routing.routing(
        places, np.ones(customers, int), capacity=10, name=f"clusters-{customers}"
    )


def served_by_cluster(problem: islands.Problem) -> float:
    """Return the length if each route serves one cluster, in the order of the angles."""
    angles = np.random.default_rng(1).uniform(-0.02, 0.02, problem.size).reshape(-1, 10)
    order = np.arange(problem.size).reshape(-1, 10)
    return problem.cost(np.take_along_axis(order, angles.argsort(axis=1), axis=1).ravel())


def machine_bound(jobs: int, machines: int = 20) -> float:
    """Return a lower bound of the flow shop: the load of a machine, and what is around it."""
    times = np.random.default_rng(1).integers(1, 100, (jobs, machines), np.int32).astype(int)
    before = times.cumsum(axis=1) - times
    after = times.sum(axis=1, keepdims=True) - before - times
    return int((before.min(axis=0) + times.sum(axis=0) + after.min(axis=0)).max())


def highs_covering(columns: int, seconds: float) -> tuple[float | None, float]:
    """Return the cost that HiGHS finds, and its lower bound."""
    costs, covers = set_covering.instance(columns, seed=1)
    return _highs(costs, covers, np.ones(len(covers)), np.ones(columns), seconds)


def highs_quadratic(n: int, seconds: float) -> tuple[float | None, float]:
    """Return the value that HiGHS finds, and its upper bound: a variable for each product."""
    q = binary_quadratic.matrix(n, seed=1)
    row, column = np.triu(q, 1).nonzero()
    value, pairs = q[row, column], len(row)
    # A product y of a and b: y <= a and y <= b if its value is positive, else y >= a + b - 1.
    from scipy.sparse import coo_array

    y = n + np.arange(pairs)
    plus, minus = np.flatnonzero(value > 0), np.flatnonzero(value < 0)
    rows = [np.arange(2 * len(plus))] * 2 + [2 * len(plus) + np.arange(len(minus))] * 3
    entries = [np.append(row[plus], column[plus]), np.append(y[plus], y[plus])]
    entries += [y[minus], row[minus], column[minus]]
    signs = [1, -1, 1, -1, -1]
    matrix = coo_array(
        (
            np.concatenate([np.full(len(r), s) for r, s in zip(rows, signs, strict=True)]),
            (np.concatenate(rows), np.concatenate(entries)),
        ),
        shape=(2 * len(plus) + len(minus), n + pairs),
    )
    low = np.append(np.zeros(2 * len(plus)), -np.ones(len(minus)))
    whole = np.append(np.ones(n), np.zeros(pairs))
    found, bound = _highs(-np.append(q.diagonal(), value), matrix.tocsr(), low, whole, seconds)
    return None if found is None else -found, -bound


def _highs(
    costs: NDArray[Any], matrix: Any, low: NDArray[Any], whole: NDArray[Any], seconds: float
) -> tuple[float | None, float]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    end = milp(
        costs,
        integrality=whole,
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, low, np.inf),
        options={"time_limit": seconds},
    )
    return end.fun, np.nan if end.mip_dual_bound is None else end.mip_dual_bound


def _solved(problem: islands.Problem, algorithm: str, seconds: float, seed: int) -> float:
    result = islands.solve(problem, algorithm=algorithm, seconds=seconds, seed=seed, threads=2)
    assert result.cost is not None
    return result.cost


def main(seconds: float, seeds: int) -> None:
    """Print a row for each problem: the bound, HiGHS, and each algorithm's mean over the seeds."""
    routes = clusters(200)
    rows: list[tuple[islands.Problem, float, float | None]] = [
        (flow_shop.make(200), machine_bound(200), None),
        (routes, served_by_cluster(routes), None),
        (vehicle_routing.make(200), np.nan, None),
        (continuous.make(100), 0.0, None),
    ]
    covering, bound = highs_covering(1000, seconds)
    rows.append((set_covering.make(1000), bound, covering))
    quadratic, bound = highs_quadratic(500, seconds)
    rows.append((binary_quadratic.make(500), bound, quadratic))
    print("| problem | bound | HiGHS |", " | ".join(ALGORITHMS), "|", flush=True)
    for problem, known, highs in rows:
        costs = [
            [_solved(problem, algorithm, seconds, seed) for seed in range(1, seeds + 1)]
            for algorithm in ALGORITHMS
        ]
        shown = " | ".join(f"{np.mean(c):.6g} ({min(c):.6g}-{max(c):.6g})" for c in costs)
        print(f"| {problem.instance} | {known:.6g} | {highs} | {shown} |", flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(float(arguments[0]) if arguments else 10.0, int(arguments[1]) if len(arguments) > 1 else 3)
