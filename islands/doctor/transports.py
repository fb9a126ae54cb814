"""Try and time every transport between the ranks, with messages around a ring of ranks."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from islands.backends.base import Backend
from islands.migration.route import Parcel
from islands.migration.transport import Transport, candidates, trial
from islands.parallel import World

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
_REPEATS = 21
_WARM_UP = 3


@dataclass(frozen=True)
class Timing:
    """The time of one message: the slowest rank's median."""

    bytes: int
    microseconds: float
    gigabytes_per_second: float


@dataclass(frozen=True)
class TransportResult:
    """The result of trying a transport."""

    transport: str
    trouble: str
    """The error; empty if all messages arrived unchanged."""
    timings: list[Timing]


def trials(world: World, backend: Backend) -> list[TransportResult]:
    """Return the trial of each transport, best first; empty for one rank; collective."""
    if world.size == 1:
        return []
    return [_trial(transport, world, backend) for transport in candidates(world, backend)]


def _trial(transport: type[Transport], world: World, backend: Backend) -> TransportResult:
    timings: list[Timing] = []
    for size in SIZES:
        trouble = trial(transport, world, backend, size)
        if trouble:
            return TransportResult(transport.name, f"{trouble}, in {size} bytes", timings)
        slowest = max(world.allgather(_seconds(transport, world, backend, size)))
        timings.append(Timing(size, round(1e6 * slowest, 1), round(size / slowest / 1e9, 3)))
    return TransportResult(transport.name, "", timings)


def _seconds(transport: type[Transport], world: World, backend: Backend, size: int) -> float:
    """Send messages to the next rank; return the median time of one."""
    sends = [Parcel((world.rank + 1) % world.size, 0, 1)]
    receives = [Parcel((world.rank - 1) % world.size, 1, 2)]
    carrier = transport(world, backend, backend.zeros((2, size), np.uint8))
    seconds = []
    for _ in range(_WARM_UP + _REPEATS):
        world.barrier()
        started = time.perf_counter()
        carrier.stage(sends)
        backend.synchronise()
        carrier.start(sends, receives)
        carrier.wait()
        backend.synchronise()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[_WARM_UP:])
