"""The exchange of migrants among all islands of a run: pack, send, receive, unpack, record.

In an `AsyncExchange`, ranks do not wait for each other: they unpack the messages that have arrived,
and send to ranks without a pending message. When migrants arrive depends on the speed of the ranks,
so such runs are not reproducible.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Array, Backend
from islands.backends.state import require_array
from islands.encodings import Encoding
from islands.errors import InputError, UsageError
from islands.migration.kernels import Kernels, Side
from islands.migration.migrant import Converter
from islands.migration.ranks import Ranks
from islands.migration.route import Parcel, Planner, Route
from islands.migration.settings import MigrationSettings, migrates
from islands.migration.topology import NOBODY, TOPOLOGIES, Islands
from islands.migration.transport import Transport
from islands.text import option

_CHANNEL_TAG = 3


@dataclass(frozen=True)
class MigrationTimes:
    """Seconds of the phases of a migration: device time, and wall time for the transport."""

    pack: float
    transport: float
    unpack: float


@dataclass(frozen=True)
class Arrivals:
    """The migrants that arrived at a rank in one migration, an entry for each migrant."""

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


def entries(
    source: Islands, receivers: range, migrants: int
) -> tuple[Islands, Islands, NDArray[np.bool_]]:
    """Return the source and target of each migrant, and which of the possible migrants exist.

    `source` has a row for each receiver: the islands that send to it, padded with NOBODY.
    """
    target = np.broadcast_to(np.array(receivers)[:, None], source.shape)
    sources, targets = source.repeat(migrants), target.repeat(migrants)
    exists = sources != NOBODY
    return sources[exists], targets[exists], exists


@dataclass
class Migration:
    """One migration of a rank: its route, and the device marks between its steps."""

    number: int
    route: Route
    packed: tuple[Any, Any] | None = None
    """The marks before and after packing; None if the emigrants are not in the buffer."""
    staged: Any = None
    """The mark after copying the emigrants for other ranks to the memory that MPI reads."""
    is_sent: bool = False
    transport_seconds: float = nan
    unpacked: tuple[Any, Any] | None = None

    def phases(self, seconds_between: Callable[[Any, Any], float]) -> MigrationTimes:
        """Return the time of each phase of a completed migration."""
        assert self.unpacked is not None, "it is completed"
        packing = 0.0 if self.packed is None else seconds_between(*self.packed)
        return MigrationTimes(packing, self.transport_seconds, seconds_between(*self.unpacked))


class Exchange:
    """Carries migrants between the islands of all ranks, one `Migration` after another.

    With a delay, each migration ends at the next one: its migrants are unpacked before the next
    ones are packed.
    """

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        ranks: Ranks,
        *,
        seed: int,
        starts: Islands,
    ) -> None:
        """Plan the exchange of all islands; `starts` are the first islands of the colonies."""
        self._settings, self._backend, self._world = settings, backend, ranks.world
        self._planner = Planner(TOPOLOGIES[settings.topology], ranks.world, ranks.deal, seed=seed)
        self._starts = starts
        self.active = migrates(settings, ranks.deal.islands)
        self._transport_kind = ranks.transport if self.active else None
        self._carrier: Transport | None = None
        self.migrations = 0
        """The number of migrations that have begun."""
        self.in_flight: Migration | None = None
        """The migration whose migrants are not unpacked yet."""
        self._completed: Migration | None = None

    @property
    def transport(self) -> str:
        """The transport of migrants: `none`, `device`, `cuda-aware` or `staged`."""
        if not self.active:
            return "none"
        return "device" if self._transport_kind is None else self._transport_kind.name

    def prepare(
        self, sides: Mapping[int, Side], encodings: Sequence[Encoding], migrant_bytes: int
    ) -> None:
        """Bind the kernels to the arrays of the colonies on this rank: `sides`, by colony number.

        `encodings` are those of all colonies of the run; a migrant has `migrant_bytes` bytes.
        """
        if not self.active:
            return
        self._route = self._planner.route(1)
        slots, migrants = self._planner.most_slots(self._route), self._settings.migrants
        converting = [
            number
            for number in sides
            if not all(encodings[number].accepts(sender) for sender in encodings)
        ]
        self._migrant_bytes = migrant_bytes
        # After the slots of the route, colonies have slots for converted migrants.
        self._buffer: Array = self._backend.zeros(
            ((1 + len(converting)) * slots, migrants * migrant_bytes), np.uint8
        )
        self._converters = {
            number: Converter(
                self._backend,
                encodings,
                starts=self._starts,
                receiver=number,
                buffer=self._buffer,
                first=place * slots,
                migrants=migrants,
            )
            for place, number in enumerate(converting, 1)
        }
        self._kernels = [
            Kernels(
                self._settings,
                self._backend,
                side,
                self._buffer,
                degree=self._planner.most_sources,
                slots=slots,
                converter=self._converters.get(number),
            )
            for number, side in sides.items()
        ]
        self._packing = [call for kernels in self._kernels for call in kernels.packing]
        self._unpacking = [call for kernels in self._kernels for call in kernels.unpacking]
        self._follow(self._route)
        if self._transport_kind is not None:
            self._carrier = self._transport_kind(self._world, self._backend, self._buffer[:slots])
        self._begin()

    def _follow(self, route: Route) -> None:
        for kernels in self._kernels:
            kernels.follow(route)

    def _begin(self) -> None:
        """Open the channel of an asynchronous exchange."""

    def migrate(self) -> None:
        """Begin a migration, and complete it or, with a delay, the previous one; collective."""
        if not self.active:
            return
        if self.in_flight is not None:
            self._complete(self.in_flight)
        self.migrations += 1
        migration = self._current()
        self._pack(migration)
        if self._settings.delay == 0:
            self._complete(migration)
        else:
            self.in_flight = migration

    def _current(self) -> Migration:
        """Return the current migration, with its route set in the kernels."""
        if self._planner.changes:
            self._route = self._planner.route(self.migrations)
            self._follow(self._route)
        return self._new(self._route)

    def _new(self, route: Route) -> Migration:
        seconds = 0.0 if self._carrier is None else nan
        return Migration(self.migrations, route, transport_seconds=seconds)

    def _pack(self, migration: Migration) -> None:
        """Select and pack the emigrants, and begin to copy those for other ranks to the host."""
        begin = self._backend.mark()
        self._backend.run(self._packing)
        self._stage(migration, begin)

    def _stage(self, migration: Migration, begin: Any) -> None:
        migration.packed = (begin, self._backend.mark())
        if self._carrier is not None:
            self._carrier.stage(migration.route.sends)
            migration.staged = self._backend.mark()

    def _complete(self, migration: Migration) -> None:
        self._send(migration)
        self._unpack(migration)
        self.in_flight, self._completed = None, migration

    def _send(self, migration: Migration) -> None:
        """Unless done, send the emigrants and receive the immigrants; kernels may run meanwhile."""
        if self._carrier is not None and not migration.is_sent:
            self._backend.wait_for(migration.staged)
            sent = time.perf_counter()
            self._carrier.start(migration.route.sends, migration.route.receives)
            self._carrier.wait()
            migration.transport_seconds = time.perf_counter() - sent
        migration.is_sent = True

    def _unpack(self, migration: Migration) -> None:
        """Let islands accept or reject the immigrants in the buffer."""
        begin = self._backend.mark()
        for converter in self._converters.values():
            converter.convert()
        self._backend.run(self._unpacking)
        migration.unpacked = (begin, self._backend.mark())

    def deliver(self) -> None:
        """Send migrants in flight and wait for those of other ranks; kernels may run meanwhile."""
        if self.in_flight is not None:
            self._send(self.in_flight)

    def finish(self) -> None:
        """End the exchange after the last migration; collective."""

    def fetch(self) -> None:
        """Begin to copy the record of the last migration to the host, for `arrivals`."""
        if self._completed is not None:
            for kernels in self._kernels:
                kernels.fetch()

    def arrivals(self) -> Arrivals | None:
        """Return the record of a migration that `fetch` has copied since the last call, or None."""
        completed, self._completed = self._completed, None
        if completed is None:
            return None
        arrivals = [kernels.arrivals() for kernels in self._kernels]
        # There is an entry for each possible immigrant, island by island.
        cost, accepted = (np.concatenate(columns) for columns in zip(*arrivals, strict=True))
        islands, route = self._planner.islands, completed.route
        migrants, phases = self._settings.migrants, completed.phases(self._backend.seconds_between)
        source = np.full((len(islands), len(cost) // (migrants * len(islands))), NOBODY, np.int64)
        source[:, : route.sources.shape[1]] = np.where(route.slots == NOBODY, NOBODY, route.sources)
        sources, targets, exists = entries(source, islands, migrants)
        is_local = (sources >= islands.start) & (sources < islands.stop)
        kernels = 1e6 * (phases.pack + phases.unpack)
        remote = "device" if self._carrier is None else self._carrier.name
        return Arrivals(
            number=completed.number,
            source=sources,
            target=targets,
            cost=cost[exists],
            accepted=accepted[exists],
            bytes=self._migrant_bytes,
            microseconds=np.where(is_local, kernels, 1e6 * phases.transport),
            transport=np.where(is_local, "device", remote),
            phases=phases,
            starts=self._starts,
        )

    def emigrants(self) -> NDArray[np.uint8] | None:
        """Return the migrants in flight, a row for each island, or None."""
        if self.in_flight is None:
            return None
        leaving = self.in_flight.route.leaving
        packed = self._backend.download(self._buffer[: len(leaving)])
        rows = np.zeros((len(self._planner.islands), packed.shape[1]), np.uint8)
        rows[leaving] = packed
        return rows

    def restore(self, migrations: int, emigrants: NDArray[np.uint8] | None) -> None:
        """Continue after this number of migrations; saved `emigrants` are sent next."""
        if emigrants is not None:
            if not self.active:
                raise InputError("it contains migrants in flight, but this run has no migration")
            row = self._settings.migrants * self._migrant_bytes
            require_array("emigrants", emigrants, (len(self._planner.islands), row), np.uint8)
        self.migrations = migrations
        self.in_flight = self._completed = None
        if emigrants is not None:
            self.in_flight = self._current()
            leaving = self.in_flight.route.leaving
            packed = np.ascontiguousarray(emigrants[leaving])
            self._backend.upload(packed, self._buffer[: len(leaving)])
            self._stage(self.in_flight, self._backend.mark())


def require_same_senders(settings: MigrationSettings) -> None:
    """Reject a topology that changes, as asynchronous ranks are at different migrations."""
    if TOPOLOGIES[settings.topology].changes:
        fixed = [name for name, topology in TOPOLOGIES.items() if not topology.changes]
        raise UsageError(
            f"--async with migration {settings.topology}: ranks that do not wait cannot use a"
            f" random topology. Choose {option('migration', fixed)}"
        )


class AsyncExchange(Exchange):
    """An exchange without waiting.

    Migrants arrive at a later migration; those from the same rank, at the next one. A rank sends to
    another one only after its last message to that rank has arrived.
    """

    def _begin(self) -> None:
        assert self._carrier is not None, "several ranks have a transport"
        self._sends = {parcel.rank: parcel for parcel in self._route.sends}
        self._receives = {parcel.rank: parcel for parcel in self._route.receives}
        self._channel = self._world.channel(
            _CHANNEL_TAG,
            {rank: self._carrier.memory(parcel) for rank, parcel in self._sends.items()},
            {rank: self._carrier.memory(parcel) for rank, parcel in self._receives.items()},
        )
        self._latest: Migration | None = None

    def migrate(self) -> None:
        """Unpack arrived migrants; pack others, and send to ranks without a pending message."""
        if not self.active:
            return
        assert self._carrier is not None
        arrived, free = self._channel.arrived(), sorted(self._channel.free())
        previous = self._latest or self._new(self._route)
        previous.route = route = self._open(arrived, free, is_packed=previous.packed is not None)
        self._carrier.unstage(route.receives)
        self._follow(route)
        self._unpack(previous)
        self._completed = previous
        self.migrations += 1
        self._latest = self._new(route)
        self._pack(self._latest)
        self._backend.synchronise()
        for rank in arrived:
            self._channel.listen(rank)
        for rank in free:
            self._channel.send(rank)

    def restore(self, migrations: int, emigrants: NDArray[np.uint8] | None) -> None:
        """Continue after this number of migrations, without the migrants that were in flight."""
        super().restore(migrations, None)
        self._latest = None

    def finish(self) -> None:
        """Close the channel to the other ranks; collective."""
        if self.active:
            self._channel.close()

    def _open(self, arrived: list[int], free: list[int], *, is_packed: bool) -> Route:
        """Return the route of this migration, without slots in flight or never packed."""
        leaving, slots = self._route.leaving.copy(), self._route.slots.copy()
        closed_in = [parcel for rank, parcel in self._receives.items() if rank not in arrived]
        if not is_packed:
            closed_in.append(Parcel(self._world.rank, 0, len(leaving)))
        for rank, parcel in self._sends.items():
            if rank not in free:
                leaving[parcel.first : parcel.last] = NOBODY
        for parcel in closed_in:
            slots[(slots >= parcel.first) & (slots < parcel.last)] = NOBODY
        return replace(
            self._route,
            leaving=leaving,
            slots=slots,
            sends=tuple(self._sends[rank] for rank in free),
            receives=tuple(self._receives[rank] for rank in arrived),
        )
