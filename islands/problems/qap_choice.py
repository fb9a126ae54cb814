"""An assignment problem with two kinds of items is a choice of the places of the first kind.

With x(p) = 1 for each chosen place p, its cost is a constant plus the sum of alone[p] x(p) over all
places and of weights[p, q] x(p) x(q) over all pairs of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.problems.qap_form import Form
from islands.problems.symmetries import symmetries

_COLUMNS = 16  # of a table of symmetries: as many as kernels process at once
_SMALL, _LARGE = 2**29, 2**61
_MOST = 1 << 15  # places: their numbers have 16 bits
_TYPES = ("uint8", "uint16", "int16", "int32", "int64")
"""Types of weights, the narrowest first."""


@dataclass(frozen=True)
class Choice:
    """A choice of some of n places, as kernels see it."""

    chosen: int
    weights: NDArray[Any]
    """Symmetric, with zeros on the diagonal."""
    alone: NDArray[Any]
    """In a type that has room for twice the change of the cost by any exchange."""

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
    blocks = _blocks(form)
    if blocks is None:
        return None
    (inner, across), (back, outer) = blocks.between
    first = blocks.size
    b, linear = form.b, form.linear
    own = form.a.diagonal()
    rise = int(own[0]) - int(own[-1])
    # Bounds in Python's integers, since those of NumPy overflow silently.
    factor, largest = inner + outer - across - back, int(b.max())
    steps = len(b) * (3 * abs(factor) + abs(across - outer) + abs(back - outer)) + abs(rise)
    if len(b) > _MOST or 2 * (steps * largest + (0 if linear is None else int(linear.max()))) >= _LARGE:
        return None
    weights = factor * (b + b.T)
    np.fill_diagonal(weights, 0)
    others = b.copy()
    np.fill_diagonal(others, 0)
    alone = (across - outer) * others.sum(1) + (back - outer) * others.sum(0)
    alone += rise * b.diagonal()
    if linear is not None:
        alone += linear[0] - linear[-1]
    most = int((np.abs(weights).sum(1) + np.abs(alone)).max())
    is_small = 2 * most + int(np.abs(weights).max()) < _SMALL
    fields = alone.astype(np.int32 if is_small else np.int64)
    return Choice(first, _narrowed(weights), fields)


@dataclass(frozen=True)
class _Blocks:
    """The entries of a matrix that are the same for all items of two classes."""

    size: int
    """Number of items of the first class, which come first."""
    between: tuple[tuple[int, int], tuple[int, int]]
    """The entries off the diagonal, from each class to each; 0 for a class of one item."""


def _blocks(form: Form) -> _Blocks | None:
    n = len(form.a)
    if form.after is None or len(np.unique(form.after)) != 2:
        return None
    size = int(form.after[0])
    classes = np.arange(n) >= size
    # Two different items of each class, where there are two.
    firsts, seconds = (0, size), (min(1, size - 1), min(size + 1, n - 1))
    between = [
        [0 if first == second else int(form.a[first, second]) for second in pair]
        for first, pair in zip(firsts, ((seconds[0], size), (0, seconds[1])), strict=True)
    ]
    expected = np.array(between)[np.ix_(classes.astype(int), classes.astype(int))]
    np.fill_diagonal(expected, form.a.diagonal()[[0, -1]][classes.astype(int)])
    linear = form.linear
    same = linear is None or np.array_equal(linear, linear[[0, -1]][classes.astype(int)])
    if not (same and np.array_equal(form.a, expected)):
        return None
    (inner, across), (back, outer) = between
    return _Blocks(size, ((inner, across), (back, outer)))


def _narrowed(weights: NDArray[np.int64]) -> NDArray[Any]:
    low, high = int(weights.min()), int(weights.max())
    for name in _TYPES:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return np.ascontiguousarray(weights, name)
    raise AssertionError("64 bits are enough")
