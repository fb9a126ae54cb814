"""Tours that are not simply closed and symmetric: directed, open, or with fixed edges.

Kernels support only closed tours without fixed edges. A path is therefore closed by an additional
city at length 0 from all others. Cities connected by fixed edges form a chain, which is a single
item: the length from one item to the next is that from the last city of one chain to the first
city of the other. If lengths are symmetric, a chain may be traversed in either direction: its two
ends are items, and an entry of the matrix marks them as joined. Forbidden legs are marked as well;
see kernels/problems/legs.cuh.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.source import Macros
from islands.instances import tsplib
from islands.instances.solution_files import Remark
from islands.instances.tsplib import TspFile
from islands.problems import messages
from islands.problems.distances import Distances, Ints, arrays_of_chain, chain_of, scaled
from islands.problems.levels import levelled
from islands.problems.routes import CityChains, require_route

FORBIDDEN, JOINED = -1, -2
"""Entries of matrices: a leg that is forbidden, and one that every tour must contain."""
PRICE = 1 << 46
"""Cost of a forbidden leg or a missing fixed edge: more than the length of any tour."""
_LONGEST = 2**31 - 1
_ALIKE = 1e-6
"""Maximum difference of the two directions due to rounding, as a share of the longest leg."""


def is_plain(file: TspFile) -> bool:
    """Return whether all closed tours are allowed and have the same length in reverse."""
    if file.fixed or file.ends is not None:
        return False
    matrix = file.matrix
    return matrix is None or (bool((matrix >= 0).all()) and np.array_equal(matrix, matrix.T))


class Legs(Distances):
    """Distances of items, each a city or a chain of cities, from a matrix of legs."""

    def __init__(self, file: TspFile) -> None:
        whole = Distances(replace(file, fixed=(), ends=None))
        self.metric, self.unit, self.file = file.metric, whole.unit, file
        self.legs = _legs_of(file, whole)
        if file.metric is None:
            self.legs, self.unit = scaled(self.legs, file.fixed)
        is_symmetric = np.array_equal(self.legs, self.legs.T)
        require_route(file, self.legs, is_symmetric=is_symmetric)
        self.chains = CityChains.of(file, is_symmetric=is_symmetric)
        matrix = self._reduced()
        self.size = len(matrix)
        self.is_directed = not np.array_equal(matrix, matrix.T)
        self.matrix = levelled(matrix) if self.is_directed else matrix
        self.nodes = 2 * self.size if self.is_directed else self.size
        self.places = None

    def defines(self) -> Macros:
        """Return the macro that selects a matrix of legs."""
        return {"TSP_METRIC": "TSP_LEGS"}

    def between(self, a: Ints, b: Ints) -> Ints:
        """Return the lengths of legs from the cities of `a` to those of `b`."""
        lengths: Ints = self.legs[a, b].astype(np.int64)
        return np.where(lengths < 0, PRICE, lengths)

    def along(self, tours: Ints) -> Ints:
        """Return the lengths of the legs of tours in order, a row per tour."""
        if self.file.ends is None:
            return super().along(tours)
        return self.between(tours[..., :-1], tours[..., 1:])

    def faults(self, tours: Ints) -> list[str]:
        """Return the faults of a tour: forbidden legs, missing fixed edges and wrong ends.

        Cities are counted from 0.
        """
        order: list[int] = tours.tolist()
        edges = list(itertools.pairwise(order if self.file.ends is not None else order + order[:1]))
        lengths = self.along(tours).tolist()
        faults = [
            f"no leg leads from {one} to {other}"
            for (one, other), length in zip(edges, lengths, strict=True)
            if length == PRICE
        ]
        passed = {*edges} if self.chains.are_directed else {*edges, *(edge[::-1] for edge in edges)}
        faults += [
            f"the fixed edge from {one} to {other} is missing"
            for one, other in self.file.fixed
            if (one, other) not in passed
        ]
        start, end = self.file.ends or (None, None)
        if start is not None and tours[0] != start:
            faults.append(f"it begins at {tours[0]} instead of {start}")
        if end is not None and tours[-1] != end:
            faults.append(f"it ends at {tours[-1]} instead of {end}")
        return faults

    def remarks(self) -> list[Remark]:
        """Return the length of fixed edges, and a hint about lengths that differ only by rounding.

        Published lengths of some instances omit fixed edges.
        """
        remarks = self._remarks_on_directions()
        if not self.file.fixed:
            return remarks
        ones, others = np.array(self.file.fixed).T
        length = float(self.between(ones, others).sum()) / self.unit
        words = f"fixed edges account for {length:g} of the length of each tour"
        return [*remarks, Remark("fixed", length, words)]

    def _remarks_on_directions(self) -> list[Remark]:
        """Return a hint if the two directions of legs hardly differ."""
        if not self.chains.are_directed:
            return []
        most, limit = 0, _ALIKE * int(self.legs.max())
        for row, column in zip(self.legs, self.legs.T, strict=True):
            most = max(most, int(np.abs(row.astype(np.int64) - column).max()))
            if most > limit or ((row < 0) != (column < 0)).any():
                return []
        length = most / self.unit
        words = f"lengths of opposite directions differ by at most {length:g}: if they were equal,"
        words += " the instance would be solved faster"
        return [Remark("directions", length, words)]

    def chain(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of `Neighbours`, with two nodes per item if directed."""
        cities = chain_of(self.priced())
        if self.is_directed:
            cities = (2 * cities[:, np.newaxis] + np.array([0, 1], np.int32)).reshape(-1)
        return arrays_of_chain(cities)

    def priced(self) -> NDArray[np.int64]:
        """Return the lengths between items, with `PRICE` for forbidden ones."""
        assert self.matrix is not None
        lengths = self.matrix.astype(np.int64)
        return np.where(lengths == FORBIDDEN, PRICE, np.where(lengths == JOINED, 0, lengths))

    def _reduced(self) -> NDArray[np.int32]:
        """Return the lengths between items, for which tours are as long as tours of the cities.

        The total length inside chains, the same in all tours, is distributed over the legs.
        """
        legs, chains = self._closed(), self.chains
        inside = sum(int(legs[chain[:-1], chain[1:]].sum(dtype=np.int64)) for chain in chains.items)
        if chains.has_two_ends:
            cities = chains.cities
            added = _shares_of_ends(inside, len(cities), 2 * chains.pairs)
            matrix = legs[np.ix_(cities, cities)].astype(np.int64)
            matrix = np.where(matrix < 0, matrix, matrix + added[:, np.newaxis] + added)
            ones = 2 * np.arange(chains.pairs)
            matrix[ones, ones + 1] = matrix[ones + 1, ones] = JOINED
        else:
            first, last = (np.array([chain[k] for chain in chains.items]) for k in (0, -1))
            matrix = legs[np.ix_(last, first)].astype(np.int64)
            # Each tour leaves every item once.
            share, rest = divmod(inside, len(matrix))
            added = share + (np.arange(len(matrix)) < rest)
            matrix = np.where(matrix < 0, matrix, matrix + added[:, np.newaxis])
        if len(matrix) > 1:
            np.fill_diagonal(matrix, 0)
        if int(matrix.max()) > _LONGEST:
            raise messages.leg_too_long(file=self.file, length=int(matrix.max()), most=_LONGEST)
        return np.ascontiguousarray(matrix, np.int32)

    def _closed(self) -> NDArray[np.int32]:
        """Return the legs, including those of the city that closes a path."""
        return self.legs if self.file.ends is None else np.pad(self.legs, (0, 1))


def _shares_of_ends(inside: int, count: int, joined: int) -> Ints:
    """Return amounts that sum to `inside` along the legs of each tour of `count` items.

    The first `joined` items have one leg besides the edge that joins them, the others two.
    """
    share, rest = divmod(inside, joined + 2 * (count - joined))
    added = np.full(count, share, np.int64)
    twice = min(rest // 2, count - joined)
    added[joined : joined + twice] += 1
    added[: rest - 2 * twice] += 1
    return added


def _legs_of(file: TspFile, whole: Distances) -> NDArray[Any]:
    """Return the matrix of all legs; exact lengths are not scaled yet."""
    n = file.dimension
    if n > tsplib.LARGEST:
        raise messages.too_many_with_ends(file=file)
    if whole.matrix is not None:
        return whole.matrix
    if file.metric is None:
        assert file.coordinates is not None, "exact lengths come from coordinates"
        x, y = file.coordinates.T
        exact: NDArray[np.float64] = np.hypot(x[:, np.newaxis] - x, y[:, np.newaxis] - y)
        return exact
    cities = np.arange(n)
    rows = [whole.between(np.full(n, city), cities) for city in range(n)]
    matrix = np.array(rows)
    if matrix.max() > _LONGEST:
        raise messages.legs_too_long(file=file, length=int(matrix.max()), most=_LONGEST)
    return matrix.astype(np.int32)
