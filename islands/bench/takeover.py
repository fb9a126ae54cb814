"""Takeover time: the number of migrations until the best individual is on all islands.

In each migration the best spreads from each island that has it to the islands that receive from it.
With `delay=1` migrants arrive one migration later, but before that migration selects its emigrants:
the sequence of hops is the same, and takeover takes one migration more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.migration.topology import TOPOLOGIES, Scene, Topology

STARTS = 64
"""Maximum number of start islands, evenly spread; each is one bit of a word."""
SEEDS = 8
"""Number of simulations of a random topology."""


@dataclass(frozen=True)
class Takeover:
    """Migrations until all islands have the best: statistics over the start islands."""

    mean: float
    worst: float


def takeover(name: str, islands: int) -> Takeover:
    """Return the takeover time of a topology; two have a formula and need no simulation."""
    if islands == 1:
        return Takeover(0, 0)
    if name == "elite":
        return Takeover(1, 1)
    if name == "broadcast":
        # Each migration draws one sender: the start comes after `islands` draws on average, and all
        # islands after the expected draws of the coupon collector.
        harmonic = float(np.sum(1 / np.arange(1, islands + 1)))
        return Takeover(islands, islands * harmonic)
    return simulated(TOPOLOGIES[name], islands)


def simulated(topology: Topology, islands: int) -> Takeover:
    """Simulate the takeover from up to 64 islands; random topologies with several seeds."""
    seeds = range(1, 1 + (SEEDS if topology.changes else 1))
    times = np.concatenate([_times(topology, islands, seed) for seed in seeds])
    return Takeover(float(np.mean(times)), float(np.max(times)))


def _times(topology: Topology, islands: int, seed: int) -> NDArray[np.int64]:
    """Return the takeover time from each start island."""
    count = min(STARTS, islands)
    starts = np.arange(count) * islands // count
    # The last entry stands for "no sender": it never has the best.
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
    """Return arrays of the first sender to each island, the second, and so on."""
    return list(np.ascontiguousarray(topology.sources(scene, range(scene.islands)).T))
