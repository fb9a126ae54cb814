"""Problems from data, and the default search of vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.instances.tsplib import METRICS

RNG = np.random.default_rng(5)
PLACES = RNG.integers(-90, 90, (12, 2)) / 2
SYMMETRIC = np.triu(RNG.integers(1, 99, (7, 7)), 1)
SYMMETRIC += SYMMETRIC.T
FLOWS, DISTANCES = RNG.integers(0, 50, (2, 6, 6))
PROFITS, WEIGHTS, CAPACITIES = [6, 5, 9], [[2, 3, 4], [1, 1, 5]], [7, 6]
FEW: dict[str, Any] = {"population": 16, "islands": 2, "backend": "cpu"}


class Frame:
    """An object like a pandas table, which NumPy can only convert by `__array__`."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._values, dtype)


def as_tuples(values: Any) -> Any:
    return tuple(map(as_tuples, values)) if np.ndim(values) else int(values)


@pytest.mark.parametrize("form", [np.asfortranarray, as_tuples, Frame, np.float32])
def test_numbers_may_be_given_in_any_form(form: Callable[[Any], Any]) -> None:
    p, tour = RNG.permutation(6), RNG.permutation(7)
    assignment = islands.qap(form(FLOWS), form(DISTANCES))
    assert assignment.cost(p) == (FLOWS * DISTANCES[np.ix_(p, p)]).sum()
    cities = islands.tsp(distances=form(SYMMETRIC))
    assert cities.cost(tour) == SYMMETRIC[tour, np.roll(tour, -1)].sum()
    knapsack = islands.mkp(form(PROFITS), form(WEIGHTS), form(CAPACITIES))
    assert islands.solve(knapsack, generations=5, **FEW).cost == knapsack.cost([1, 0, 1]) == 15


@pytest.mark.slow
@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric != "EXPLICIT"])
def test_coordinates_have_all_metrics_of_tsplib(metric: str, tmp_path: Path) -> None:
    problem = islands.tsp(PLACES, metric=metric)
    lines = [f"{i + 1} {x!r} {y!r}" for i, (x, y) in enumerate(PLACES.tolist())]
    head = ["TYPE: TSP", "DIMENSION: 12", f"EDGE_WEIGHT_TYPE: {metric}", "NODE_COORD_SECTION"]
    path = tmp_path / "same.tsp"
    path.write_text("\n".join([*head, *lines, "EOF", ""]))
    tours = np.array([RNG.permutation(12) for _ in range(20)])
    assert (problem.costs(tours) == islands.load(path).costs(tours)).all()
    result = islands.solve(problem, generations=3, **FEW)
    assert result.cost == problem.cost(result.solution)


def test_the_diagonal_of_distances_is_ignored() -> None:
    matrix = SYMMETRIC.astype(float)
    np.fill_diagonal(matrix, np.inf)
    tour = np.arange(7)
    assert islands.tsp(distances=matrix).cost(tour) == islands.tsp(distances=SYMMETRIC).cost(tour)
    assert matrix[0, 0] == np.inf


def test_name_and_best_known_are_those_given() -> None:
    problem = islands.tsp(distances=SYMMETRIC, name="my cities", best_known=10.0)
    assert (problem.instance, problem.best_known.value) == ("my cities", 10)
    result = islands.solve(problem, generations=2, **FEW)
    assert (result.instance, result.best_known) == ("my cities", 10)
    assert result.gap == pytest.approx(10 * (result.cost - 10))
    best = islands.solve(problem, generations=9, **FEW).cost
    known = islands.tsp(distances=SYMMETRIC, best_known=best)
    assert islands.solve(known, stop="best-known", seconds=30, **FEW).cost == best
    assert islands.mkp(PROFITS, WEIGHTS, CAPACITIES, best_known=np.int64(14)).gap(7) == 50
    names = (islands.qap(FLOWS, DISTANCES).instance, islands.tsp(PLACES).instance)
    assert names == ("qap6", "tsp12")


N = 10
COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double y = 0;
        for (int j = 0; j < n; ++j) y += data.turn[i * n + j] * (s[j] - data.shift[j]);
        sum += data.weight[i] * y * y;
    }
    return sum;
}"""


@pytest.mark.slow
def test_a_rotated_ellipsoid_is_solved() -> None:
    random = np.random.default_rng(1)
    turn, _ = np.linalg.qr(random.standard_normal((N, N)))
    shift, weight = random.uniform(-4, 4, N), 10.0 ** (6 * np.arange(N) / (N - 1))
    data = {"turn": turn, "shift": shift, "weight": weight}
    few = {"evaluations": 400_000, "islands": 2, "seed": 1, "backend": "cpu"}
    found = islands.solve(islands.real(-5, 5, N, cost=COST, data=data), **few)
    assert found.cost < 1e-10
    assert np.abs(found.solution - shift).max() < 1e-5
