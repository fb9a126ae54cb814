"""One migration of one rank, carried through its steps: pack, send, receive, unpack, record."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.migration.kernels import Kernels
from islands.migration.route import Route
from islands.migration.topology import NOBODY, Islands
from islands.migration.transport import Transport


@dataclass(frozen=True)
class Phases:
    """Seconds of the phases of a migration: device time, and wall time for the transport."""

    pack: float
    transport: float
    unpack: float


@dataclass(frozen=True)
class Arrivals:
    """The migrants that one migration brought to a rank, an entry for each migrant."""

    epoch: int
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
    phases: Phases


class Migration:
    """One migration: `pack` or `load`, `send`, `unpack`, and `record`, in this order.

    Ranks that do not wait for each other have no `send`: their messages are sent by a `Channel`.
    """

    def __init__(
        self,
        number: int,
        route: Route,
        backend: Backend,
        kernels: Kernels,
        carrier: Transport | None,
    ) -> None:
        """Take the route; `carrier` is the transport to other ranks, if there are any."""
        self.number, self.route = number, route
        self._backend, self._kernels, self._carrier = backend, kernels, carrier
        self._packed: tuple[Any, Any] | None = None
        self._is_sent = False
        self._transport_seconds = 0.0 if carrier is None else nan

    @property
    def is_packed(self) -> bool:
        """Whether the buffer holds the emigrants of this rank."""
        return self._packed is not None

    def pack(self) -> None:
        """Select and pack the emigrants, and begin to copy those for other ranks to the host."""
        begin = self._backend.mark()
        self._kernels.pack()
        self._stage(begin)

    def load(self, emigrants: NDArray[np.uint8]) -> None:
        """Take saved emigrants, a row for each island, instead of packing them."""
        self._kernels.load(emigrants[self.route.leaving])
        self._stage(self._backend.mark())

    def _stage(self, begin: Any) -> None:
        self._packed = (begin, self._backend.mark())
        if self._carrier is not None:
            self._carrier.stage(self.route.sends)
        self._ready = self._backend.mark()

    def send(self) -> None:
        """Send the emigrants and wait for the immigrants, once; kernels may run meanwhile."""
        if self._is_sent:
            return
        if self._carrier is not None:
            self._backend.wait_for(self._ready)
            sent = time.perf_counter()
            self._carrier.start(self.route.sends, self.route.receives)
            self._carrier.wait()
            self._transport_seconds = time.perf_counter() - sent
        self._is_sent = True

    def unpack(self) -> None:
        """Let islands accept or refuse the immigrants in the buffer."""
        begin = self._backend.mark()
        self._kernels.unpack()
        self._unpacked = (begin, self._backend.mark())

    def emigrants(self, islands: int) -> NDArray[np.uint8]:
        """Return the packed emigrants, a row for each of the rank's `islands`."""
        packed = self._backend.download(self._kernels.buffer[: len(self.route.leaving)])
        rows = np.zeros((islands, packed.shape[1]), np.uint8)
        rows[self.route.leaving] = packed
        return rows

    def record(self, mine: range) -> Arrivals:
        """Return what the migration brought to the islands `mine`, fetched from the kernels."""
        cost, accepted = self._kernels.arrivals()
        migrants, route = self._kernels.migrants, self.route
        degree = len(cost) // (migrants * len(mine))
        source = np.full((len(mine), degree), NOBODY, np.int64)
        source[:, : route.sources.shape[1]] = np.where(route.slots == NOBODY, NOBODY, route.sources)
        target = np.broadcast_to(np.arange(mine.start, mine.stop)[:, None], source.shape)
        sources, targets = source.repeat(migrants), target.reshape(-1).repeat(migrants)
        exists = sources != NOBODY
        sources, targets = sources[exists], targets[exists]
        is_local = (sources >= mine.start) & (sources < mine.stop)
        phases = self._phases()
        kernels = 1e6 * (phases.pack + phases.unpack)
        remote = "device" if self._carrier is None else self._carrier.name
        return Arrivals(
            epoch=self.number,
            source=sources,
            target=targets,
            cost=cost[exists],
            accepted=accepted[exists],
            bytes=self._kernels.migrant_bytes,
            microseconds=np.where(is_local, kernels, 1e6 * phases.transport),
            transport=np.where(is_local, "device", remote),
            phases=phases,
        )

    def _phases(self) -> Phases:
        between = self._backend.seconds_between
        packing = between(*self._packed) if self._packed is not None else 0.0
        return Phases(packing, self._transport_seconds, between(*self._unpacked))
