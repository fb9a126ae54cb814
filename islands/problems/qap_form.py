"""The form of an assignment problem in kernels.

Facilities whose exchange does not change the cost are equal. Kernels number equal facilities
consecutively and never exchange them. If there are more equal locations than equal facilities,
kernels assign locations to facilities instead, which gives the same costs. Instances with hardly
any equal pairs keep their form, as in the literature.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.text import counted

Matrix = NDArray[np.int64]

_KEY = 2
_FEW = 50
"""Equal pairs are ignored if fewer than one in this number of pairs is equal."""


@dataclass(frozen=True)
class Form:
    """An instance in kernels: item i of n has place p(i)."""

    a: Matrix
    b: Matrix
    linear: Matrix | None
    turned: bool
    """Whether items are locations and places are facilities."""
    numbering: NDArray[np.int64] | None
    """The facility (or location) of each item, or None if the numbers are the same."""
    after: NDArray[np.int32] | None
    """For each item, the first one after its group of equal items; None without equal items."""
    places: NDArray[np.int32] | None
    """Numbers of the places, the same for equal ones, or None without equal places."""

    @property
    def pairs(self) -> int:
        """Number of pairs of different items."""
        n = len(self.a)
        after = np.arange(1, n + 1) if self.after is None else self.after.astype(np.int64)
        return int((n - after).sum())

    def to_device(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return solutions, a single one or one per row, in the form used by kernels."""
        turned = np.argsort(solutions, axis=-1) if self.turned else solutions
        return turned if self.numbering is None else turned[..., self.numbering]

    def from_device(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return solutions in the form of the instance."""
        turned = solutions
        if self.numbering is not None:
            turned = np.empty_like(solutions)
            turned[..., self.numbering] = solutions
        return np.argsort(turned, axis=-1) if self.turned else turned

    def words(self) -> str:
        """Return a line about equal items; empty if there are none."""
        if self.after is None:
            return ""
        n, ends = len(self.a), np.unique(self.after)
        items, places = ("locations", "facilities")[:: 1 if self.turned else -1]
        total = counted(n * (n - 1) // 2, "exchange")
        kinds = f"{counted(len(ends), 'kind')} of {items}"
        if chosen := self._chosen(ends.tolist()):
            kinds = f"{chosen} of {n} {places} are chosen"
        return f"{kinds}: equal {items} are never exchanged ({self.pairs} of {total} remain)"

    def _chosen(self, ends: list[int]) -> int:
        """Return how many places are chosen if there are two classes of items; otherwise 0.

        They belong to the only class that contributes to costs, or to the smaller one.
        """
        if len(ends) != 2:
            return 0
        off = np.where(np.eye(len(self.a), dtype=bool), 0, self.a)
        counts: list[bool] = np.logical_or(off.any(axis=0), off.any(axis=1)).tolist()
        return ends[0] if counts[0] == counts[-1] or self.linear is not None else sum(counts)


def form(a: Matrix, b: Matrix, linear: Matrix | None) -> Form:
    """Return the form of an instance."""
    across = None if linear is None else linear.T
    items, places = alike(a, linear), alike(b, across)
    turned = _pairs_of_equals(places) > _pairs_of_equals(items) and _are_many(places)
    if turned:
        a, b, linear, items, places = b, a, across, places, items
    known = places if _pairs_of_equals(places) else None
    if not _are_many(items):
        return Form(a, b, linear, turned, None, None, known)
    counts = np.bincount(items, minlength=len(items))[items]
    # The largest class comes last, so that there are few rows of pairs.
    numbering = np.lexsort((items, counts))
    numbers = items[numbering]
    after = np.array([np.flatnonzero(numbers == number)[-1] + 1 for number in numbers], np.int32)
    both = np.ix_(numbering, numbering)
    costs = None if linear is None else linear[numbering]
    return Form(a[both], b, costs, turned, numbering, after, known)


def alike(matrix: Matrix, linear: Matrix | None = None) -> NDArray[np.int32]:
    """Return for each index the lowest one whose exchange with it leaves the matrix unchanged.

    Their rows of `linear` also have to be equal.
    """
    n = len(matrix)
    lowest = np.arange(n, dtype=np.int32)
    numbers = matrix.astype(np.int64, copy=False)
    # These sums tell most unequal indices apart, even if they overflow.
    sums = [matrix.diagonal(), matrix.sum(0), matrix.sum(1), (numbers * numbers).sum(1)]
    sums += [] if linear is None else [linear.sum(1)]
    keys = list(zip(*(sum_of_index.tolist() for sum_of_index in sums), strict=True))
    if len(set(keys)) == n:
        return lowest
    # Equal indices have equal rows except for two entries, so random sums of the others agree.
    weights = np.random.Philox(key=_KEY).random_raw(n)
    numbers = numbers.view(np.uint64)
    hashes = numbers @ weights
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, key in enumerate(keys):
        known = groups.setdefault(key, [])
        j = np.array(known, np.int64)
        this = [i]  # arrays, as scalars would warn about overflow
        own_hash = hashes[this] - weights[this] * numbers[this, this] - weights[j] * numbers[i, j]
        others = hashes[j] - weights[this] * numbers[j, i] - weights[j] * numbers[j, j]
        near = j[own_hash == others].tolist()
        equal = next((index for index in near if _is_exchangeable(matrix, linear, i, index)), None)
        if equal is None:
            known.append(i)
        else:
            lowest[i] = equal
    return lowest


def _is_exchangeable(matrix: Matrix, linear: Matrix | None, i: int, j: int) -> bool:
    """Return whether exchanging two indices leaves the matrices unchanged."""
    if linear is not None and not np.array_equal(linear[i], linear[j]):
        return False
    order = np.arange(len(matrix))
    order[[i, j]] = j, i
    pairs = ((matrix[i], matrix[j]), (matrix[:, i], matrix[:, j]))
    return all(np.array_equal(one[order], other) for one, other in pairs)


def _are_many(numbers: NDArray[np.int32]) -> bool:
    n = len(numbers)
    return _FEW * _pairs_of_equals(numbers) >= n * (n - 1) // 2 > 0


def _pairs_of_equals(numbers: NDArray[np.int32]) -> int:
    counts = np.bincount(numbers).astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())
