"""The exchange of migrants among all islands: when they leave, travel and are taken in."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Backend, Call, Program, Room
from islands.errors import InputError, UsageError
from islands.migration.base import MigrationSettings
from islands.migration.kernels import Kernels
from islands.migration.route import Route, plan
from islands.migration.topology import NOBODY, TOPOLOGIES, Islands, Scene
from islands.migration.transport import Transport
from islands.parallel import World, deal
from islands.text import counted, option


@dataclass(frozen=True)
class Arrivals:
    """What one migration brought to the islands of a rank: an entry a migrant."""

    epoch: int
    source: Islands
    target: Islands
    cost: NDArray[np.int64]
    accepted: NDArray[np.bool_]
    bytes: int
    """Of each migrant."""
    microseconds: NDArray[np.float64]
    """That its message took between ranks, or the kernels on one."""
    transport: NDArray[np.str_]
    phases: Phases


@dataclass(frozen=True)
class Phases:
    """Seconds of the phases of one exchange: two on the device, the transport by the clock."""

    pack: float
    transport: float
    unpack: float


class Exchange:
    """Carries migrants between the islands of all ranks.

    With a delay, those who leave in one migration are taken in at the next, before others leave.
    """

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        world: World,
        transport: type[Transport] | None,
        *,
        islands: int,
        population: int,
        kept: int,
        seed: int,
        runs: int = 1,
    ) -> None:
        """Plan the exchange of `islands`, whose `kept` best stay; `transport` is proved.

        They are those of several `runs`, with seeds one after the other; no migrant leaves its run.
        """
        self._settings, self._backend, self._world = settings, backend, world
        self._topology = TOPOLOGIES[settings.topology]
        self._islands, self._population, self._seed = islands, population, seed
        self._islands_a_run = islands // runs
        self._fixed = max(1, kept)
        self._dealt = [deal(islands, world.size, rank) for rank in range(world.size)]
        self.active = migrates(settings, self._islands_a_run)
        self._transport_kind = transport if self.active else None
        self.epoch = 0
        """How many times migrants have left."""
        self._is_away = self._has_arrived = False
        self._transport_seconds = 0.0
        self._taken = False
        self._check()

    @property
    def transport(self) -> str:
        """How migrants travel: `none`, `device`, `cuda-aware` or `staged`."""
        if not self.active:
            return "none"
        return "device" if self._transport_kind is None else self._transport_kind.name

    def _check(self) -> None:
        migrants, size = self._settings.migrants, self._population
        if self.active and migrants > size:
            raise UsageError(
                f"migrants={migrants}: must be at most population={size}. Lower it, or raise"
                " population"
            )
        degree = self._most_sources() if self.active else 0
        arriving, room = degree * migrants, size - self._fixed
        if arriving > room:
            random = option("migration", "random")
            other = f"{self._topology.hint}, or choose {random}, by which one island sends to each"
            raise UsageError(
                f"migration {self._settings.topology} brings"
                f" {counted(arriving, 'migrant')} to each of"
                f" {counted(self._islands_a_run, 'island')} (migrants={migrants}), but only {room}"
                f" of population={size} are not elite. Lower migrants or raise population"
                f"{other if degree > 1 else ''}"
            )

    def _most_sources(self) -> int:
        """Return from how many islands one receives at most."""
        size = self._islands_a_run
        seeds = range(self._seed, self._seed + self._islands // size)
        return max(self._topology.widest(size, seed) for seed in seeds)

    def prepare(self, program: Program, archipelago: Struct, rank_again: Call, room: Room) -> None:
        """Bind the kernels to the archipelago's arrays; `rank_again` puts islands in order."""
        if not self.active:
            return
        self._migrant_bytes = int(archipelago.members["migrant_bytes"])
        mine = len(self._dealt[self._world.rank])
        self._route = self._planned(1)
        slots = self._route.size
        if self._topology.changes:
            slots = self._topology.slots(mine, self._islands, self._world.size)
        self._kernels = Kernels(
            self._settings,
            self._backend,
            program,
            archipelago,
            rank_again,
            islands=mine,
            population=self._population,
            fixed=self._fixed,
            degree=self._most_sources(),
            slots=slots,
            migrant_bytes=self._migrant_bytes,
            room=room,
        )
        self._kernels.follow(self._route)
        if self._transport_kind is not None:
            self._carrier = self._transport_kind(self._world, self._backend, self._kernels.buffer)
        self._begin()

    def _begin(self) -> None:
        """Do what is left before the first migration."""

    def _sources(self, epoch: int, receivers: range) -> Islands:
        """Return a row for each receiver: the islands of its run that send to it, then NOBODY."""
        size, rows = self._islands_a_run, []
        for run in range(receivers.start // size, -(-receivers.stop // size)):
            first, scene = run * size, Scene(size, self._seed + run, epoch)
            mine = range(max(receivers.start - first, 0), min(receivers.stop - first, size))
            sources = self._topology.sources(scene, mine)
            rows.append(np.where(sources == NOBODY, NOBODY, sources + first))
        found = np.full((len(receivers), max(each.shape[1] for each in rows)), NOBODY, np.int64)
        done = 0
        for each in rows:
            found[done : done + len(each), : each.shape[1]] = each
            done += len(each)
        return found

    def _planned(self, epoch: int) -> Route:
        if self._topology.changes:
            everyone = self._sources(epoch, range(self._islands))
            return plan(lambda them: everyone[them.start : them.stop], self._dealt, self._rank)
        return plan(lambda them: self._sources(epoch, them), self._dealt, self._rank)

    @property
    def _rank(self) -> int:
        return self._world.rank

    def migrate(self) -> None:
        """Let migrants leave, and take in those who are due; collective over the ranks."""
        if not self.active:
            return
        if self._settings.delay == 0:
            self._depart()
            self._take()
        else:
            if self._is_away:
                self._take()
            self._depart()

    def _depart(self) -> None:
        self.epoch += 1
        self._plan_again()
        begin = self._backend.mark()
        self._kernels.pack()
        self._packed = (begin, self._backend.mark())
        self._prepare_to_send()

    def _plan_again(self) -> None:
        if self._topology.changes:
            self._route = self._planned(self.epoch)
            self._kernels.follow(self._route)

    def _prepare_to_send(self) -> None:
        if self._transport_kind is not None:
            self._carrier.leave(self._route.sends)
            self._ready = self._backend.mark()
        self._is_away, self._has_arrived = True, False

    def arrive(self) -> None:
        """Send those who are away, and wait for those who come; the device may be at work."""
        if not self._is_away or self._has_arrived:
            return
        if self._transport_kind is not None:
            self._backend.wait_for(self._ready)
            self._left_at = time.perf_counter()
            self._carrier.depart(self._route.sends, self._route.receives)
            self._carrier.arrive()
            self._transport_seconds = time.perf_counter() - self._left_at
        self._has_arrived = True

    def _take(self) -> None:
        self.arrive()
        begin = self._backend.mark()
        self._kernels.take()
        self._unpacked = (begin, self._backend.mark())
        self._is_away, self._taken = False, True
        self._taken_epoch, self._taken_route = self.epoch, self._route
        self._taken_packed, self._taken_transport_seconds = self._packed, self._transport_seconds

    def finish(self) -> None:
        """Do what is left after the last migration; collective."""

    def fetch(self) -> None:
        """Begin to copy to the host what the last migration brought, for `arrivals`."""
        if self._taken:
            self._kernels.fetch()

    def arrivals(self) -> Arrivals | None:
        """Return what the last migration brought, once; `fetch` must be done."""
        if not self._taken:
            return None
        self._taken = False
        route, mine = self._taken_route, self._dealt[self._rank]
        many = self._settings.migrants
        cost, accepted = self._kernels.arrivals()
        degree = len(cost) // (many * len(mine))
        source = np.full((len(mine), degree), NOBODY, np.int64)
        source[:, : route.sources.shape[1]] = np.where(route.slots == NOBODY, NOBODY, route.sources)
        target = np.broadcast_to(np.arange(mine.start, mine.stop)[:, None], source.shape)
        sources, targets = source.repeat(many), target.reshape(-1).repeat(many)
        came = sources != NOBODY
        sources, targets = sources[came], targets[came]
        stayed = (sources >= mine.start) & (sources < mine.stop)
        between = self._backend.seconds_between
        transport = self._taken_transport_seconds
        phases = Phases(between(*self._taken_packed), transport, between(*self._unpacked))
        kernels = 1e6 * (phases.pack + phases.unpack)
        return Arrivals(
            epoch=self._taken_epoch,
            source=sources,
            target=targets,
            cost=cost[came],
            accepted=accepted[came],
            bytes=self._migrant_bytes,
            microseconds=np.where(stayed, kernels, 1e6 * phases.transport),
            transport=np.where(stayed, "device", self.transport),
            phases=phases,
        )

    def emigrants(self) -> NDArray[np.uint8] | None:
        """Return those who are on their way, a row an island, or None."""
        if not self._is_away:
            return None
        packed = self._backend.download(self._kernels.buffer[: len(self._route.leaving)])
        rows = np.zeros((len(self._dealt[self._rank]), packed.shape[1]), np.uint8)
        rows[self._route.leaving] = packed
        return rows

    def restore(self, epoch: int, emigrants: NDArray[np.uint8] | None) -> None:
        """Go on after so many migrations, with `emigrants` about to be sent."""
        if emigrants is not None:
            self._require_fit(emigrants)
        self.epoch = epoch
        self._taken = False
        if not self.active:
            return
        self._is_away = False
        if emigrants is not None:
            self._plan_again()
            self._kernels.load(emigrants[self._route.leaving])
            self._packed = (self._backend.mark(), self._backend.mark())
            self._prepare_to_send()

    def _require_fit(self, emigrants: NDArray[np.uint8]) -> None:
        if not self.active:
            raise InputError("it holds emigrants, but this run has no migration")
        islands = len(self._dealt[self._rank])
        wanted = (islands, self._settings.migrants * self._migrant_bytes)
        if emigrants.shape != wanted or emigrants.dtype != np.uint8:
            raise InputError(
                f"the saved array emigrants holds {emigrants.shape} of {emigrants.dtype}, but this"
                f" run has {wanted} of uint8"
            )


def migrates(settings: MigrationSettings, islands: int) -> bool:
    """Return whether there is any migration."""
    return settings.topology != "none" and islands > 1
