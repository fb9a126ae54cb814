"""Problems from data: `islands.tsp`, `islands.qap` and `islands.mkp`."""

from __future__ import annotations

import re
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


FORMS = pytest.mark.parametrize(
    "form",
    [np.array, np.asfortranarray, lambda x: np.array(x).tolist(), Frame, lambda x: np.float32(x)],
    ids=["array", "fortran", "lists", "frame", "floats"],
)


def as_tuples(rows: Any) -> tuple[Any, ...]:
    return tuple(tuple(row) for row in np.array(rows).tolist())


@FORMS
def test_the_costs_of_a_qap_are_those_of_its_matrices(form: Callable[[Any], Any]) -> None:
    problem = islands.qap(form(FLOWS), form(DISTANCES))
    for p in (np.arange(6), RNG.permutation(6)):
        assert problem.cost(p) == sum(
            FLOWS[i, j] * DISTANCES[p[i], p[j]] for i in range(6) for j in range(6)
        )
    result = islands.solve(problem, generations=5, **FEW)
    p = result.solution
    assert result.cost == (FLOWS * DISTANCES[np.ix_(p, p)]).sum()


@FORMS
def test_the_costs_of_a_tsp_are_those_of_its_distances(form: Callable[[Any], Any]) -> None:
    problem = islands.tsp(distances=form(SYMMETRIC))
    result = islands.solve(problem, generations=5, **FEW)
    tour = result.solution
    assert result.cost == SYMMETRIC[tour, np.roll(tour, -1)].sum()


@FORMS
def test_the_profit_of_an_mkp_is_that_of_its_items(form: Callable[[Any], Any]) -> None:
    problem = islands.mkp(form(PROFITS), form(WEIGHTS), form(CAPACITIES))
    result = islands.solve(problem, generations=5, **FEW)
    assert result.cost == np.array(PROFITS) @ result.solution == 15
    assert (np.array(WEIGHTS) @ result.solution <= CAPACITIES).all()


@pytest.mark.parametrize("algorithm", ["ga", "tempering"])
@pytest.mark.parametrize("m", [1, 4])
def test_the_optimum_of_an_mkp_is_that_of_brute_force(algorithm: str, m: int) -> None:
    rng = np.random.default_rng(m)
    profits, weights = rng.integers(0, 90, 12), rng.integers(0, 90, (m, 12))
    capacities = weights.sum(axis=1) * 2 // 5
    subsets = (np.arange(2**12)[:, np.newaxis] >> np.arange(12)) & 1
    fits = (subsets @ weights.T <= capacities).all(axis=1)
    optimum = int((subsets[fits] @ profits).max())
    one = islands.mkp(profits, weights, capacities, best_known=optimum)
    (same,) = islands.mkp_batch(profits[np.newaxis], weights, capacities)
    for problem in (one, same):
        result = islands.solve(problem, algorithm=algorithm, generations=60, **FEW)
        assert result.cost == result.solution @ profits == optimum
        assert (weights @ result.solution <= capacities).all()
    assert one.gap(optimum) == 0


def test_data_may_be_tuples() -> None:
    assert islands.tsp(as_tuples(PLACES)).size == 12
    assert islands.qap(as_tuples(FLOWS), as_tuples(DISTANCES)).size == 6
    assert islands.mkp(tuple(PROFITS), as_tuples(WEIGHTS), tuple(CAPACITIES)).size == 3


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


def test_later_changes_of_the_data_have_no_effect() -> None:
    places, matrix = PLACES.copy(), SYMMETRIC.copy()
    problems = islands.tsp(places), islands.tsp(distances=matrix)
    before = [each.cost(np.arange(each.size)) for each in problems]
    places *= 2
    matrix *= 2
    assert [each.cost(np.arange(each.size)) for each in problems] == before


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


def test_the_settings_of_a_run_on_data_repeat_it(tmp_path: Path) -> None:
    problem = islands.tsp(PLACES, name="mine")
    first = islands.solve(problem, generations=5, out=tmp_path / "a", **FEW)
    again = islands.solve(problem, config=tmp_path / "a" / "run.toml", backend="cpu")
    assert again.digest == first.digest


NAN, INF = float("nan"), float("inf")
EQUAL = [[0, 1], [1, 0]]
REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: islands.tsp(), "tsp: neither of coordinates and distances given. Write islands.tsp("),
    (lambda: islands.tsp(PLACES, distances=EQUAL), "tsp: both of coordinates and distances given"),
    (lambda: islands.tsp([[0, 1, 2]]), "coordinates: has the shape (1, 3), must be (1, 2): a row"),
    (lambda: islands.tsp([1, 2]), "coordinates: has 1 dimension, must have 2. Pass a list of rows"),
    (lambda: islands.tsp([]), "coordinates: has 1 dimension, must have 2"),
    (lambda: islands.tsp(np.zeros((0, 2))), "coordinates: is empty, with the shape (0, 2). Pass"),
    (lambda: islands.tsp([[0, 1], [2]]), "coordinates=[[0, 1], [2]]: cannot become a NumPy array"),
    (lambda: islands.tsp([[0, NAN]]), "coordinates[0, 1] = nan: must be a number from -1e+300 to"),
    (lambda: islands.tsp([[INF, 0]]), "coordinates[0, 0] = inf: must be a number from"),
    (lambda: islands.tsp([["0", "1"]]), "coordinates=[['0', '1']]: contains values of the type"),
    (lambda: islands.tsp([[0, None]]), "coordinates[0, 1] = None: must be a number. Correct it"),
    (lambda: islands.tsp([[0, 1j]]), "contains values of the type complex128, must be numbers"),
    (lambda: islands.tsp(PLACES, "EUC_3D"), "metric='EUC_3D': unknown metric 'EUC_3D'. Did you"),
    (lambda: islands.tsp(PLACES, 2), "metric=2: unknown metric '2'. Known: EUC_2D, CEIL_2D, ATT"),  # type: ignore[arg-type]
    (lambda: islands.tsp(PLACES, "explicit"), 'metric="EXPLICIT": needs a matrix. Write islands.'),
    (
        lambda: islands.tsp(metric="ATT", distances=EQUAL),
        "metric='ATT' with distances: a metric is for coordinates. Leave metric out",
    ),
    (
        lambda: islands.tsp(np.zeros((20_001, 2)), "GEO"),
        "coordinates: has 20001 cities, but at most 20000 fit in memory. Use fewer",
    ),
    (lambda: islands.tsp(distances=[[0, 1]]), "distances: has the shape (1, 2), must be (1, 1)"),
    (
        lambda: islands.tsp(distances=[[0, 1], [2, 0]]),
        "distances[0, 1] = 1, but distances[1, 0] = 2: must be symmetric. Make both equal",
    ),
    (
        lambda: islands.tsp(distances=[[0, 1.5], [1.5, 0]]),
        "distances[0, 1] = 1.5: must be a whole number from 0 to 2147483647. Multiply all of them",
    ),
    (
        lambda: islands.tsp(distances=[[0, -1], [-1, 0]]),
        "distances[0, 1] = -1: must be a whole number from 0 to 2147483647. Correct it",
    ),
    (
        lambda: islands.tsp(distances=[[0, 2**31], [2**31, 0]]),
        "distances[0, 1] = 2147483648: must be a whole number from 0 to 2147483647. Divide all",
    ),
    (lambda: islands.tsp(PLACES, best_known=NAN), "best_known=nan: must be a number. Leave it out"),
    (lambda: islands.tsp(PLACES, best_known=True), "best_known=True: must be a number"),
    (lambda: islands.tsp(PLACES, best_known="7"), "best_known='7': must be a number"),  # type: ignore[arg-type]
    (lambda: islands.tsp(PLACES, name=""), "name='': must be a text. Leave it out to call it"),
    (lambda: islands.tsp(PLACES, name=7), "name=7: must be a text"),  # type: ignore[arg-type]
    (lambda: islands.qap([[1, 2]], [[1]]), "flows: has the shape (1, 2), must be (1, 1): a row"),
    (lambda: islands.qap(EQUAL, [[1]]), "distances: has the shape (1, 1), must be (2, 2): flows"),
    (lambda: islands.qap([[INF]], [[1]]), "flows[0, 0] = inf: must be a whole number from 0 to"),
    (lambda: islands.qap([[1]], [[-2]]), "distances[0, 0] = -2: must be a whole number from 0"),
    (
        lambda: islands.qap([[2**30] * 40] * 40, [[2**30] * 40] * 40),
        "flows, distances: costs may reach 1844674407370955161600, the sum of flows times",
    ),
    (lambda: islands.mkp([], [[]], [1]), "profits: is empty, with the shape (0,). Pass at least"),
    (lambda: islands.mkp([1, 2], [1, 2], [3]), "weights: has 1 dimension, must have 2. Pass a"),
    (lambda: islands.mkp([1], [[1, 2]], [3]), "weights: has the shape (1, 2), must be (1, 1): a"),
    (lambda: islands.mkp([1], [[1]], 3), "capacities: has 0 dimensions, must have 1. Pass a list"),
    (lambda: islands.mkp([1], [[1]], [3, 4]), "must be (1,): weights has 1 row"),
    (lambda: islands.mkp(None, [[1]], [3]), "profits = None: must be a number. Correct it"),
    (
        lambda: islands.qap([[0]], [[0]], linear=[[-1]]),
        "linear[0, 0] = -1: must be a whole number from 0 to 2147483647. Add the same number to a"
        " whole row, which changes every cost by it",
    ),
    (lambda: islands.mkp([-1], [[1]], [3]), "profits[0] = -1: must be a whole number from 0 to"),
    (lambda: islands.mkp([1], [[0.5]], [3]), "weights[0, 0] = 0.5: must be a whole number from"),
    (lambda: islands.mkp([1], [[1]], [2.5]), "by a power of ten, or round it down"),
    (lambda: islands.mkp([2**200], [[1]], [2]), "profits[0] = 1.6069380442589903e+60: must be a"),
    (
        lambda: islands.mkp([1, 1], [[2**59, 2**59]], [2]),
        "weights[0]: the sum is 1152921504606846976, but only sums below 1152921504606846976 are",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[each[1][:40] for each in REFUSED])
def test_wrong_data_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(islands.IslandsError, match=re.escape(message)) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_instances_are_loaded_from_paths(tmp_path: Path) -> None:
    path = tmp_path / "two.tsp"
    path.write_text(
        "TYPE: TSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 4\nEOF\n"
    )
    assert islands.load(path).cost(np.arange(2)) == 10
    assert islands.load("demo/tsp").instance == "demo/tsp"
