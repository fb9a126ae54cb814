"""An assignment problem with two kinds of items is a choice of the places of the first kind.

With x(p) = 1 for each chosen place p, its cost is a constant plus `scale` times the sum of
alone[p] x(p) over all places and of weights[p, q] x(p) x(q) over all pairs of places.

Symmetries of the weights are permutations of places that leave them as they are. On a torus, they
are its shifts and reflections. A base, a few places whose weights tell all places apart, determines
a symmetry by the places to which it moves the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.arrays import narrowed
from islands.problems.qap_form import Form

_MOST_POINTS = 1024
_MOST_SYMMETRIES = 4096
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
        if len(rows) > _MOST_SYMMETRIES:
            return None
    return np.array(rows)


_MOST = 1 << 15  # places: their numbers have 16 bits on the device
_SMALL, _LARGE = 2**29, 2**61
_COLUMNS = 16  # that kernels process together, of a table of symmetries
_TYPES = ("uint8", "uint16", "int16", "int32", "int64")
"""Types of weights, the narrowest first."""


@dataclass(frozen=True)
class Choice:
    """A choice of some of n places, as kernels see it."""

    chosen: int
    weights: NDArray[Any]
    """Symmetric, with zeros on the diagonal."""
    alone: NDArray[Any]
    """In a type that has room for twice the change by any exchange."""
    scale: int
    """The greatest common divisor of the numbers by which exchanges change the cost."""

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.alone)

    def symmetries(self) -> NDArray[np.uint16]:
        """Return the places to which symmetries move each place, a row for each place.

        The symmetry that moves nothing comes first, and fills up the last columns.
        """
        found = symmetries(self.weights.astype(np.int64), self.alone.astype(np.int64))
        count = -(-len(found) // _COLUMNS) * _COLUMNS
        table = np.repeat(np.arange(self.size, dtype=np.uint16)[:, np.newaxis], count, axis=1)
        table[:, : len(found)] = found.T
        return table


def choice(form: Form) -> Choice | None:
    """Return the choice that an instance states, or None if it is another problem."""
    n, b = len(form.a), form.b
    if form.after is None or len(np.unique(form.after)) != 2 or n > _MOST:
        return None
    chosen = int(form.after[0])
    (inner, across), (back, outer) = _blocks(form.a, chosen)
    factor, rise = inner + outer - across - back, int(form.a[0, 0]) - int(form.a[-1, -1])
    # Bounds in Python's integers, since those of NumPy overflow silently.
    terms = n * (3 * abs(factor) + abs(across - outer) + abs(back - outer)) + abs(rise)
    most_linear = 0 if form.linear is None else int(form.linear.max())
    if 2 * (terms * int(b.max()) + most_linear) >= _LARGE:
        return None
    weights = factor * (b + b.T)
    np.fill_diagonal(weights, 0)
    others = b.copy()
    np.fill_diagonal(others, 0)
    alone = (across - outer) * others.sum(1) + (back - outer) * others.sum(0)
    alone += rise * b.diagonal()
    if form.linear is not None:
        alone += form.linear[0] - form.linear[-1]
    scale = max(1, int(np.gcd(np.gcd.reduce(weights, axis=None), np.gcd.reduce(alone))))
    weights, alone = weights // scale, alone // scale
    most = 2 * int((np.abs(weights).sum(1) + np.abs(alone)).max()) + int(np.abs(weights).max())
    narrow = narrowed(weights, _TYPES)
    assert narrow is not None, "64 bits are enough"
    return Choice(chosen, narrow, alone.astype(np.int32 if most < _SMALL else np.int64), scale)


def _blocks(a: NDArray[np.int64], chosen: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the numbers off the diagonal from each kind of items to each, which are all equal.

    Between items of a kind that has only one, it is 0.
    """
    n = len(a)
    inner = int(a[0, 1]) if chosen > 1 else 0
    outer = int(a[-2, -1]) if n - chosen > 1 else 0
    return (inner, int(a[0, -1])), (int(a[-1, 0]), outer)
