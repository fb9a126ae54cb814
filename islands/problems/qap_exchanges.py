"""Exchanges of two items of an assignment problem: tables for kernels, and their structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Block
from islands.backends.source import Header, Macros
from islands.instances.qaplib import QapFile
from islands.problems.qap_choice import Choice, choice
from islands.problems.qap_form import Form, alike
from islands.problems.qap_sparse import Sparse

Matrix = NDArray[np.int64]

_KEY = 1
_UNIFORM, _DOMINANT = 0.07, 4.0  # relative variances
_EXACT = 2**63
_GROWTH_FROM = 40
"""The size from which resampled growth is the default; below it, tempering is as fast."""
_FEWEST_ORDERS, _MOST_ORDERS, _ENTRIES = 2048, 1 << 14, 1 << 20


class Swaps:
    """Exchanges of two items of an assignment problem, whose differences kernels can update."""

    def __init__(
        self, file: QapFile, form: Form, on_device: Sequence[NDArray[Any]], *, symmetric: bool
    ) -> None:
        """Create the exchanges of an instance from its form in kernels and its device matrices."""
        self._file, self._form, self._on_device = file, form, on_device
        self._symmetric = symmetric

    @cached_property
    def tiles(self) -> Tiles | None:
        """The tiles in which GPUs keep the differences; only for symmetric matrices of bytes."""
        are_bytes = all(matrix.dtype == np.uint8 for matrix in self._on_device)
        fits = self._symmetric and len(self._on_device) == 2 and self._form.after is None
        return tiles_of(self._file.size) if are_bytes and fits else None

    @cached_property
    def choice(self) -> Choice | None:
        """The equivalent choice of places, if there are two kinds of items."""
        return choice(self._form)

    @cached_property
    def sparse(self) -> Sparse | None:
        """The neighbours of items, if one of two symmetric matrices is sparse."""
        has_linear = len(self._on_device) > 2
        return Sparse.of(*self._on_device) if self._symmetric and not has_linear else None

    @cached_property
    def is_network(self) -> bool:
        """Whether a matrix is sparse and at least half of the items have flows in it."""
        if self.sparse is None or self.choice is not None:
            return False
        return 2 * int(np.count_nonzero(self.sparse.degrees)) >= self.sparse.size

    @property
    def suits_growth(self) -> bool:
        """Whether resampled growth is the default."""
        is_large = self._file.size >= _GROWTH_FROM
        return is_large and self.is_network and self.sparse is not None and self.sparse.can_grow

    @cached_property
    def is_unstructured(self) -> bool:
        """Whether costs vary like random numbers, so that tempering has a freezing temperature.

        The off-diagonal values of both matrices then vary as much as uniform random numbers from 0,
        whose variance is about a third of the squared mean.
        """
        variances = map(relative_variance, (self._file.a, self._file.b))
        return all(abs(variance - 1 / 3) < _UNIFORM for variance in variances)

    @cached_property
    def is_dominated(self) -> bool:
        """Whether a few large numbers determine the cost, and few facilities are equal.

        The flow dominance or the distance dominance, a coefficient of variation, is then high.
        """
        a, b = self._file.a, self._file.b
        if max(map(relative_variance, (a, b))) <= _DOMINANT:
            return False
        return 2 * len(set(alike(a).tolist())) > len(a)

    @cached_property
    def unit(self) -> float:
        """The mean cost change of an exchange."""
        return mean_change(self._file.a, self._file.b, self._file.linear)

    def defines(self) -> Macros:
        """Return the macros of tiles."""
        if self.tiles is None:
            return {}
        has_diagonal = any(matrix.diagonal().any() for matrix in self._on_device)
        return {
            "PROBLEM_TILES": Header("problems/qap_tiles.cuh"),
            "PROBLEM_TILE": str(self.tiles.side),
            "PROBLEM_TILE_DIAGONAL": str(int(has_diagonal)),
        }

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the tables of kernels/tempering/plan.cuh and of the chains that exchange items.

        `alike_places` gives equal numbers to places whose exchange does not change the cost;
        optional.
        """
        places = self._form.places
        unit = np.array([self.unit])
        return {"unit": unit} | ({} if places is None else {"alike_places": places})


def mean_change(a: Matrix, b: Matrix, linear: Matrix | None = None) -> float:
    """Return the mean absolute cost change of an exchange, over random assignments.

    All steps but the final division are exact, so results are bit-identical on all machines.
    """
    if len(a) < 2:
        return 1.0
    raised = Exchanges.random(len(a)).changes(a, b, linear)
    return max(int(np.abs(raised).sum()) / len(raised), 1.0)


@dataclass(frozen=True)
class Exchanges:
    """Exchanges of two facilities, each in its own assignment."""

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    p: NDArray[np.int64]
    q: NDArray[np.int64]
    """The locations of facilities u and v."""
    from_p: NDArray[np.int64]
    from_q: NDArray[np.int64]
    """Flat indices of the matrix entries from p and q to the locations of all facilities."""

    @classmethod
    def of(cls, orders: NDArray[Any], u: NDArray[Any], v: NDArray[Any]) -> Exchanges:
        """Return the exchange of facilities u and v in each row of assignments."""
        rows, n = np.arange(len(orders)), orders.shape[1]
        p, q = orders[rows, u], orders[rows, v]
        return cls(u, v, p, q, p[:, np.newaxis] * n + orders, q[:, np.newaxis] * n + orders)

    @classmethod
    @lru_cache(maxsize=2)
    def random(cls, n: int) -> Exchanges:
        """Return exchanges in random assignments, the same for all instances of a size."""
        count = max(_FEWEST_ORDERS, min(_MOST_ORDERS, _ENTRIES // n))
        words = np.random.Philox(key=_KEY).random_raw(count * n).reshape(count, n)
        orders = np.argsort(words, axis=1, kind="stable")
        # The locations are random, so the pairs of facilities need not be: they are enumerated, as
        # the mean has to cover different flows.
        u = np.arange(count) % n
        v = (u + 1 + np.arange(count) // n % (n - 1)) % n
        return cls.of(orders, u, v)

    def changes(self, a: Matrix, b: Matrix, linear: Matrix | None = None) -> NDArray[np.int64]:
        """Return how much each exchange raises the cost."""
        u, v, p, q = self.u, self.v, self.p, self.q
        raised = self._with_others(a, b)
        # Symmetric matrices have the same changes in both directions.
        is_symmetric = np.array_equal(a, a.T) and np.array_equal(b, b.T)
        raised += raised if is_symmetric else self._with_others(a.T, b.T)
        raised += (a[u, u] - a[v, v]) * (b[q, q] - b[p, p])
        raised += (a[u, v] - a[v, u]) * (b[q, p] - b[p, q])
        if linear is not None:
            raised += linear[u, q] - linear[u, p] + linear[v, p] - linear[v, q]
        return raised

    def _with_others(self, a: Matrix, b: Matrix) -> NDArray[np.int64]:
        """Return the changes due to the flows from u and v to other facilities."""
        rows, flat = np.arange(len(self.u)), b.ravel()
        by_item = a.take(self.u, axis=0) - a.take(self.v, axis=0)
        for exchanged in (self.u, self.v):
            by_item[rows, exchanged] = 0
        by_place = flat.take(self.from_q) - flat.take(self.from_p)
        raised: NDArray[np.int64] = np.einsum("ij,ij->i", by_item, by_place)
        return raised


def relative_variance(matrix: Matrix) -> float:
    """Return the variance of the off-diagonal values divided by their squared mean.

    All steps but one division are exact, so results are bit-identical on all machines.
    """
    values = matrix.copy()
    np.fill_diagonal(values, 0)
    if matrix.size * max(1, int(np.abs(values).max(initial=0))) ** 2 >= _EXACT:
        values = values.astype(object)  # Python integers
    total, squares = int(values.sum()), int((values * values).sum())
    count = matrix.size - len(matrix)
    return (squares * count - total * total) / (total * total) if total else 0.0


_FEWEST_ITEMS = 46  # tabu search of fewer items was faster with deltas in shared memory
_MOST_ITEMS = 200  # both matrices and the tables of tabu search fit into shared memory
_SIDES = (4, 5)
_WARP = 32
_REGISTERS = 65_536  # of a multiprocessor


@dataclass(frozen=True)
class Tiles:
    """Square tiles that cover all pairs of `items` items, each kept in registers of a thread."""

    items: int
    side: int

    @property
    def count(self) -> int:
        """The number of tiles."""
        across = -(-self.items // self.side)
        return across * (across + 1) // 2

    def block(self) -> Block:
        """Return the block size, and the maximum number of blocks with enough registers."""
        threads = _rounded(max(2 * self.items, self.count))
        registers = 40 + self.side * self.side * 3 // 2
        return Block(threads, _REGISTERS // (threads * registers))


def tiles_of(items: int) -> Tiles | None:
    """Return the fastest tiles for a number of items, or None if another method is faster."""
    if not _FEWEST_ITEMS <= items <= _MOST_ITEMS:
        return None
    small, large = (Tiles(items, side) for side in _SIDES)
    return small if small.count <= 1.15 * _rounded(2 * items) else large


def _rounded(threads: int) -> int:
    return -(-threads // _WARP) * _WARP
