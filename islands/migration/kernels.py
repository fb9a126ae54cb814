"""The kernels of migration, bound to the arrays of one colony on a rank."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Null, Struct, layout_of
from islands.backends.base import Array, Backend, Call, CompiledProgram, Room
from islands.migration import migrant, repeated
from islands.migration.migrant import Converter
from islands.migration.route import Route
from islands.migration.settings import MigrationSettings
from islands.migration.topology import NOBODY

_SELECT, _REPLACE = 5, 6  # streams in kernels/core/streams.cuh


@dataclass(frozen=True)
class Side:
    """The islands of a colony on a rank, as migration needs them."""

    first: int
    """The offset of these islands among those of the rank."""
    islands: int
    population: int
    fixed: int
    """Number of best individuals of an island that are never replaced."""
    program: CompiledProgram
    archipelago: Struct
    rank_again: Call
    """Sorts the islands by cost."""
    room: Room
    """The scratch memory that ranking needs."""


def _plan(
    settings: MigrationSettings, degree: int, leaving: Array, source: Array, buffer: Array
) -> Struct:
    """Return `Migration` of kernels/migrate.cuh."""
    return Struct(
        migrants=np.int32(settings.migrants),
        degree=np.int32(degree),
        reject_duplicates=np.int32(settings.duplicates == "reject"),
        if_better=np.int32(settings.replacement == "if-better"),
        leaving=leaving,
        source=source,
        buffer=buffer,
    )


_TABLE = Null(np.int32)
STRUCTS = {
    "Arrival": Struct(cost=np.int64(0), rejected=np.int32(0), accepted=np.int32(0)),
    "Migration": _plan(MigrationSettings(), 0, _TABLE, _TABLE, Null(np.uint8)),
    **repeated.STRUCTS,
    **migrant.STRUCTS,
}
"""Samples of the structs of migration, with which the compiler compares those of the kernels."""
_ARRIVAL = layout_of(STRUCTS["Arrival"])


class Kernels:
    """The launches that pack and unpack migrants on the device, and the arrays that they use."""

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        side: Side,
        buffer: Array,
        *,
        degree: int,
        slots: int,
        converter: Converter | None = None,
    ) -> None:
        """Use `slots` slots of the buffer, and migrants from `degree` islands to each island.

        A `converter` is necessary if other colonies have other encodings.
        """
        self._backend, self._side = backend, side
        self._slots, self._degree, self._converter = slots, degree, converter
        islands, migrants = side.islands, settings.migrants
        arrivals = degree * migrants
        self._table = backend.empty((slots + islands * degree,), np.int32)
        self._host_table = backend.host_array(self._table.shape, np.int32)
        self._arrivals = backend.empty((islands * arrivals * _ARRIVAL.itemsize,), np.uint8)
        self._fetched = backend.host_array(self._arrivals.shape, np.uint8)
        plan = _plan(settings, degree, self._table[:slots], self._table[slots:], buffer)
        self.packing: list[Call] = []
        """Select the emigrants and pack them into the buffer."""
        self.unpacking: list[Call] = []
        """Accept or reject each immigrant, replace individuals, and sort the islands again."""

        chosen, stride = side.archipelago.members["order"], side.population
        if settings.selection == "random":
            chosen, stride = self._drawn(_SELECT, 0, migrants, self.packing), migrants
        elif settings.selection == "roulette":
            chosen, stride = backend.empty((islands, migrants), np.int32), migrants
            roulette = (np.int32(migrants), chosen)
            self.packing.append(self._call("select_roulette", *roulette, blocks=islands))
        blocks = slots * migrants
        packing = (plan, chosen, np.int32(stride))
        self.packing.append(self._call("migrate_pack", *packing, blocks=blocks))
        victims = None
        if settings.replacement == "random":
            victims = self._drawn(_REPLACE, side.fixed, arrivals, self.unpacking)
        blocks = islands * arrivals
        self.unpacking += [
            self._call("migrate_check", plan, self._arrivals, blocks=blocks),
            self._call("migrate_take", plan, victims, self._arrivals, blocks=blocks),
            side.rank_again,
        ]

    def _call(self, kernel: str, *arguments: Any, blocks: int, room: Room | None = None) -> Call:
        all_ = (self._side.archipelago, *arguments)
        return self._backend.call(self._side.program, kernel, *all_, blocks=blocks, room=room)

    def _drawn(self, stream: int, first: int, count: int, calls: list[Call]) -> Array:
        """Add a launch that draws individuals of each island; return their slots."""
        islands, room = self._side.islands, self._side.room
        drawn = self._backend.empty((islands, count), np.int32)
        numbers = (np.int32(stream), np.int32(first), np.int32(count))
        calls.append(self._call("select_uniform", *numbers, drawn, blocks=islands, room=room))
        return drawn

    def follow(self, route: Route, *, waits: bool = True) -> None:
        """Use this route of the rank for packing and unpacking.

        Unless it `waits`, the caller must have waited for the device since the last call.
        """
        mine = slice(self._side.first, self._side.first + self._side.islands)
        leaving = np.full(self._slots, NOBODY, np.int32)
        is_mine = (route.leaving >= mine.start) & (route.leaving < mine.stop)
        leaving[: len(is_mine)] = np.where(is_mine, route.leaving - mine.start, NOBODY)
        slots = route.slots[mine]
        if self._converter is not None:
            slots = self._converter.follow(route.sources[mine], slots)
        sources = np.full((len(slots), self._degree), NOBODY, np.int32)
        sources[:, : slots.shape[1]] = slots
        if waits:
            self._backend.synchronise()  # the last copy may be in progress
        self._host_table[:] = np.concatenate([leaving, sources.reshape(-1)])
        self._backend.store(self._host_table, self._table)

    def fetch(self) -> None:
        """Begin to copy the costs of the immigrants to the host, and whether each was accepted."""
        self._backend.fetch(self._arrivals, self._fetched)

    def arrivals(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the cost of each immigrant, island by island, and whether it was accepted."""
        rows = self._fetched.view(_ARRIVAL)
        return rows["cost"].copy(), rows["accepted"] != 0
