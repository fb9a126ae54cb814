"""The record of one migration: which migrants it brought to a rank, and the time that it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.migration.route import Route
from islands.migration.topology import NOBODY, Islands


@dataclass(frozen=True)
class MigrationTimes:
    """Seconds of the phases of a migration: device time, and wall time for the transport."""

    pack: float
    transport: float
    unpack: float


@dataclass(frozen=True)
class Arrivals:
    """The migrants that one migration brought to a rank, an entry for each migrant."""

    number: int
    """The migration number."""
    source: Islands
    target: Islands
    cost: NDArray[np.int64]
    accepted: NDArray[np.bool_]
    bytes: int
    """The size of each migrant."""
    microseconds: NDArray[np.float64]
    """Time of the message between ranks, or of the kernels within a rank."""
    transport: NDArray[np.str_]
    phases: MigrationTimes
    starts: Islands = field(default_factory=lambda: np.zeros(1, np.int64))
    """The first island of each colony."""

    def colonies(self, islands: Islands) -> Islands:
        """Return the colony of each island."""
        return np.searchsorted(self.starts, islands, "right") - 1


@dataclass
class Migration:
    """One migration of a rank: its route, and the times of its steps, as marks of the device."""

    number: int
    route: Route
    packed: tuple[Any, Any] | None = None
    """Before and after packing; None: the emigrants are not in the buffer."""
    staged: Any = None
    """After copying the emigrants for other ranks to the memory that MPI reads."""
    is_sent: bool = False
    transport_seconds: float = nan
    unpacked: tuple[Any, Any] | None = None

    def phases(self, seconds_between: Callable[[Any, Any], float]) -> MigrationTimes:
        """Return the time of each phase of a completed migration."""
        assert self.unpacked is not None, "it is completed"
        packing = 0.0 if self.packed is None else seconds_between(*self.packed)
        return MigrationTimes(packing, self.transport_seconds, seconds_between(*self.unpacked))


def arrivals_of(
    migration: Migration,
    phases: MigrationTimes,
    mine: range,
    cost: NDArray[np.int64],
    accepted: NDArray[np.bool_],
    *,
    migrants: int,
    migrant_bytes: int,
    remote: str,
    starts: Islands,
) -> Arrivals:
    """Return what a migration brought to the islands `mine`; `remote` is the transport's name.

    `cost` and `accepted` have an entry for each possible immigrant, island by island.
    """
    route = migration.route
    degree = len(cost) // (migrants * len(mine))
    source = np.full((len(mine), degree), NOBODY, np.int64)
    source[:, : route.sources.shape[1]] = np.where(route.slots == NOBODY, NOBODY, route.sources)
    target = np.broadcast_to(np.arange(mine.start, mine.stop)[:, None], source.shape)
    sources, targets = source.repeat(migrants), target.reshape(-1).repeat(migrants)
    exists = sources != NOBODY
    sources, targets = sources[exists], targets[exists]
    is_local = (sources >= mine.start) & (sources < mine.stop)
    kernels = 1e6 * (phases.pack + phases.unpack)
    return Arrivals(
        number=migration.number,
        source=sources,
        target=targets,
        cost=cost[exists],
        accepted=accepted[exists],
        bytes=migrant_bytes,
        microseconds=np.where(is_local, kernels, 1e6 * phases.transport),
        transport=np.where(is_local, "device", remote),
        phases=phases,
        starts=starts,
    )
