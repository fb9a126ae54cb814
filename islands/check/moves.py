"""Random moves of orders, and the orders after them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Orders = NDArray[np.int64]


def random_ends(count: int, moves: int, size: int, seed: int) -> NDArray[np.int32]:
    """Return the first and the last place of moves: count x moves x 2; no moves for one item.

    The first moves of an order are the longest one and one of neighbours.
    """
    if size < 2 or moves < 1:
        return np.zeros((count, 0, 2), np.int32)
    random = np.random.default_rng(seed)
    first = random.integers(size - 1, size=(count, moves))
    last = first + 1 + (random.random((count, moves)) * (size - 1 - first)).astype(np.int64)
    ends = np.stack([first, last], axis=-1)
    ends[:, 0] = 0, size - 1
    if moves > 1:
        ends[:, 1, 1] = ends[:, 1, 0] + 1
    return ends.astype(np.int32)


def moved(orders: Orders, ends: NDArray[np.int32], move: str) -> Orders:
    """Return orders after one move of each."""
    places = np.arange(orders.shape[1])
    u, v = ends[:, :1], ends[:, 1:]
    if move == "swap":
        source = np.where(places == u, v, np.where(places == v, u, places))
    elif move == "reversal":
        source = np.where((places >= u) & (places <= v), u + v - places, places)
    else:
        source = np.where((places >= u) & (places < v), places + 1, places)
        source = np.where(places == v, u, source)
    return np.take_along_axis(orders, source, axis=1)
