"""The examples of docs/examples: small instances, and their costs in plain Python."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import plain_costs
from scripts_for_tests import script

import islands

FOLDER = Path(islands.__file__).parents[1] / "docs" / "examples"
NAMES = (
    *("bin_packing", "binary_quadratic", "continuous", "facility_location", "flow_shop"),
    *("graph_colouring", "job_shop", "max_cut", "p_median", "set_covering", "vehicle_routing"),
)
SIZE = 20


def example(name: str) -> ModuleType:
    return script(FOLDER / f"{name}.py")


def small(name: str) -> Any:
    if name == "vehicle_routing":
        random = np.random.default_rng(1)
        places, demands = random.integers(0, 1001, (SIZE + 1, 2)), random.integers(1, 20, SIZE)
        return example(name).routing(places, demands, capacity=100)
    if name == "facility_location":
        return example(name).make(4, SIZE)
    return example(name).make(SIZE)


def plain_cost(name: str, problem: Any, solution: Any) -> float:
    """Return the cost of a feasible solution by its definition; reject an infeasible one."""
    return _COSTS[name](problem, solution.tolist())


def _facility_location(problem: Any, site: list[int]) -> float:
    data, ways = problem.members, problem.members["distance"].reshape(4, SIZE)
    return sum(int(ways[j, i]) for i, j in enumerate(site)) + sum(
        int(data["opening"][j]) for j in set(site)
    )


def _flow_shop(problem: Any, order: list[int]) -> float:
    assert sorted(order) == list(range(SIZE))
    return plain_costs.flow_shop(order, times=problem.members["times"])


def _set_covering(problem: Any, chosen: list[int]) -> float:
    costs, covers = problem.members["costs"], problem.members["covers"].reshape(SIZE, -1).T
    columns = [c for c in range(SIZE) if chosen[c] == 1]
    assert all(any(row[c] for c in columns) for row in covers.tolist()), "a row is not covered"
    return sum(int(costs[c]) for c in columns)


def _continuous(problem: Any, vector: list[float]) -> float:
    assert all(-5.12 <= x <= 5.12 for x in vector)
    moved = [x - s for x, s in zip(vector, problem.members["shift"].tolist(), strict=True)]
    return math.fsum(x * x - 10 * math.cos(2 * math.pi * x) + 10 for x in moved)


def _vehicle_routing(problem: Any, order: list[int]) -> float:
    assert sorted(order) == list(range(SIZE))
    distances = problem.members["distances"].tolist()
    demands, capacity = problem.members["demands"].tolist(), int(problem.members["capacity"])

    def length(route: list[int]) -> float:
        stops = [0, *(customer + 1 for customer in route), 0]
        return sum(distances[a][b] for a, b in itertools.pairwise(stops))

    best: dict[int, float] = {SIZE: 0}  # of the routes from a place of the order to its end
    for begin in reversed(range(SIZE)):
        routes = [order[begin:end] for end in range(begin + 1, SIZE + 1)]
        fit = [route for route in routes if sum(demands[c] for c in route) <= capacity]
        best[begin] = min(length(route) + best[begin + len(route)] for route in fit)
    return best[0]


def _binary_quadratic(problem: Any, chosen: list[int]) -> float:
    return plain_costs.qubo(chosen, q=example("binary_quadratic").matrix(SIZE, seed=1))


def _bin_packing(problem: Any, order: list[int]) -> float:
    assert sorted(order) == list(range(SIZE))
    sizes, capacity = problem.members["sizes"].tolist(), int(problem.members["capacity"])
    bins: list[list[int]] = []
    for item in order:
        room = [each for each in bins if sum(each) + sizes[item] <= capacity]
        (room[0] if room else bins.append([]) or bins[-1]).append(sizes[item])
    return (len(bins) - 1) * capacity + min(map(sum, bins))


def _graph_colouring(problem: Any, order: list[int]) -> float:
    assert sorted(order) == list(range(SIZE))
    begin, partner = problem.members["begin"].tolist(), problem.members["partner"].tolist()
    colour: dict[int, int] = {}
    for node in order:
        around = {colour.get(other) for other in partner[begin[node] : begin[node + 1]]}
        colour[node] = next(c for c in itertools.count() if c not in around)
    last = max(colour.values())
    return last * SIZE + list(colour.values()).count(last)


def _job_shop(problem: Any, order: list[int]) -> float:
    assert sorted(order) == list(range(SIZE))
    times, machine_of = problem.members["times"].tolist(), problem.members["machine_of"].tolist()
    machines = int(problem.members["machines"])
    intervals: list[tuple[int, int, int, int]] = []  # job, machine, begin, end
    for entry in order:
        job = entry // machines
        step = sum(each[0] == job for each in intervals)
        machine = machine_of[job][step]
        begin = max((e for j, m, _, e in intervals if j == job or m == machine), default=0)
        intervals.append((job, machine, begin, begin + times[job][step]))
    return max(end for *_, end in intervals)


def _max_cut(problem: Any, side: list[int]) -> float:
    ends, weights = problem.members["ends"].reshape(-1, 2), problem.members["weights"]
    return plain_costs.max_cut(side, edges=ends, weights=weights)


def _p_median(problem: Any, chosen: list[int]) -> float:
    assert sum(chosen) == SIZE // 10
    distances = problem.members["distances"].reshape(SIZE, SIZE)
    return plain_costs.p_median(chosen, distances=distances)


_COSTS: dict[str, Callable[[Any, list[Any]], float]] = {
    each.__name__.removeprefix("_"): each
    for each in (
        *(_bin_packing, _binary_quadratic, _continuous, _facility_location, _flow_shop),
        *(_graph_colouring, _job_shop, _max_cut, _p_median, _set_covering, _vehicle_routing),
    )
}
