"""Distances between items by the rules of TSPLIB, and the nearest neighbours of each item.

A kernel fills the table of neighbours on the device, from the data that is prepared here.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.source import Macros
from islands.errors import UsageError
from islands.instances import tsplib
from islands.instances.tsplib import TspFile

_DEGREE = 10
"""Number of neighbours of a city; with ten, and two in each quadrant, 2-opt is nearly as good as
with more."""
_LEAF = 8  # cities that a search compares one by one
_PI = 3.141592
_EARTH_RADIUS = 6378.388

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Distances:
    """The symmetric distances of cities: whole numbers, from coordinates or from a matrix."""

    places: Floats | None
    """The coordinates of the cities in the plane, if distances come from them."""
    matrix: NDArray[np.int32] | None
    """The distances, unless they come from `places`."""

    def __init__(self, file: TspFile) -> None:
        self.size, self.metric = file.dimension, file.metric
        self.matrix = _geo_matrix(file) if file.metric == "GEO" else file.matrix
        self.places = file.coordinates if self.matrix is None else None

    def defines(self) -> Macros:
        """Return the macros that select the source of distances and their rounding."""
        return {"TSP_METRIC": f"TSP_{self.metric}" if self.matrix is None else "TSP_MATRIX"}

    def array(self) -> NDArray[np.generic]:
        """Return the matrix, or the coordinates, as kernels read them."""
        return np.ascontiguousarray(self._places()) if self.matrix is None else self.matrix

    def between(self, a: Ints, b: Ints) -> Ints:
        """Return the distances between the cities of `a` and `b`, element by element."""
        if self.matrix is not None:
            return self.matrix[a, b].astype(np.int64)
        difference = self._places()[a] - self._places()[b]
        squares = difference[..., 0] ** 2 + difference[..., 1] ** 2
        return _rounded(self.metric, squares).astype(np.int64)

    def along(self, tours: Ints) -> Ints:
        """Return the length of each edge of closed tours, in their order, a row for each tour."""
        return self.between(tours, np.roll(tours, -1, axis=-1))

    def nearest(self, count: int) -> Ints:
        """Return `count` cities near each city: the nearest ones, perhaps itself among them."""
        from scipy.spatial import KDTree

        if self.matrix is None:
            found = KDTree(self._places()).query(self._places(), k=count)[1]
            return np.asarray(found, np.int64).reshape(self.size, count)
        table = np.empty((self.size, count), np.int64)
        for city, row in enumerate(self.matrix):
            table[city] = np.argpartition(row, count - 1)[:count]
        return table

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of `Neighbours` in kernels/tours; a kernel fills `table`.

        They are a tree of the cities, or for a matrix a chain of them.
        """
        if self.matrix is not None:
            leaf = np.zeros(1)
            axis, cities = leaf.astype(np.int32), chain_of(self.matrix)
            tree: dict[str, NDArray[Any]] = {"cities": cities, "axis": axis, "split": leaf}
            tree["twins"] = np.full((2, self.size), -1, np.int32)
        else:
            tree = tree_of(self._places())
            tree["twins"] = twins_of(self._places())
        degree = max(1, min(_DEGREE, self.size - 1))
        return tree | {"table": np.zeros((self.size, degree), np.int32)}

    def _places(self) -> Floats:
        assert self.places is not None, "the reader gives coordinates or a matrix"
        return self.places


def tree_of(points: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return a balanced tree of cities: their order, and the axis and split of each node.

    Node k has the children 2k and 2k + 1. Each level divides the cities into equal parts.
    """
    n = len(points)
    levels = max(0, math.ceil(math.log2(max(1, n / _LEAF))))
    cities = np.arange(n)
    axes, splits = np.zeros(1 << levels, np.int32), np.zeros(1 << levels)
    for level in range(levels):
        parts = 1 << level
        begins, middles, part, every = _divided(n, level)
        placed = points[cities]
        widths = np.maximum.reduceat(placed, begins) - np.minimum.reduceat(placed, begins)
        axis = np.argmax(widths, axis=1)
        keys = placed[every, axis[part]]
        order = np.lexsort((cities, keys, part))
        cities = cities[order]
        nodes = slice(parts, 2 * parts)
        axes[nodes], splits[nodes] = axis, keys[order[middles]]
    return {"cities": cities.astype(np.int32), "axis": axes, "split": splits}


@lru_cache(maxsize=64)
def _divided(n: int, level: int) -> tuple[NDArray[np.int64], ...]:
    """Return the begins and the middles of the parts of a level, and the part of each place."""
    parts = 1 << level
    bounds = np.arange(2 * parts + 1) * n // (2 * parts)
    part = np.repeat(np.arange(parts), np.diff(bounds[::2]))
    return bounds[:-1:2], bounds[1::2], part, np.arange(n)


def twins_of(points: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the cities at the same place before and after each one by number, or -1."""
    n = len(points)
    order = np.lexsort((np.arange(n), *points.T))
    same = (points[order[1:]] == points[order[:-1]]).all(axis=1)
    twins = np.full((2, n), -1, np.int32)
    twins[0, order[1:][same]] = order[:-1][same]
    twins[1, order[:-1][same]] = order[1:][same]
    return twins


def chain_of(matrix: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return an order of the cities in which each is followed by the nearest of the others."""
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
        raise UsageError(
            f"{file.path or file.name}: DIMENSION {n} with EDGE_WEIGHT_TYPE GEO: at most "
            f"{tsplib.LARGEST} cities, since their matrix must fit in memory. "
            "Project the coordinates to a plane and use EUC_2D"
        )
    degrees = np.trunc(file.coordinates)
    radians = _PI * (degrees + 5.0 * (file.coordinates - degrees) / 3.0) / 180.0
    latitude, longitude = radians[:, 0], radians[:, 1]
    matrix = np.empty((n, n), np.int32)
    for city in range(n):
        q1 = np.cos(longitude[city] - longitude)
        q2 = np.cos(latitude[city] - latitude)
        q3 = np.cos(latitude[city] + latitude)
        cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
        matrix[city] = np.trunc(_EARTH_RADIUS * np.arccos(cosine) + 1.0)
    np.fill_diagonal(matrix, 0)
    return matrix
