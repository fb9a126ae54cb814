"""Distances between items, and the nearest neighbours of each item.

Distances are whole numbers: lengths rounded by a TSPLIB rule, or exact lengths in a small unit, a
power of two. Coordinates in this unit keep all digits, and kernels round the lengths between them
as for EUC_2D. A kernel fills the table of neighbours on the device, from the data prepared
here.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.source import Macros
from islands.errors import UsageError
from islands.instances import tsplib
from islands.instances.tsplib import TspFile
from islands.problems import messages

_DEGREE = 10
"""Number of neighbours per city. With ten, and two per quadrant, 2-opt is nearly as good as with
more."""
_LEAF = 8  # maximum number of cities in a leaf of the tree
LONGEST, _LONGEST_TOUR = 46, 53
"""Maximum bits of an exact length, as islands/bounds requires, and of a tour, so that its cost is
an exact double."""
_MOST_WHOLE, _LONGEST_LEG, _MOST_DECIMALS = 1 << 30, 1 << 31, 6
"""Limits of scaled and of whole lengths in a matrix, and of decimal places."""
MOST_EXPONENT = 1000
"""Larger exponents are rejected."""
_PI = 3.141592
_EARTH_RADIUS = 6378.388

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Distances:
    """The symmetric distances of cities: whole numbers, from coordinates or a matrix."""

    unit: float = 1
    """Distances are integers in units of `1 / unit`: see `Scale`."""
    nodes: int
    """Number of nodes with neighbours: one per item, or two if tours are directed."""
    is_directed: bool = False
    """Whether distances differ by direction."""
    exponent: int = 0
    """Distances are in units of `2 ** -exponent`."""
    places: Floats | None
    """The coordinates of the cities in this unit, if distances are computed from them."""
    matrix: NDArray[np.int32] | None
    """The distances, unless they come from `places`."""

    def __init__(self, file: TspFile) -> None:
        self.size, self.metric, self.unit = file.dimension, file.metric, file.unit
        self.nodes = self.size
        self.matrix = _geo_matrix(file) if file.metric == "GEO" else file.matrix
        self.places = file.coordinates if self.matrix is None else None
        if file.metric is None:
            assert file.coordinates is not None, "exact distances come from coordinates"
            self.exponent = exponent_of(file.coordinates)
            self.places = np.ldexp(file.coordinates, self.exponent)
            self.unit = math.ldexp(1.0, min(self.exponent, MOST_EXPONENT))
        self._rule = file.metric or "EUC_2D"

    def defines(self) -> Macros:
        """Return the macros that select the source of distances and their rounding."""
        return {"TSP_METRIC": f"TSP_{self._rule}" if self.matrix is None else "TSP_MATRIX"}

    def array(self) -> NDArray[np.generic]:
        """Return the matrix or the coordinates as kernels read them."""
        return np.ascontiguousarray(self._places()) if self.matrix is None else self.matrix

    def between(self, a: Ints, b: Ints) -> Ints:
        """Return the distances between the cities of `a` and `b`, element by element."""
        if self.matrix is not None:
            return self.matrix[a, b].astype(np.int64)
        return self._lengths(self._places()[a] - self._places()[b])

    def along(self, tours: Ints) -> Ints:
        """Return the lengths of the edges of closed tours in order, a row per tour."""
        if self.matrix is not None:
            after = np.concatenate((tours[..., 1:], tours[..., :1]), axis=-1)  # np.roll is slower
            return self.between(tours, after)
        places = self._places()[tours]
        ends = np.concatenate((places[..., 1:, :], places[..., :1, :]), axis=-2)
        return self._lengths(ends - places)

    def _lengths(self, difference: Floats) -> Ints:
        squares = difference[..., 0] ** 2 + difference[..., 1] ** 2
        return _rounded(self._rule, squares).astype(np.int64)

    def nearest(self, count: int) -> Ints:
        """Return `count` nearest cities of each city, possibly including itself."""
        from scipy.spatial import KDTree

        if self.matrix is None:
            neighbours = KDTree(self._places()).query(self._places(), k=count)[1]
            return np.asarray(neighbours, np.int64).reshape(self.size, count)
        table = np.empty((self.size, count), np.int64)
        for city, row in enumerate(self.matrix):
            table[city] = np.argpartition(row, count - 1)[:count]
        return table

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of `Neighbours` in kernels/tours."""
        return tables_of([self])[0]

    def chain(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of `Neighbours` for a matrix, with all cities in one chain."""
        assert self.matrix is not None, "it has no coordinates"
        return arrays_of_chain(chain_of(self.matrix))

    def _places(self) -> Floats:
        assert self.places is not None, "the reader gives coordinates or a matrix"
        return self.places


def scaled(
    lengths: Floats, fixed: Sequence[tuple[int, int]] = ()
) -> tuple[NDArray[np.int32], float]:
    """Return lengths as integers in units of `1 / unit`, and this unit; -1 for infinite ones.

    The unit is a power of ten if all lengths are then whole numbers. Otherwise it is the largest
    power of two for which they have 30 bits, including their shares of the fixed edges.
    """
    is_finite = np.isfinite(lengths)
    known = np.where(is_finite, lengths, 0.0)
    longest = float(known.max(initial=0.0)) + _share_of_fixed(known, fixed)
    for decimals in range(_MOST_DECIMALS + 1):
        unit: float = 10**decimals
        whole = np.rint(known * unit)
        if longest * unit >= (_MOST_WHOLE if decimals else _LONGEST_LEG):
            break
        if (whole / unit == known).all():
            return np.where(is_finite, whole, -1).astype(np.int32), unit
    exponent = _MOST_WHOLE.bit_length() - 1 - math.frexp(longest)[1]
    if exponent > MOST_EXPONENT:
        raise UsageError(
            f"the longest length is {longest:.0e}, too small for floating-point numbers. Multiply"
            " all of them by a power of ten"
        )
    unit = math.ldexp(1.0, exponent)
    return np.where(is_finite, np.rint(known * unit), -1).astype(np.int32), unit


def _share_of_fixed(lengths: Floats, fixed: Sequence[tuple[int, int]]) -> float:
    """Return the maximum that the lengths of fixed edges add to a leg between chains.

    Edges of cities that do not exist are rejected later.
    """
    n = len(lengths)
    inside = math.fsum(lengths[a, b] for a, b in fixed if min(a, b) >= 0 and max(a, b) < n)
    return inside / max(1, n - 1 - len(fixed))


def exponent_of(coordinates: Floats) -> int:
    """Return the exponent of the power of two that multiplies coordinates before rounding.

    It is as large as 64-bit integers and doubles allow, and the same on all machines.
    """
    middle = np.partition(coordinates, len(coordinates) // 2, axis=0)[len(coordinates) // 2]
    away = np.abs(coordinates - middle)
    # No edge is longer than the path through the middle, and a tour has two edges per city.
    longest = 2 * math.fsum(np.maximum.reduce(away).tolist())
    if longest == 0.0:
        return 0
    tour = 2 * math.fsum(away.ravel().tolist())
    return min(LONGEST - math.frexp(longest)[1], _LONGEST_TOUR - math.frexp(tour)[1])


def tables_of(many: Sequence[Distances]) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of `Neighbours` in kernels/tours for each of several instances.

    They contain a tree of the cities, or a chain of them for a matrix; a kernel fills `table`. All
    instances must have the same number of cities, and either all or none must have coordinates.
    Building the trees of many small instances takes hardly longer than building one.
    """
    first = many[0]
    if first.matrix is not None:
        arrays = [one.chain() for one in many]
    else:
        points = np.array([one.places for one in many])
        arrays = [
            {"cities": cities, "axis": axis, "split": split, "twins": twins}
            for cities, axis, split, twins in zip(*trees_of(points), twins_of(points), strict=True)
        ]
    degree = max(1, min(_DEGREE, first.nodes - 1))
    table = np.zeros((first.nodes, degree), np.int32)
    return [one | {"table": table} for one in arrays]


def trees_of(points: Floats) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Return a k-d tree of the cities of each instance: their order, and axes and splits of nodes.

    Node k has the children 2k and 2k + 1. Each level divides the cities into equal parts.
    """
    count, n, _ = points.shape
    levels = max(0, math.ceil(math.log2(max(1, n / _LEAF))))
    instance = np.arange(count)[:, np.newaxis]
    along = np.ascontiguousarray(points.transpose(0, 2, 1))
    places = np.empty((count, 2, n), np.int64)  # ranks of cities along each axis
    order = np.argsort(along, axis=2, kind="stable")
    np.put_along_axis(places, order, np.arange(n)[np.newaxis, np.newaxis], axis=2)
    cities = np.broadcast_to(np.arange(n), (count, n))
    axes, splits = np.zeros((count, 1 << levels), np.int32), np.zeros((count, 1 << levels))
    for level in range(levels):
        begins, middles, part = _divided(n, level)
        placed = np.take_along_axis(along, cities[:, np.newaxis], axis=2)
        highest = np.maximum.reduceat(placed, begins, axis=2)
        axis = np.argmax(highest - np.minimum.reduceat(placed, begins, axis=2), axis=1)
        # Parts stay in place; each is sorted along its axis.
        keys = n * part + places[instance, axis[:, part], cities]
        cities = np.take_along_axis(cities, np.argsort(keys, axis=1, kind="stable"), axis=1)
        nodes = slice(1 << level, 2 << level)
        axes[:, nodes], splits[:, nodes] = axis, along[instance, axis, cities[:, middles]]
    return cities.astype(np.int32), axes, splits


@lru_cache(maxsize=64)
def _divided(n: int, level: int) -> tuple[NDArray[np.int64], ...]:
    """Return the starts and middles of the parts of a level, and the part of each place."""
    parts = 1 << level
    bounds = np.arange(2 * parts + 1) * n // (2 * parts)
    return bounds[:-1:2], bounds[1::2], np.repeat(np.arange(parts), np.diff(bounds[::2]))


def twins_of(points: Floats) -> NDArray[np.int32]:
    """Return the previous and next city, by number, at the same coordinates as each city, or -1.

    `points` has the coordinates of several instances.
    """
    count, n, _ = points.shape
    twins = np.full((count, 2, n), -1, np.int32)
    whole = np.sort(points[..., 0] + 1j * points[..., 1], axis=1)
    for number in np.flatnonzero((whole[:, 1:] == whole[:, :-1]).any(axis=1)):
        places = points[number]
        order = np.lexsort((np.arange(n), *places.T))
        same = (places[order[1:]] == places[order[:-1]]).all(axis=1)
        twins[number, 0, order[1:][same]] = order[:-1][same]
        twins[number, 1, order[:-1][same]] = order[1:][same]
    return twins


def arrays_of_chain(cities: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Return the arrays of `Neighbours` for cities in this order, without coordinates."""
    leaf = np.zeros(1)
    twins = np.full((2, len(cities)), -1, np.int32)
    return {"cities": cities, "axis": leaf.astype(np.int32), "split": leaf, "twins": twins}


def chain_of(matrix: NDArray[Any]) -> NDArray[np.int32]:
    """Return a nearest-neighbour order of the cities."""
    n = len(matrix)
    is_left = np.ones(n, np.bool_)
    order, city = np.empty(n, np.int32), 0
    for place in range(n):
        order[place], is_left[city] = city, False
        if place < n - 1:
            left = np.flatnonzero(is_left)
            city = int(left[np.argmin(matrix[city, left])])
    return order


def _rounded(metric: str, squares: Floats) -> Floats:
    """Return rounded distances, as floating-point numbers, from squared ones."""
    if metric == "EUC_2D":
        return np.floor(np.sqrt(squares) + 0.5)
    if metric == "CEIL_2D":
        return np.ceil(np.sqrt(squares))
    exact = np.sqrt(squares / 10.0)
    nearest = np.floor(exact + 0.5)
    return nearest + (nearest < exact)


def _geo_matrix(file: TspFile) -> NDArray[np.int32]:
    """Return geographical distances between coordinates in degrees and minutes (DDD.MM).

    They are computed here once, because trigonometric functions differ in the last bit between
    devices.
    """
    assert file.coordinates is not None, "the reader gives coordinates to a GEO instance"
    n = file.dimension
    if n > tsplib.LARGEST:
        raise messages.too_many_on_earth(file=file)
    matrix = np.empty((n, n), np.int32)
    radians = _radians(file.coordinates)
    for city in range(n):
        matrix[city] = np.trunc(_on_earth(radians[city], radians) + 1.0)
    np.fill_diagonal(matrix, 0)
    return matrix


def unrounded(file: TspFile, city: int, other: int) -> float:
    """Return the unrounded length between two cities in the plane or on the earth."""
    assert file.coordinates is not None, "a matrix has rounded lengths"
    here, there = file.coordinates[[city, other]]
    if file.metric == "GEO":
        return float(_on_earth(_radians(here), _radians(there)))
    length = math.dist(here, there)
    return length / math.sqrt(10.0) if file.metric == "ATT" else length


def decimal_degrees(coordinates: Floats) -> Floats:
    """Return coordinates in degrees and minutes (DDD.MM) as decimal degrees."""
    degrees = np.trunc(coordinates)
    return np.asarray(degrees + 5.0 * (coordinates - degrees) / 3.0)


def _radians(coordinates: Floats) -> Floats:
    return np.asarray(_PI * decimal_degrees(coordinates) / 180.0)


def _on_earth(here: Floats, there: Floats) -> Any:
    """Return the length in kilometres from one place to another, or to each place of an array."""
    (latitude, longitude), (latitudes, longitudes) = here, there.T
    q1 = np.cos(longitude - longitudes)
    q2 = np.cos(latitude - latitudes)
    q3 = np.cos(latitude + latitudes)
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    return _EARTH_RADIUS * np.arccos(cosine)
