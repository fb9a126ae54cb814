"""Problems from data in Python: lists, NumPy arrays, or anything convertible to them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances import qaplib, tsplib
from islands.instances.mkp import LARGEST, MOST_CONSTRAINTS, MOST_ITEMS, SUM_MAX, MkpFile
from islands.instances.qaplib import QapFile
from islands.instances.road_tables import read_table
from islands.instances.sizes import require_size
from islands.instances.tsplib import FARTHEST, METRICS, MOST_CITIES, TspFile
from islands.problems import messages
from islands.problems.arguments import (
    FORMS,
    array_of,
    best_known_of,
    element,
    first_true,
    integers,
    is_sparse,
    items_of,
    name_or,
    read_array,
    read_matrix,
    reals,
    require_shape,
    require_sum,
)
from islands.problems.distances import LONGEST, MOST_EXPONENT, scaled
from islands.problems.mkp import Mkp
from islands.problems.qap import COST_MAX, Qap
from islands.problems.routes import Edge, edges_of, ends_of
from islands.problems.tsp import Tsp
from islands.text import counted, meant, shown, unknown

_NUMBER_MAX = 2**31 - 1
FARTHEST_EXACT = 1e300
"""Maximum coordinate for exact lengths, so that sums of differences are finite doubles."""
_LONGEST_REAL = 1e15
_NORTH = 90
_OF_COORDINATES = tuple(metric for metric in METRICS if metric != "EXPLICIT")

Matrix = NDArray[np.int64]


@explained
def tsp(
    coordinates: Any = None,
    metric: str | None = None,
    *,
    distances: Any = None,
    field: str | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    fixed: Any = (),
    labels: Any = None,
    places: Any = None,
    name: str | None = None,
    best_known: float | None = None,
) -> Tsp:
    """Return a travelling salesman problem from coordinates or a distance matrix.

    `coordinates` has a row `x, y` for each city. Lengths between them are exact; costs are in the
    same unit. With a TSPLIB `metric`, lengths are whole numbers by its rules: `EUC_2D` (rounded),
    `CEIL_2D` (rounded up), `ATT` or `GEO` (latitude and longitude in degrees and minutes, DDD.MM).

    `distances` is a matrix of the lengths from each city (row) to each other one (column), which
    may be asymmetric; the diagonal is ignored, and infinity forbids a leg. It may also be the JSON
    response of a routing engine, as a dict or the path of a file: of OSRM (`durations`, or
    `field="distances"`), Valhalla (`time`, `distance`) or GraphHopper (`times`, `distances`,
    `weights`). Lengths with decimals are scaled to whole numbers, by a power of ten if this is
    exact; otherwise by a power of two, such that the longest one has 30 bits.

    With the number of a city as `start` or `end`, a tour is a path; an end that is not given is
    free. `"any"` for both is a path with free ends. `fixed` lists pairs of cities that must follow
    each other in the tour, in either direction if lengths are symmetric.

    `labels` are names of the cities, and `places` has a row for each city with its longitude and
    latitude in degrees: both are for maps (`geojson`), and may be part of the response of a routing
    engine. `name` is the name in results. `best_known` is the best known length, for gaps and for
    `stop="best-known"`.

    >>> islands.tsp([[0, 0], [0.375, 0.5], [0.375, 0]]).cost([0, 1, 2])
    1.5
    >>> triangle = islands.tsp(distances=[[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> triangle.cost([0, 1, 2])
    12
    >>> path = islands.tsp(distances=[[0, 9, 4], [3, 0, 5], [4, 5, 0]], start=1)
    >>> islands.solve(path, generations=20).solution.tolist()
    [1, 0, 2]
    """
    if (coordinates is None) == (distances is None):
        raise messages.not_one_of_both(call="tsp", plural="matrix", coordinates=coordinates)
    if field is not None and not isinstance(distances, Mapping | str | Path):
        raise messages.field_without_table(field=field)
    ends = None if start is None and end is None else ends_of(start, end)
    edges = edges_of(fixed)
    if distances is None:
        file = _of_coordinates(coordinates, metric)
    else:
        if metric not in (None, "EXPLICIT"):
            raise messages.metric_with_distances(metric=metric)
        if isinstance(distances, Mapping | str | Path):
            table = read_table(distances, field)
            distances = table.values
            labels = table.labels if labels is None else labels
            places = table.places if places is None else places
        matrix, unit = _distances(distances, edges)
        file = TspFile("", None, len(matrix), "EXPLICIT", matrix=matrix, unit=unit)
    n = file.dimension
    name = name_or(name, f"tsp{n}")
    file = replace(file, name=name, labels=_labels(labels, n), places=_places(places, n))
    file = replace(file, ends=ends, fixed=edges)
    problem = Tsp(file, name, best_known_of(best_known))
    if problem.near.exponent > MOST_EXPONENT:
        apart = math.ldexp(1.0, LONGEST - problem.near.exponent)
        raise messages.cities_too_close(apart=apart)
    return problem


def _of_coordinates(coordinates: Any, metric: str | None) -> TspFile:
    """Return an unnamed instance of cities in the plane or on the earth."""
    rule = None if metric is None else _metric(metric)
    farthest = FARTHEST_EXACT if rule is None else FARTHEST
    points = reals("coordinates", read_array("coordinates", coordinates, 2), farthest)
    n = len(points)
    require_shape("coordinates", points, (n, 2), "a row x, y for each city")
    most = tsplib.LARGEST if rule == "GEO" else MOST_CITIES
    require_size("coordinates", n, "cities", most)
    return TspFile("", None, n, rule, coordinates=points)


@explained
def qap(
    flows: Any,
    distances: Any,
    *,
    linear: Any = None,
    name: str | None = None,
    best_known: float | None = None,
) -> Qap:
    """Return a quadratic assignment problem from two square matrices of whole numbers.

    A solution p, with facility i at location p[i], costs the sum of flows[i, j] * distances[p[i],
    p[j]] over all i and j. The matrices may be asymmetric, and may be sparse SciPy matrices. If few
    flows, or few distances, are not zero, the default algorithm is `growth` (see docs/settings.md).

    `linear` has a row for each facility and a column for each location: whole numbers of at least
    0, the costs of a facility at a location in addition to those of its flows. The cost then
    includes linear[i, p[i]] for all i.

    `name` is the name in results. `best_known` is the best known cost, for gaps and for
    `stop="best-known"`.

    >>> flows, distances = [[0, 5, 1], [5, 0, 2], [1, 2, 0]], [[0, 4, 9], [4, 0, 3], [9, 3, 0]]
    >>> result = islands.solve(islands.qap(flows, distances), generations=20)
    >>> result.cost, result.solution.tolist()
    (64, [2, 1, 0])
    """
    a = integers("flows", read_matrix("flows", flows), _NUMBER_MAX)
    n = len(a)
    require_shape("flows", a, (n, n), "a row and a column for each facility")
    require_size("flows", n, "facilities", qaplib.LARGEST)
    b = integers("distances", read_matrix("distances", distances), _NUMBER_MAX)
    require_shape("distances", b, (n, n), f"flows has {counted(n, 'row')}")
    largest = int(a.sum()) * int(b.max())
    if largest > COST_MAX:
        raise messages.costs_too_large(largest=largest, most=COST_MAX)
    called = name_or(name, f"qap{n}")
    file = QapFile(called, None, n, a, b, linear=None if linear is None else _linear(linear, n))
    return Qap(file, called, best_known_of(best_known))


@explained
def mkp(
    profits: Any,
    weights: Any,
    capacities: Any,
    *,
    name: str | None = None,
    best_known: float | None = None,
) -> Mkp:
    """Return a multidimensional knapsack problem: choose items with the largest total profit.

    `profits` has a number for each item, `weights` a row for each constraint and a column for each
    item, `capacities` a number for each constraint. All are non-negative integers.

    `name` is the name in results. `best_known` is the best known profit, for gaps and for
    `stop="best-known"`.

    >>> knapsack = islands.mkp([6, 5, 9], weights=[[2, 3, 4], [1, 1, 5]], capacities=[7, 6])
    >>> islands.solve(knapsack, generations=20).items()
    [0, 2]
    """
    values = integers("profits", read_array("profits", profits, 1), SUM_MAX - 1)
    n = len(values)
    require_size("profits", n, "items", MOST_ITEMS)
    fix = "Multiply the constraint and its capacity by a power of ten"
    rows = integers("weights", read_array("weights", weights, 2), SUM_MAX - 1, fix=fix)
    m = len(rows)
    require_shape("weights", rows, (m, n), f"a row for each constraint; profits has {n} items")
    require_size("weights", m, "constraints", MOST_CONSTRAINTS)
    require_size("weights", n * m, "numbers", LARGEST)
    limits = read_array("capacities", capacities, 1)
    limits = integers("capacities", limits, SUM_MAX - 1, fix=f"{fix}, or round it down")
    require_shape("capacities", limits, (m,), f"weights has {counted(m, 'row')}")
    require_sum("profits", values, SUM_MAX)
    for row, weights_of_row in enumerate(rows):
        require_sum(element("weights", (row,)), weights_of_row, SUM_MAX)
    called = name_or(name, f"mkp{n}x{m}")
    return Mkp(MkpFile(called, None, values, rows, limits), called, best_known_of(best_known))


def _linear(values: Any, n: int) -> Matrix:
    """Return the linear costs of facilities at locations."""
    name = "linear"
    fix = "Multiply all of them by a power of ten, and flows or distances by the same"
    array = read_matrix(name, values)
    require_shape(name, array, (n, n), f"a row for each of {n} facilities, a column for each place")
    negative = "Add the same number to a whole row, which changes every cost by it"
    return integers(name, array, _NUMBER_MAX, fix=fix, negative=negative)


def _distances(values: Any, fixed: Sequence[Edge]) -> tuple[NDArray[np.int32], float]:
    """Return a matrix of whole numbers with a zero diagonal, and their unit; -1 for infinity.

    The unit leaves room for the lengths of fixed edges.
    """
    if is_sparse(values):
        raise UsageError(
            "distances: is a sparse matrix, in which an absent entry could be a length of 0 or a"
            " leg that does not exist. Pass distances.toarray(), with infinity where no leg leads"
        )
    _reject_none(values)
    array = read_array("distances", values, 2)
    n = len(array)
    require_shape("distances", array, (n, n), "a row and a column for each city")
    require_size("distances", n, "cities", tsplib.LARGEST)
    np.fill_diagonal(array, 0)  # no tour uses it, and it may be infinite
    if array.dtype.kind != "f":
        return np.ascontiguousarray(integers("distances", array, _NUMBER_MAX), np.int32), 1
    wrong = ~(array >= 0) | ((array > _LONGEST_REAL) & (array < math.inf))
    if wrong.any():
        place = first_true(wrong)
        raise UsageError(
            f"{element('distances', place)} = {array[place]}: must be a number from 0 to"
            f" {_LONGEST_REAL:g}, or infinity if no leg leads there. Correct it"
        )
    return scaled(array, fixed)


def _reject_none(values: Any) -> None:
    """Reject None in a matrix, which only responses of routing engines may contain."""
    array = array_of("distances", values, FORMS[2])
    if array.dtype.kind != "O":
        return
    wrong = np.array([entry is None for entry in array.flat]).reshape(array.shape)
    if wrong.any():
        raise UsageError(
            f"{element('distances', first_true(wrong))} = None: must be a number, or infinity"
            " (math.inf) if no leg leads there. Correct it"
        )


def _places(places: Any, n: int) -> NDArray[np.float64] | None:
    """Return the longitude and latitude of the cities, if given."""
    if places is None:
        return None
    array = reals("places", read_array("places", places, 2), 180)
    require_shape("places", array, (n, 2), "longitude and latitude of each city")
    if (np.abs(array[:, 1]) > _NORTH).any():
        city = int(np.argmax(np.abs(array[:, 1]) > _NORTH))
        raise UsageError(
            f"{element('places', (city, 1))} = {array[city, 1]}: must be a latitude from -{_NORTH}"
            f" to {_NORTH}. Pass longitude first"
        )
    return array


def _labels(labels: Any, n: int) -> tuple[str, ...] | None:
    """Return the names of the cities, if given."""
    if labels is None:
        return None
    names = tuple(map(str, items_of("labels", labels, "a name for each city")))
    if len(names) != n:
        raise UsageError(f"labels: {counted(len(names), 'name')} for {n} cities. Pass {n} of them")
    return names


def _metric(metric: Any) -> str:
    name = meant(metric, METRICS) if isinstance(metric, str) else shown(metric)
    if name == "EXPLICIT":
        raise UsageError(
            'metric="EXPLICIT": needs a matrix. Write islands.tsp(distances=matrix), or choose'
            f" {', '.join(_OF_COORDINATES)}"
        )
    if name not in _OF_COORDINATES:
        raise UsageError(f"metric={shown(metric)}: {unknown('metric', name, _OF_COORDINATES)}")
    return name
