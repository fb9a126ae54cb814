"""Lengths of directed legs in which the nearest cities are those that short tours visit next.

All legs from a city, or all to it, may become shorter by one amount, and all legs longer in return:
all tours keep their lengths. With the prices of a shortest assignment as amounts, no leg is shorter
than those of the assignment, which is hardly longer than a short tour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 2_000
"""Cities of which an assignment takes less than a second."""
_LONGEST = 2**31 - 1
_FORBIDDEN = np.int64(1) << 46
_MOST_STEPS = 400_000_000
"""Legs that are looked at for prices: some seconds, which chains of many cities would exceed."""


def levelled(matrix: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return such lengths; entries below 0, which are forbidden, stay.

    They only depend on the matrix: all shortest assignments have the same prices, of which these
    are the highest ones without any above 0. If these take too long, lengths stay as they are.
    """
    from scipy.optimize import linear_sum_assignment

    n = len(matrix)
    if not 2 < n <= _MOST:
        return matrix
    lengths = np.where(matrix < 0, _FORBIDDEN, matrix)
    np.fill_diagonal(lengths, _FORBIDDEN)
    rows, columns = linear_sum_assignment(lengths.astype(np.float64))
    own = lengths[rows, columns]
    if own.max() == _FORBIDDEN:
        return matrix
    longer = lengths - own[:, np.newaxis]
    first = np.argsort(columns)  # the city from which the assignment leads to each one
    changed: NDArray[Any] = np.arange(n)
    entering, left = np.zeros(n, np.int64), _MOST_STEPS
    while changed.size:
        left -= changed.size * n
        if left < 0:
            return matrix
        lower = (entering[changed][:, np.newaxis] + longer[first[changed]]).min(axis=0)
        changed = np.flatnonzero(lower < entering)
        entering[changed] = lower[changed]
    leaving = own - entering[columns]
    # Each tour leaves every city once, so that what is missing can be spread over the rows.
    share, rest = divmod(int(own.sum()), n)
    found = (
        lengths - leaving[:, np.newaxis] - entering + share + (np.arange(n) < rest)[:, np.newaxis]
    )
    found = np.where(matrix < 0, matrix, found)
    np.fill_diagonal(found, 0)
    return matrix if found.max() > _LONGEST else found.astype(np.int32)
