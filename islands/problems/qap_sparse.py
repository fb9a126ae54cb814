"""Assignment problems with a sparse matrix, stored as lists of neighbours.

The sparse matrix has the flows of items to their neighbours, the other one the distances between
places. Costs are sums of flows times distances over unordered pairs.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.source import Macros

Matrix = NDArray[np.int64]

MOST_DEGREE = 12
"""Maximum mean number of neighbours of an item in a sparse matrix."""
_MOST_DENSITY = 0.3
"""Maximum density of a sparse matrix for which the cost change of an exchange is computed faster
from neighbours than from rows."""
FEWEST_ITEMS, MOST_ITEMS = 8, 1024
"""The sizes that resampled growth supports: the costs of all places must fit into shared memory."""
_NARROW = 2**28
"""Item costs below this limit are stored in 32 bits in kernels."""
_EXACT, _MOST = 2**53, 2**63 - 1  # limits of exact doubles, and of integers
_VECTOR = 16  # rows are padded to a multiple of this number
_LARGEST_PRODUCT = 2**54
"""Limit of flow times distance for resampled growth, which multiplies it by up to 320."""
_KEY, _TRIPLES, _FEW = 3, 4096, 100
_DISTANCES_AT_ONCE, _MOST_RANKED = 2**22, 2**20


@dataclass(frozen=True)
class Sparse:
    """The neighbours of the items of a sparse matrix, and the distances between their places."""

    first: NDArray[np.int32]
    """The neighbours of item u are at first[u] to first[u + 1] - 1, by decreasing flow."""
    neighbour: NDArray[np.int32]
    flow: Matrix
    distances: Matrix
    turned: bool
    """Whether the roles are exchanged: items here are places in the problem's kernels."""

    @classmethod
    def of(cls, a: NDArray[Any], b: NDArray[Any]) -> Self | None:
        """Return the sparse form of the instance, or None if neither matrix is sparse.

        Both matrices are symmetric; one of them must have a zero diagonal.
        """
        counts = [int(np.count_nonzero(matrix)) for matrix in (a, b)]
        turned = counts[1] < counts[0]
        flows, distances = (b, a) if turned else (a, b)
        n = len(flows)
        is_sparse = min(counts) <= min(MOST_DEGREE * n, _MOST_DENSITY * n * (n - 1))
        if not is_sparse or (a.diagonal().any() and b.diagonal().any()):
            return None
        item, neighbour = np.nonzero(np.where(np.eye(n, dtype=bool), 0, flows))
        flow = flows[item, neighbour].astype(np.int64)
        order = np.lexsort((neighbour, -flow, item))
        first = np.searchsorted(item, np.arange(n + 1)).astype(np.int32)
        wide = distances.astype(np.int64)
        return cls(first, neighbour[order].astype(np.int32), flow[order], wide, turned)

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.first) - 1

    @property
    def pitch(self) -> int:
        """Row length of distances in kernels."""
        return -(-self.size // _VECTOR) * _VECTOR

    @property
    def can_grow(self) -> bool:
        """Whether resampled growth supports the size and the largest product of the instance."""
        largest = int(self.flow.max(initial=0)) * int(self.distances.max())
        return FEWEST_ITEMS <= self.size <= MOST_ITEMS and largest <= _LARGEST_PRODUCT

    @cached_property
    def is_metric(self) -> bool:
        """Whether very few distances are longer than a detour via a third place.

        Exchanges lead to good assignments in this case. Otherwise, they do not find a pattern that
        is hidden in the distances.
        """
        words = np.random.Philox(key=_KEY).random_raw(3 * _TRIPLES).reshape(3, -1)
        x, y, z = (words % np.uint64(self.size)).astype(np.int64)
        d = self.distances
        return int((d[x, z] > d[x, y] + d[y, z]).sum()) * _FEW < _TRIPLES

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each item."""
        return np.diff(self.first).astype(np.int64)

    @cached_property
    def flows(self) -> Matrix:
        """The sum of the flows of each item."""
        sums = np.concatenate([[0], np.cumsum(self.flow)])
        return np.asarray(sums[self.first[1:]] - sums[self.first[:-1]], np.int64)

    @property
    def number(self) -> type[np.int32] | type[np.int64]:
        """The type that represents all item costs in kernels."""
        most = int(self.flows.max(initial=0)) * int(self.distances.max(initial=0))
        return np.int32 if most < _NARROW else np.int64

    def macros(self) -> Macros:
        """Return the macros of kernels/problems/qap_network.cuh."""
        return {"NETWORK_NUMBER": "int" if self.number is np.int32 else "int64_t"}

    @property
    def launch_key(self) -> Hashable:
        """A key of the shapes and types of the arrays."""
        return self.size, self._room, self.turned, self.number

    @property
    def _room(self) -> int:
        """The length of the neighbour lists in kernels: a multiple of the size."""
        return (len(self.flow) // self.size + 1) * self.size

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the network in kernels."""
        distances = np.zeros((self.size, self.pitch), self.number)
        distances[:, : self.size] = self.distances
        padding = 0, self._room - len(self.flow)
        return {
            "first": self.first,
            "neighbour": np.pad(self.neighbour, padding),
            "flow": np.pad(self.flow, padding).astype(self.number),
            "distances": distances,
        }

    def network(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the network in kernels, from the arrays on the device."""
        names = ("first", "neighbour", "flow", "distances")
        return Struct(
            **{name: arrays[name] for name in names},
            pitch=np.int32(self.pitch),
            turned=np.int32(self.turned),
        )

    @cached_property
    def nearest(self) -> Matrix:
        """The distances from each place to the others, nearest first."""
        return self._nearest(range(self.size), self.size - 1)

    def near(self, count: int) -> NDArray[np.int32]:
        """Return the nearest places of each place, nearest first."""
        n = self.size
        # Numbers are relative to the place, so that ties are broken differently for each place.
        turned = (np.arange(n)[:, np.newaxis] + np.arange(1, n)) % n
        order = np.argsort(np.take_along_axis(self.distances, turned, 1), axis=1, kind="stable")
        return np.take_along_axis(turned, order[:, :count], 1).astype(np.int32)

    @cached_property
    def lower_bound(self) -> int:
        """A lower bound on the cost: each item sends its largest flows to the nearest places."""
        n = self.size
        # If an item has very many neighbours, the last ones share a distance, to save time.
        most = min(int(self.degrees.max(initial=0)), max(1, _MOST_RANKED // n))
        if most == 0:
            return 0
        item = np.repeat(np.arange(n), self.degrees)
        rank = np.minimum(np.arange(len(item)) - self.first[item], most - 1)
        ranked = np.zeros((n, most), np.int64)
        np.add.at(ranked, (item, rank), self.flow)
        largest = int(self.flows.max()) * int(self.distances.max())
        ranked = ranked.astype(np.float64 if largest < _EXACT else np.int64)
        least = np.full(n, _MOST)
        rows = max(1, _DISTANCES_AT_ONCE // n)
        for start in range(0, n, rows):
            near = self._nearest(range(start, min(n, start + rows)), most).astype(ranked.dtype)
            least = np.minimum(least, (ranked @ near.T).astype(np.int64).min(axis=1))
        return (int(least.sum()) + 1) // 2

    def _nearest(self, places: range, count: int) -> Matrix:
        """Return the smallest distances from some places to others, nearest first."""
        distances = self.distances[places.start : places.stop].copy()
        distances[np.arange(len(places)), list(places)] = _MOST
        return np.sort(np.partition(distances, count - 1, axis=1)[:, :count], axis=1)
