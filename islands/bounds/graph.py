"""A sparse graph of neighbouring cities and its minimum 1-trees.

A 1-tree is a spanning tree plus one more edge at one of its leaves. The weight of an edge is its
length plus the multipliers of its two cities. A tour is a 1-tree with two edges at each city, so
the multipliers add the same amount to every tour. Hence the weight of the minimum 1-tree of the
complete graph, minus twice the sum of the multipliers, is a lower bound on all tours. This holds
for any multipliers and any symmetric lengths, with or without the triangle inequality.

All weights are integers: lengths are multiplied by `scale`, a power of two, and multipliers are
integers in the same unit, so the bound has no rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from islands.problems.base import Problem

_NEAREST = 10
_FINE = 1 << 40
"""Maximum scaled length; multipliers may be 64 times as large. Weights are then exact in the 53
bits of SciPy's spanning trees."""
_LARGEST_MULTIPLIER = 1 << 46
_LARGEST_SUM = 1 << 59

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """A spanning tree: the indices of its edges in the graph, and the sum of their weights."""

    edges: Ints
    total: int


@dataclass(frozen=True)
class OneTree:
    """The heaviest of the minimum 1-trees, one per leaf of the minimum spanning tree."""

    value: int
    """Its weight minus twice the sum of the multipliers."""
    degrees: Ints
    leaf: int
    tree: Tree


class Graph:
    """Edges between neighbouring cities and those of a tour, which connect all cities."""

    def __init__(self, problem: Problem, tour: Ints) -> None:
        """Build the graph from the nearest cities of each city and a tour of at least 3 cities."""
        assert problem.near is not None, "a tour has distances"
        self.near, self.size = problem.near, problem.size
        count = min(_NEAREST + 1, self.size)
        near = self.near.nearest(count)
        cities = np.repeat(np.arange(self.size), count)
        starts, ends = np.r_[cities, tour], np.r_[near.ravel(), np.roll(tour, -1)]
        self._keys = np.zeros(0, np.int64)
        self.add(starts, ends)
        longest, length = int(self.lengths.max()), int(self.near.along(tour).sum())
        most = min(_FINE // max(1, longest), _LARGEST_SUM // max(1, length))
        self.scale = 1 << (max(1, min(most, 1 << 20)).bit_length() - 1)
        self.most = min(_LARGEST_MULTIPLIER, _LARGEST_SUM // self.size)
        """The largest multiplier for which no sum exceeds 64 bits."""

    def add(self, starts: Ints, ends: Ints) -> None:
        """Add edges, if they are new."""
        low, high = np.minimum(starts, ends), np.maximum(starts, ends)
        keys = (low * self.size + high)[low != high]
        self._keys = np.unique(np.r_[self._keys, keys])
        self.starts, self.ends = np.divmod(self._keys, self.size)
        self.lengths = self.near.between(self.starts, self.ends)
        both = np.r_[self.starts, self.ends]
        self._at = np.argsort(both, kind="stable") % len(self._keys)
        self._first_at = np.searchsorted(np.sort(both), np.arange(self.size))
        pointers = np.searchsorted(self.starts, np.arange(self.size + 1))
        self._pointers, self._columns = pointers.astype(np.int32), self.ends.astype(np.int32)

    def local_lengths(self) -> NDArray[np.float64]:
        """Return the mean length of the edges of each city."""
        count = np.diff(np.r_[self._first_at, len(self._at)])
        return np.asarray(np.add.reduceat(self.lengths[self._at], self._first_at) / count)

    def weights(self, multipliers: Ints) -> Ints:
        """Return the weight of each edge."""
        sums = multipliers[self.starts] + multipliers[self.ends]
        return np.asarray(self.scale * self.lengths + sums)

    def spanning_tree(self, weights: Ints) -> Tree:
        """Return a minimum spanning tree."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import minimum_spanning_tree

        # SciPy ignores edges of weight 0. Integers below 2^53 are exact as doubles.
        positive = (weights - (weights.min() - 1)).astype(np.float64)
        # SciPy removes the other edges from its arguments.
        arrays = (positive, self._columns.copy(), self._pointers.copy())
        matrix = csr_matrix(arrays, (self.size, self.size))
        tree = minimum_spanning_tree(matrix, overwrite=True)
        rows = np.repeat(np.arange(self.size), np.diff(tree.indptr))
        edges = np.searchsorted(self._keys, rows * self.size + tree.indices)
        return Tree(edges, int(weights[edges].sum()))

    def one_tree(self, multipliers: Ints) -> OneTree:
        """Return the heaviest of the minimum 1-trees.

        The tree edge of a leaf is the shortest one there, so the other edge is its second shortest.
        """
        weights = self.weights(multipliers)
        tree = self.spanning_tree(weights)
        ends = np.r_[self.starts[tree.edges], self.ends[tree.edges]]
        degrees = np.bincount(ends, minlength=self.size)
        others = weights.copy()
        others[tree.edges] = np.iinfo(np.int64).max
        shortest = np.minimum.reduceat(others[self._at], self._first_at)
        leaves = np.flatnonzero(degrees == 1)
        leaf = int(leaves[np.argmax(shortest[leaves])])
        last = self._first_at[leaf + 1] if leaf + 1 < self.size else None
        at = self._at[self._first_at[leaf] : last]
        edge = at[np.argmin(others[at])]
        degrees[[self.starts[edge], self.ends[edge]]] += 1
        value = tree.total + int(shortest[leaf]) - 2 * int(multipliers.sum())
        return OneTree(value, degrees, leaf, tree)

    def complete_value(self, multipliers: Ints) -> int:
        """Return the value for the complete graph; valid if the spanning tree is minimal there."""
        best = self.one_tree(multipliers)
        others = np.delete(np.arange(self.size), best.leaf)
        lengths = self.near.between(np.full(len(others), best.leaf), others)
        weights = self.scale * lengths + multipliers[others] + multipliers[best.leaf]
        second = int(np.partition(weights, 1)[1])
        return best.tree.total + second - 2 * int(multipliers.sum())
