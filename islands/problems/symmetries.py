"""Symmetries of a matrix: permutations of its rows and columns that leave it as it is.

On a torus, they are its shifts and reflections. A base, a few points whose entries tell all points
apart, determines a symmetry by the points to which it moves the base.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_POINTS = 1024
_MOST = 4096
"""Larger groups are not used completely: a subgroup remains."""
_MOST_CANDIDATES = 1 << 14
_MOST_FAILURES = 256
_LONGEST_BASE = 6
_TRIED = 64  # points that may extend a base

Kinds = NDArray[np.int64]
Points = NDArray[np.int64]


def symmetries(matrix: NDArray[np.int64], alone: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a group of symmetries that also keep the vector `alone`, a row each.

    The first one moves nothing. There may be more symmetries than those found.
    """
    n = len(matrix)
    group = np.arange(n)[np.newaxis]
    if n > _MOST_POINTS:
        return group
    kinds = np.unique(matrix, return_inverse=True)[1].reshape(n, n)
    own = np.unique(alone, return_inverse=True)[1].reshape(n)
    base = _base(kinds, own)
    if base is None:
        return group
    known, failures = {tuple(base)}, 0
    generators: list[Points] = []
    for images in _images(kinds, own, base).tolist():
        if tuple(images) in known:
            continue
        moved = _extended(kinds, own, base, images)
        if moved is None:
            failures += 1
            if failures > _MOST_FAILURES:
                break
            continue
        larger = _closed(group, [*generators, moved])
        if larger is None:
            break
        group, generators = larger, [*generators, moved]
        known = {tuple(row) for row in group[:, base].tolist()}
    return group


def _base(kinds: Kinds, own: Kinds) -> list[int] | None:
    """Return points whose entries tell all points apart; None if many would be needed."""
    n, labels = len(kinds), own
    base: list[int] = []
    step = max(1, n // _TRIED)
    while len(np.unique(labels)) < n:
        if len(base) == _LONGEST_BASE:
            return None
        width = int(kinds.max()) + 1
        finer = {b: labels * width + kinds[b] for b in range(0, n, step)}
        best = max(finer, key=lambda b: len(np.unique(finer[b])))
        labels = np.unique(finer[best], return_inverse=True)[1].reshape(n)
        base.append(best)
    return base or [0]


def _images(kinds: Kinds, own: Kinds, base: list[int]) -> Points:
    """Return the tuples of points that have the same entries among them as the base, a row each."""
    found: Points = np.zeros((1, 0), np.int64)
    for number, point in enumerate(base):
        fits = np.broadcast_to(own == own[point], (len(found), len(own))).copy()
        fits &= kinds.diagonal() == kinds[point, point]
        for k, earlier in enumerate(base[:number]):
            fits &= kinds[found[:, k]] == kinds[earlier, point]
            fits &= kinds.T[found[:, k]] == kinds[point, earlier]
        rows, points = np.nonzero(fits)
        found = np.column_stack([found[rows], points])[:_MOST_CANDIDATES]
    return found


def _extended(kinds: Kinds, own: Kinds, base: list[int], images: list[int]) -> Points | None:
    """Return the symmetry that moves the base to `images`, or None if there is none."""
    mine = np.column_stack([own, kinds[:, base]])
    theirs = np.column_stack([own, kinds[:, images]])
    order, other = np.lexsort(mine.T), np.lexsort(theirs.T)
    if not np.array_equal(mine[order], theirs[other]):
        return None
    moved = np.empty(len(own), np.int64)
    moved[order] = other
    return moved if np.array_equal(kinds[np.ix_(moved, moved)], kinds) else None


def _closed(group: Points, generators: list[Points]) -> Points | None:
    """Return the group of all products, or None if it is too large."""
    seen = {row.tobytes() for row in group}
    rows, fresh = list(group), list(group)
    while fresh:
        products = [row[generator] for row in fresh for generator in generators]
        fresh = []
        for product in products:
            key = product.tobytes()
            if key not in seen:
                seen.add(key)
                fresh.append(product)
        rows += fresh
        if len(rows) > _MOST:
            return None
    return np.array(rows)
