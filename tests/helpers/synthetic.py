"""Generated instances, identical on every machine and in every version."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from islands.instances.mkp import MkpFile
from islands.instances.qaplib import QapFile
from islands.instances.tsplib import TspFile

DEMO_CITIES = 120
DEMO_SIDE = 1_000
DEMO_GRID = (5, 6)
DEMO_KNAPSACK = (60, 5)
DEMO_CENTRES = ((0, 0), (20, 5), (38, -3), (27, -19), (7, -18))
DEMO_AREA = 96
DEMO_SEED = 7
LATTICE = 10

_FLOWS = 10
"""Upper bound (exclusive) of the flow of each group of facilities; may be 0."""


def uniform_tsp(n: int, seed: int, side: int = 1_000_000, name: str | None = None) -> TspFile:
    """Return n cities with integer coordinates, drawn uniformly from a square."""
    # NumPy guarantees only the raw stream of a bit generator between versions.
    raw = np.random.PCG64(seed).random_raw(2 * n)
    coordinates = (raw % np.uint64(side)).astype(np.float64).reshape(n, 2)
    return TspFile(
        name=name or f"uniform{n}-{seed}",
        path=None,
        dimension=n,
        metric="EUC_2D",
        coordinates=coordinates,
        comment=f"{n} cities drawn evenly from a square of side {side}, seed {seed}",
    )


def demo_tsp() -> TspFile:
    """Return `demo/tsp`, whose embedded file is generated from this."""
    return uniform_tsp(DEMO_CITIES, DEMO_SEED, DEMO_SIDE, name="demo")


def land_tsp(
    centres: Sequence[tuple[int, int]], area: int, seed: int, name: str = "land"
) -> TspFile:
    """Return cities on land: islands of `area` squares around the centres, with bridges.

    Each square has four cities, on a lattice with a distance of `LATTICE`, so no edge of a tour is
    shorter. The squares are connected: a tour around a tree that spans them only has edges of this
    length, so an optimal tour of n cities has the length n * LATTICE.
    """
    land = set[tuple[int, int]]()
    for (x, y), (last_x, last_y) in pairwise(centres):
        land |= {(each, y) for each in range(min(x, last_x), max(x, last_x) + 1)}
        land |= {(last_x, each) for each in range(min(y, last_y), max(y, last_y) + 1)}
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    for number, centre in enumerate(centres):
        stream = np.random.PCG64(seed + number)
        island = [centre]
        while len(island) < area:
            at, step = stream.random_raw(2) >> np.uint64(33)
            (x, y), (dx, dy) = island[int(at) % len(island)], steps[int(step) % 4]
            if (x + dx, y + dy) not in island:
                island.append((x + dx, y + dy))
        land |= {*island}
    squares = np.array(sorted(land))
    corners = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    places = (2 * (squares - squares.min(axis=0))[:, np.newaxis] + corners).reshape(-1, 2)
    order = np.argsort(np.random.PCG64(seed).random_raw(len(places)), kind="stable")
    comment = f"{len(places)} cities on a lattice, in the shape of {len(centres)} islands"
    coordinates = LATTICE * places[order].astype(np.float64)
    return TspFile(name, None, len(places), "EUC_2D", coordinates, comment=comment)


def demo_tour() -> TspFile:
    """Return `demo/tour`, whose embedded file is generated from this."""
    return land_tsp(DEMO_CENTRES, DEMO_AREA, DEMO_SEED, name="tour")


def grid_qap(
    rows: int, columns: int, seed: int, name: str | None = None
) -> tuple[QapFile, NDArray[np.int64]]:
    """Return facilities for the places of a grid, with Manhattan distances, and an optimum.

    Flows are sums over groups: in a hidden assignment, the four of a square, and any three of them.
    The distances between three places sum to at least 1 + 1 + 2, as no three are all neighbours;
    those between four to at least 8, as each pair is in two of their four triples. In the hidden
    assignment every group attains this bound, so no assignment costs less.
    """
    n, squares = rows * columns, (rows - 1) * (columns - 1)
    raw = np.random.PCG64(seed).random_raw(n + 5 * squares)
    hidden = np.argsort(raw[:n], kind="stable")
    flows = (raw[n:] % np.uint64(_FLOWS)).astype(np.int64).reshape(squares, 5)
    corners = [row * columns + column for row in range(rows - 1) for column in range(columns - 1)]
    between = np.zeros((n, n), np.int64)
    for corner, (of_square, *of_triples) in zip(corners, flows, strict=True):
        square = corner + np.array([0, 1, columns, columns + 1])
        between[np.ix_(square, square)] += of_square
        for left_out, flow in enumerate(of_triples):
            triple = np.delete(square, left_out)
            between[np.ix_(triple, triple)] += flow
    np.fill_diagonal(between, 0)
    x, y = np.divmod(np.arange(n), columns)
    distances = np.abs(x[:, np.newaxis] - x) + np.abs(y[:, np.newaxis] - y)
    file = QapFile(
        name=name or f"grid{rows}x{columns}-{seed}",
        path=None,
        size=n,
        a=between[np.ix_(hidden, hidden)],
        b=distances,
    )
    return file, hidden


def demo_qap() -> tuple[QapFile, NDArray[np.int64]]:
    """Return `demo/qap`, whose embedded file is generated from this, and its optimum."""
    return grid_qap(*DEMO_GRID, DEMO_SEED, name="demo")


def correlated_mkp(
    n: int, m: int, seed: int, tightness: float = 0.5, name: str | None = None
) -> MkpFile:
    """Return a knapsack with profits correlated to weights, and similar constraints.

    Like Chu and Beasley: weights from 1 to 1000, profits of the mean weight plus up to 500, and
    capacities of `tightness` times the sum of weights.
    """
    raw = np.random.PCG64(seed).random_raw(n * m + n)
    weights = 1 + (raw[: n * m] % np.uint64(1000)).astype(np.int64).reshape(m, n)
    more = (raw[n * m :] % np.uint64(501)).astype(np.int64)
    return MkpFile(
        name=name or f"correlated{m}x{n}-{seed}",
        path=None,
        profits=weights.sum(axis=0) // m + more,
        weights=weights,
        capacities=np.floor(tightness * weights.sum(axis=1)).astype(np.int64),
    )


def demo_mkp() -> MkpFile:
    """Return `demo/mkp`, whose embedded file is generated from this."""
    return correlated_mkp(*DEMO_KNAPSACK, DEMO_SEED, name="demo")
