"""Compare the algorithms on the examples of this folder: the tables of docs/choosing.md.

    python compare.py --seconds 10 --seeds 3
    python compare.py --evaluations 1000000 --population 64

Each run uses two threads. HiGHS runs for ten seconds, where it applies.
"""

import argparse
from typing import Any

import binary_quadratic
import continuous
import flow_shop
import numpy as np
import set_covering
import vehicle_routing
from numpy.typing import NDArray

import islands

COLUMNS: dict[str, dict[str, Any]] = {
    **{name: {"algorithm": name} for name in ("brkga", "de", "ga", "cellular", "pso")},
    "de, jde": {"algorithm": "de", "adaptation": "jde"},
}


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


def _solved(problem: islands.Problem, settings: dict[str, Any]) -> float:
    result = islands.solve(problem, threads=2, **settings)
    assert result.cost is not None
    return result.cost


def main(seeds: int, **settings: Any) -> None:
    """Print a row for each problem: a bound, HiGHS, and the mean and range of each algorithm."""
    routes = clusters(200)
    covering, lower = highs_covering(1000, seconds=10)
    quadratic, upper = highs_quadratic(500, seconds=10)
    rows: list[tuple[islands.Problem, float, float | None]] = [
        (flow_shop.make(200), machine_bound(200), None),
        (vehicle_routing.make(200), np.nan, None),
        (routes, served_by_cluster(routes), None),
        (continuous.make(100), 0.0, None),
        (set_covering.make(1000), lower, covering),
        (binary_quadratic.make(500), upper, quadratic),
    ]
    print("| problem | bound | HiGHS |", " | ".join(COLUMNS), "|", flush=True)
    for problem, known, highs in rows:
        shown = []
        for column in COLUMNS.values():
            runs = range(1, seeds + 1)
            costs = [_solved(problem, {**column, **settings, "seed": seed}) for seed in runs]
            between = f" ({min(costs):.5g}-{max(costs):.5g})" if seeds > 1 else ""
            shown.append(f"{np.mean(costs):.5g}{between}")
        by_highs = "" if highs is None else f"{highs:.5g}"
        print(
            f"| {problem.instance} | {known:.6g} | {by_highs} |", " | ".join(shown), "|", flush=True
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--evaluations", type=float)
    parser.add_argument("--population", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=1)
    main(**vars(parser.parse_args()))
