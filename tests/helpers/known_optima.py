"""Assignment problems with a known optimum: flows between neighbours of a hidden grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import islands
from islands.problems.qap import Qap

Matrix = NDArray[np.int64]


@dataclass(frozen=True)
class Planted:
    """An instance, and the assignment that is hidden in it."""

    flows: Matrix
    distances: Matrix
    solution: NDArray[np.int64]

    @property
    def cost(self) -> int:
        """The cost of the hidden assignment: the optimum, if all its flows go a distance of 1."""
        p = self.solution
        return int((self.flows * self.distances[np.ix_(p, p)]).sum())

    def problem(self, *, turned: bool = False) -> Qap:
        """Return the problem; `turned`: with its distances as flows."""
        matrices = self.flows, self.distances
        return islands.qap(*matrices[:: -1 if turned else 1])


def grid(
    rows: int,
    columns: int,
    seed: int = 1,
    *,
    deleted: float = 0.0,
    false: float = 0.0,
    farthest_hidden: int = 1,
    largest: int = 10,
) -> Planted:
    """Return an instance without any metric: all but hidden neighbours are at random distances.

    A share of the flows may be `deleted`, and of other pairs be `false` neighbours at a distance of
    1; hidden neighbours are at distances from 1 to `farthest_hidden`, and flows from 1 to
    `largest`.
    """
    random, n = np.random.default_rng(seed), rows * columns
    distances = random.integers(2, 11, (n, n))
    distances[random.random((n, n)) < false] = 1
    distances = np.triu(distances, 1)
    flows = np.zeros((n, n), np.int64)
    facilities = random.permutation(n)
    for place in range(n):
        for other in (place + 1, place + columns):
            is_next = other < n and (other == place + columns or other % columns > 0)
            if not is_next:
                continue
            distances[place, other] = random.integers(1, farthest_hidden + 1)
            if random.random() >= deleted:
                pair = facilities[place], facilities[other]
                flows[pair] = flows[pair[::-1]] = random.integers(1, largest + 1)
    return Planted(flows, distances + distances.T, np.argsort(facilities))
