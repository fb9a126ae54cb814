"""Directed lengths transformed so that the nearest cities are likely successors in short tours.

Adding an amount to all legs from a city, or to all legs to it, changes all tours by the same
length. If the amounts are the dual prices of an optimal assignment, no leg is shorter than those of
the assignment, whose length is close to that of a short tour.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 2_000
"""Maximum number of cities, for which an assignment takes less than a second."""
_LONGEST = 2**31 - 1
_FORBIDDEN = np.int64(1) << 46
_MOST_STEPS = 400_000_000
"""Maximum number of legs visited to compute the prices, which takes some seconds; long chains of
cities would need more."""


def levelled(matrix: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the transformed lengths; negative entries, which are forbidden, are unchanged.

    They depend only on the matrix, as all optimal assignments have the same dual prices: the
    highest ones that are at most 0 are used. If computing them takes too long, the lengths are
    returned unchanged.
    """
    from scipy.optimize import linear_sum_assignment

    n = len(matrix)
    if not 2 < n <= _MOST:
        return matrix
    lengths = np.where(matrix < 0, _FORBIDDEN, matrix)
    np.fill_diagonal(lengths, _FORBIDDEN)
    rows, columns = linear_sum_assignment(lengths.astype(np.float64))
    assigned = lengths[rows, columns]
    if assigned.max() == _FORBIDDEN:
        return matrix
    longer = lengths - assigned[:, np.newaxis]
    first = np.argsort(columns)  # the predecessor of each city in the assignment
    changed: NDArray[Any] = np.arange(n)
    entering, left = np.zeros(n, np.int64), _MOST_STEPS
    while changed.size:
        left -= changed.size * n
        if left < 0:
            return matrix
        lower = (entering[changed][:, np.newaxis] + longer[first[changed]]).min(axis=0)
        changed = np.flatnonzero(lower < entering)
        entering[changed] = lower[changed]
    leaving = assigned - entering[columns]
    # Each tour leaves every city once, so the difference can be distributed over the rows.
    share, rest = divmod(int(assigned.sum()), n)
    transformed = (
        lengths - leaving[:, np.newaxis] - entering + share + (np.arange(n) < rest)[:, np.newaxis]
    )
    transformed = np.where(matrix < 0, matrix, transformed)
    np.fill_diagonal(transformed, 0)
    return matrix if transformed.max() > _LONGEST else transformed.astype(np.int32)
