"""Every road between the ranks, tried and timed with messages round the ring of ranks."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.migration.road import Road, candidates
from islands.migration.route import Parcel
from islands.parallel import World

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
_REPEATS = 21
_WARMING = 3


@dataclass(frozen=True)
class Timing:
    """The time of one message on the slowest rank, the median of many."""

    bytes: int
    microseconds: float
    gigabytes_per_second: float


@dataclass(frozen=True)
class Trial:
    """What became of a road."""

    road: str
    trouble: str
    """What went wrong; empty where everything arrived as it was sent."""
    timings: list[Timing]


def trials(world: World, backend: Backend) -> list[Trial]:
    """Return the trial of each road, the best first; none for one rank; collective."""
    if world.size == 1:
        return []
    return [_trial(road, world, backend) for road in candidates(world, backend)]


def _trial(road: type[Road], world: World, backend: Backend) -> Trial:
    timings: list[Timing] = []
    for size in SIZES:
        seconds, trouble = _tried(road, world, backend, size)
        everyone = world.allgather((seconds, trouble))
        troubles = [
            f"rank {rank}: {each}, in {size} bytes"
            for rank, (_, each) in enumerate(everyone)
            if each
        ]
        if troubles:
            return Trial(road.name, "; ".join(troubles), timings)
        slowest = max(each for each, _ in everyone)
        timings.append(Timing(size, round(1e6 * slowest, 1), round(size / slowest / 1e9, 3)))
    return Trial(road.name, "", timings)


def _tried(road: type[Road], world: World, backend: Backend, size: int) -> tuple[float, str]:
    """Send a known message to the next rank again and again; return its time, or what is wrong."""
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    sends, receives = [Parcel(after, 0, 1)], [Parcel(before, 1, 2)]
    seconds = []
    try:
        buffer = backend.upload(np.stack([_pattern(world.rank, size), np.zeros(size, np.uint8)]))
        carrier = road(world, backend, buffer)
        for _ in range(_WARMING + _REPEATS):
            world.barrier()
            started = time.perf_counter()
            carrier.leave(sends)
            backend.synchronise()
            carrier.depart(sends, receives)
            carrier.arrive()
            backend.synchronise()
            seconds.append(time.perf_counter() - started)
        arrived = backend.download(buffer)[1]
    except Exception as error:
        return 0.0, f"{type(error).__name__}: {error}"
    is_same = np.array_equal(arrived, _pattern(before, size))
    return statistics.median(seconds[_WARMING:]), "" if is_same else "it changed what was sent"


def _pattern(rank: int, size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(rank).integers(0, 256, size, np.uint8)
