"""Quadratic assignment problems with a hidden grid, whose optimum is usually known.

Facilities have flows only to their neighbours in a grid, and neighbouring places are close to each
other; all other distances are random, so that the distances do not reveal the grid. If neighbours
are at the smallest distance, the hidden assignment is optimal. Names such as `144-less20.0` consist
of the number of facilities, the difference from the plain grid, and the number of the instance:

- `less20`: 20 % of the flows are deleted.
- `false2`: 2 % of the other pairs are as close as neighbours.
- `hidden2`: neighbours are at distances of 1 to 2, so the hidden assignment may not be optimal.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.instances.dimacs import BASE, random_numbers
from islands.instances.qaplib import QapFile

Matrix = NDArray[np.int64]

_NEAREST_OTHER, _FARTHEST = 2, 10
"""The range of distances of pairs that are not neighbours."""
_SEEDS_A_SIZE = 10


@dataclass(frozen=True)
class Grid:
    """An instance, and the assignment that is hidden in it."""

    flows: Matrix
    distances: Matrix
    solution: NDArray[np.int64]

    @property
    def cost(self) -> int:
        """The cost of the hidden assignment."""
        p = self.solution
        return int((self.flows * self.distances[np.ix_(p, p)]).sum())

    def file(self, *, turned: bool = False) -> QapFile:
        """Return the instance as if read from a file; `turned` swaps distances and flows."""
        a, b = (self.distances, self.flows) if turned else (self.flows, self.distances)
        return QapFile("grid", None, len(a), a, b)


def grid(
    rows: int,
    columns: int,
    seed: int = 1,
    *,
    deleted: int = 0,
    false: int = 0,
    hidden: int = 1,
    largest: int = 10,
) -> Grid:
    """Return the instance with a hidden grid of `rows` times `columns` facilities.

    `deleted` is the percentage of deleted flows, `false` that of other pairs at distance 1.
    Neighbours are at distances from 1 to `hidden`, and flows are from 1 to `largest`.
    """
    n = rows * columns
    place = np.arange(n)
    right, below = place[place % columns < columns - 1], place[: n - columns]
    one = np.concatenate([right, below])
    other = np.concatenate([right + 1, below + columns])
    edges, pairs = len(one), n * n
    numbers = random_numbers(2 * pairs + n + 3 * edges, seed)
    far, are_false, order, near, are_deleted, flow = np.split(
        numbers, np.cumsum([pairs, pairs, n, edges, edges])
    )
    distances = _scaled(_NEAREST_OTHER, _FARTHEST, far)
    distances[_scaled(0, 99, are_false) < false] = 1
    distances = np.triu(distances.reshape(n, n), 1)
    distances[one, other] = _scaled(1, hidden, near)
    facilities = np.argsort(order, kind="stable")
    flows = np.zeros((n, n), np.int64)
    kept = _scaled(0, 99, are_deleted) >= deleted
    flows[facilities[one], facilities[other]] = np.where(kept, _scaled(1, largest, flow), 0)
    return Grid(flows + flows.T, distances + distances.T, np.argsort(facilities))


def named(name: str, n: int) -> Grid:
    """Return the instance called `name`, which has n facilities."""
    kind, _, number = name.partition(".")
    change = kind.partition("-")[2]
    word = change.rstrip("0123456789")
    options = {_CHANGES[word]: int(change.removeprefix(word))} if word else {}
    rows = next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)
    return grid(rows, n // rows, _SEEDS_A_SIZE * n + int(number), **options)


def text(name: str, n: int) -> str:
    """Return the instance called `name` in the format of QAPLIB."""
    instance = named(name, n)
    parts = [
        "".join(f"{' '.join(map(str, row))}\n" for row in matrix.tolist())
        for matrix in (instance.flows, instance.distances)
    ]
    return "\n".join([f"{n}\n", *parts])


_CHANGES = {"less": "deleted", "false": "false", "hidden": "hidden"}
"""The arguments of `grid`, by the words that stand for them in the names of instances."""


def _scaled(least: int, most: int, numbers: Matrix) -> Matrix:
    """Return the random `numbers`, scaled to the range from `least` to `most`."""
    return least + numbers * (most - least + 1) // BASE
