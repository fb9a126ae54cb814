"""Topologies: which islands receive from which, a pure function of seed and epoch.

Ranks agree on it without talking. Drawn topologies take Philox' raw numbers, counted by the epoch,
which NumPy promises to keep the same in all its versions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

Islands = NDArray[np.int64]
NOBODY = -1

_RANDOM, _BROADCAST = 1, 2  # what numbers are drawn for; never changed, as results depend on it


@dataclass(frozen=True)
class Scene:
    """Where migration takes place: how many islands, by which seed, for the how manieth time."""

    islands: int
    seed: int
    epoch: int

    def draw(self, purpose: int, count: int) -> NDArray[np.uint64]:
        """Return numbers that are always the same for this seed, epoch and purpose."""
        counter = np.array([0, self.epoch, purpose, 0], np.uint64)
        raw = np.random.Philox(key=np.uint64(self.seed), counter=counter).random_raw(count)
        return np.asarray(raw, np.uint64)


@dataclass(frozen=True)
class Topology:
    """Who sends to whom. `choose` returns a row of senders an island, not yet in order."""

    choose: Callable[[Scene, Islands], Islands]
    words: str
    changes: bool = False
    """Whether it is drawn anew each epoch; every island then receives from one at most."""

    def sources(self, scene: Scene, receivers: range) -> Islands:
        """Return a row for each receiver: the islands that send to it, ascending, then NOBODY."""
        mine = np.arange(receivers.start, receivers.stop, dtype=np.int64)
        rows = np.asarray(self.choose(scene, mine), np.int64).reshape(len(mine), -1)
        rows = np.where(rows == mine[:, None], NOBODY, rows)
        # Sorted with nobody last, where an island stands twice it is taken once.
        rows = np.sort(np.where(rows == NOBODY, scene.islands, rows), axis=1)
        repeated = np.zeros(rows.shape, bool)
        repeated[:, 1:] = rows[:, 1:] == rows[:, :-1]
        rows = np.sort(np.where(repeated, scene.islands, rows), axis=1)
        width = int(np.max(np.sum(rows < scene.islands, axis=1), initial=0))
        return np.where(rows == scene.islands, NOBODY, rows)[:, :width]


def _ring(scene: Scene, mine: Islands) -> Islands:
    return np.asarray((mine - 1) % scene.islands)


def _elite(scene: Scene, mine: Islands) -> Islands:
    return np.broadcast_to(np.arange(scene.islands), (len(mine), scene.islands))


def _broadcast(scene: Scene, mine: Islands) -> Islands:
    drawn = int(scene.draw(_BROADCAST, 1)[0]) * scene.islands >> 64
    return np.full(len(mine), drawn, np.int64)


def _torus(scene: Scene, mine: Islands) -> Islands:
    # Each row goes on in the next and the last in the first, so that any number makes a torus.
    row = max(1, isqrt(scene.islands))
    return np.asarray((mine[:, None] + np.array([-row, -1, 1, row])) % scene.islands)


def _hypercube(scene: Scene, mine: Islands) -> Islands:
    bits = 1 << np.arange(max(1, (scene.islands - 1).bit_length()), dtype=np.int64)
    across = mine[:, None] ^ bits
    return np.where(across < scene.islands, across, NOBODY)


def _random(scene: Scene, mine: Islands) -> Islands:
    # A ring in an order drawn afresh: everybody sends to one other, and nobody to itself.
    order = np.argsort(scene.draw(_RANDOM, scene.islands), kind="stable")
    before = np.empty(scene.islands, np.int64)
    before[order] = np.roll(order, 1)
    return before[mine]


def _none(scene: Scene, mine: Islands) -> Islands:
    return np.empty((len(mine), 0), np.int64)


TOPOLOGIES: dict[str, Topology] = {
    "ring": Topology(_ring, "each island sends to its successor"),
    "elite": Topology(_elite, "each to every other, as BRKGA exchanges its elite"),
    "broadcast": Topology(_broadcast, "one, drawn each time, to all others", changes=True),
    "torus": Topology(_torus, "each to four neighbours in rows of about the square root"),
    "hypercube": Topology(_hypercube, "each to those whose number differs in one bit"),
    "random": Topology(_random, "each to one other, in a ring drawn each time", changes=True),
    "none": Topology(_none, "nobody sends"),
}
