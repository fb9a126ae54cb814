"""The neighbours of each city: the data from which a kernel fills a table on the device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEGREE = 10
"""Number of neighbours of a city; with ten, and two in each quadrant, 2-opt is nearly as good as
with more."""
_LEAF = 8  # cities that a search compares one by one


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
        bounds = np.arange(2 * parts + 1) * n // (2 * parts)
        begins = bounds[:-1:2]
        placed = points[cities]
        widths = np.maximum.reduceat(placed, begins) - np.minimum.reduceat(placed, begins)
        axis = np.argmax(widths, axis=1)
        part = np.repeat(np.arange(parts), np.diff(bounds[::2]))
        keys = placed[np.arange(n), axis[part]]
        order = np.lexsort((cities, keys, part))
        cities = cities[order]
        nodes = slice(parts, 2 * parts)
        axes[nodes], splits[nodes] = axis, keys[order][bounds[1::2]]
    return {"cities": cities.astype(np.int32), "axis": axes, "split": splits}


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
