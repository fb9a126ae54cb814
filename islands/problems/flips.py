"""Quadratic costs of subsets: coefficients of items and of pairs of items.

Items are divided into classes without such pairs; the items of a class can be flipped together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from islands.problems.arrays import narrowed

Form = Literal["cut", "matrix"]
"""The form of the data of a model: the weights of edges, or a matrix."""
FORMS = get_args(Form)

MOST_CLASSES = 64
"""Maximum number of classes: a 64-bit word has a bit for each."""
_FEWEST = 500
"""Minimum number of items; smaller instances gain more from sharing launches."""
_FEWEST_A_CLASS = 16
_MOST_NEIGHBOURS = 400
"""With a larger mean number of neighbours, classes would be too small or too many."""
_LARGEST = 2**29
"""Limit of the sum of all absolute coefficients, so that kernels add them in 32 bits."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Flips:
    """A cost to be minimised: the sum of the coefficients of chosen items and of their pairs."""

    single: NDArray[np.int32]
    """The coefficient of each item."""
    first: NDArray[np.int32]
    """Where the list of pairs of each item begins; each pair is listed for both of its items."""
    other: NDArray[np.int32]
    both: NDArray[Any]
    """The coefficients of the pairs, in the narrowest type."""

    @classmethod
    def of(cls, form: Form, members: Mapping[str, Any], *, maximise: bool) -> Self | None:
        """Return the cost of a model, or None if it is real or too large, or has few items."""
        first, other = members["first"], members["other"]
        both, n = members["weight" if form == "cut" else "both"], len(first) - 1
        pairs = int(first[-1])
        if n < _FEWEST or both.dtype.kind == "f" or pairs > _MOST_NEIGHBOURS * n:
            return None
        both = both[:pairs]
        if form == "cut":
            # An edge is cut if exactly one of its nodes is chosen: x + y - 2 x y.
            one = np.repeat(np.arange(n), np.diff(first))
            single = np.zeros(n, np.int64)
            np.add.at(single, one, both)
            both = -2 * both
        else:
            single = members["diagonal"]
        sums = [np.abs(numbers.astype(np.float64)).sum() for numbers in (single, both)]
        if sum(sums) >= _LARGEST:
            return None
        sign = -1 if maximise else 1
        narrow = narrowed(sign * both.astype(np.int64), ("int8", "int16", "int32"))
        assert narrow is not None, "the sum fits into 32 bits"
        return cls(
            (sign * single).astype(np.int32),
            first.astype(np.int32),
            other[:pairs].astype(np.int32),
            narrow,
        )

    @property
    def is_symmetric(self) -> bool:
        """Whether a solution and its complement have the same cost, as in a cut."""
        return not np.any(2 * self.single.astype(np.int64) + self._sums)

    @property
    def _sums(self) -> NDArray[np.int64]:
        sums = np.concatenate([[0], np.cumsum(self.both, dtype=np.int64)])
        sums_of_items: NDArray[np.int64] = sums[self.first[1:]] - sums[self.first[:-1]]
        return sums_of_items

    @cached_property
    def classes(self) -> NDArray[np.int64] | None:
        """The class of each item, or None if there are too many classes.

        This is a greedy colouring, items with many neighbours first, and those with equally many in
        a scattered order: an item gets the lowest class that none of its neighbours has. Items that
        wait for no neighbour are processed together.
        """
        n, degree = len(self.single), np.diff(self.first)
        mixed = np.arange(n, dtype=np.uint64) * _SPREAD
        rank = np.empty(n, np.int64)
        rank[np.lexsort((mixed, -degree))] = np.arange(n)
        one = np.repeat(np.arange(n), degree)
        waits_for = np.bincount(one[rank[self.other] < rank[one]], minlength=n)
        taken = np.zeros(n, np.uint64)
        classes = np.zeros(n, np.int64)
        ready = np.flatnonzero(waits_for == 0)
        while len(ready):
            free = ~taken[ready]
            if not free.all():
                return None
            bit = free & (~free + np.uint64(1))  # the lowest one
            classes[ready] = np.log2(bit.astype(np.float64))
            which, at = _entries(self.first[ready], degree[ready])
            other = self.other[at]
            is_later = rank[other] > rank[ready[which]]
            which, other = which[is_later], other[is_later]
            np.bitwise_or.at(taken, other, bit[which])
            np.subtract.at(waits_for, other, 1)
            ready = np.unique(other[waits_for[other] == 0])
        return classes

    @property
    def suits(self) -> bool:
        """Whether the classes are large enough to flip their items at the same time."""
        classes = self.classes
        return classes is not None and len(classes) >= _FEWEST_A_CLASS * (classes.max() + 1)

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of kernels, in which items are sorted by class."""
        assert self.classes is not None, "the flips suit"
        n, degree = len(self.single), np.diff(self.first)
        items = np.argsort(self.classes, kind="stable")
        place = np.empty(n, np.int32)
        place[items] = np.arange(n)
        ends = np.cumsum(np.bincount(self.classes, minlength=MOST_CLASSES))
        _, at = _entries(self.first[items], degree[items])
        return {
            "flip_place": place,
            "flip_ends": ends.astype(np.int32),
            "flip_first": np.concatenate([[0], np.cumsum(degree[items])]).astype(np.int32),
            "flip_other": np.append(place[self.other[at]], np.int32(0)),
            "flip_both": np.append(self.both[at], self.both.dtype.type(0)),
            "flip_single": self.single[items],
        }


def _entries(first: NDArray[Any], counts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the row and the index of each entry, given the starts and lengths of the rows."""
    which = np.repeat(np.arange(len(first)), counts)
    begin = np.cumsum(counts) - counts
    return which, np.arange(len(which)) + np.repeat(first - begin, counts)
