"""Takeover: how many migrations pass until the best of one island is in all of them.

The best goes on by one hop a migration, to each island that receives from one that has it. With
`delay=1` it is taken in one migration later, but before that one's emigrants are chosen: all hops
follow each other as before, and takeover takes one migration more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.migration.topology import TOPOLOGIES, Scene, Topology

STARTS = 64
"""Islands, evenly spread over all, in which the best is at first: one bit of a word each."""
SEEDS = 8
"""Of drawn topologies, so many runs."""


@dataclass(frozen=True)
class Takeover:
    """Migrations until all islands have the best, over the islands where it can be at first."""

    mean: float
    worst: float


def takeover(name: str, islands: int) -> Takeover:
    """Return the takeover time of a topology; two are known without looking at every pair."""
    if islands == 1:
        return Takeover(0, 0)
    if name == "elite":
        return Takeover(1, 1)
    if name == "broadcast":
        # The start is drawn once in `islands` times; that each is takes as the coupon collector.
        harmonic = float(np.sum(1 / np.arange(1, islands + 1)))
        return Takeover(islands, islands * harmonic)
    return simulated(TOPOLOGIES[name], islands)


def simulated(topology: Topology, islands: int) -> Takeover:
    """Simulate the takeover from up to 64 islands, of drawn topologies by several seeds."""
    seeds = range(1, 1 + (SEEDS if topology.changes else 1))
    times = np.concatenate([_times(topology, islands, seed) for seed in seeds])
    return Takeover(float(np.mean(times)), float(np.max(times)))


def _times(topology: Topology, islands: int, seed: int) -> NDArray[np.int64]:
    """Return the takeover time from each start."""
    count = min(STARTS, islands)
    starts = np.arange(count) * islands // count
    # Behind the islands stands nobody, who never has the best.
    have = np.zeros(islands + 1, np.uint64)
    have[starts] = np.uint64(1) << np.arange(count, dtype=np.uint64)
    times = np.zeros(count, np.int64)
    epoch, open_starts = 0, np.ones(count, bool)
    while np.any(open_starts):
        epoch += 1
        if topology.changes or epoch == 1:
            columns = _columns(topology, Scene(islands, seed, epoch))
        arriving = have[columns[0]]
        for column in columns[1:]:
            arriving |= have[column]
        have[:-1] |= arriving
        everywhere = np.bitwise_and.reduce(have[:-1])
        if everywhere:
            bits = everywhere >> np.arange(count, dtype=np.uint64) & np.uint64(1)
            times[open_starts & (bits == 1)] = epoch
            open_starts = bits == 0
    return times


def _columns(topology: Topology, scene: Scene) -> list[NDArray[np.int64]]:
    """Return the senders to each island, one array for the first of each, one for the second..."""
    return list(np.ascontiguousarray(topology.sources(scene, range(scene.islands)).T))
