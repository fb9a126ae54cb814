"""The kernels of migration, bound to the arrays of a rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend, Call, Program, Room
from islands.migration.base import MigrationSettings
from islands.migration.route import Route
from islands.migration.topology import NOBODY

_ARRIVAL = np.dtype([("cost", np.int64), ("refused", np.int32), ("accepted", np.int32)])
"""`Arrival` in kernels/migrate.cuh."""
_SELECT, _REPLACE = 5, 6  # streams in kernels/core/streams.cuh


class Kernels:
    """The launches that pack and unpack migrants on the device, and the arrays that they use."""

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        program: Program,
        archipelago: Struct,
        rank_again: Call,
        *,
        islands: int,
        population: int,
        fixed: int,
        degree: int,
        slots: int,
        migrant_bytes: int,
        room: Room,
    ) -> None:
        """Allocate `slots` slots, and room for migrants from `degree` islands to each island.

        The `fixed` best individuals of an island are never replaced; `room` is what ranking needs.
        """
        self._backend, self._slots, self._degree = backend, slots, degree
        self.migrant_bytes = migrant_bytes
        migrants = settings.migrants
        arrivals = degree * migrants
        self.buffer: Array = backend.zeros((slots, migrants * migrant_bytes), np.uint8)
        self._table = backend.empty((slots + islands * degree,), np.int32)
        self._arrivals = backend.empty((islands * arrivals * _ARRIVAL.itemsize,), np.uint8)
        self._fetched = backend.host_array(self._arrivals.shape, np.uint8)
        plan = Struct(
            migrants=np.int32(migrants),
            degree=np.int32(degree),
            refuse_duplicates=np.int32(settings.duplicates == "refuse"),
            if_better=np.int32(settings.replacement == "if-better"),
            leaving=self._table[:slots],
            source=self._table[slots:],
            buffer=self.buffer,
        )
        self.packing: list[Call] = []
        """Select the emigrants and pack them into the buffer."""
        self.unpacking: list[Call] = []
        """Accept or refuse each immigrant, replace individuals, and sort the islands again."""

        def drawn(stream: int, first: int, count: int, calls: list[Call]) -> Array:
            selected = backend.empty((islands, count), np.int32)
            numbers = (np.int32(stream), np.int32(first), np.int32(count))
            arguments = (archipelago, *numbers, selected)
            calls.append(
                backend.call(program, "select_uniform", *arguments, blocks=islands, room=room)
            )
            return selected

        chosen, stride = archipelago.members["order"], population
        if settings.selection == "random":
            chosen, stride = drawn(_SELECT, 0, migrants, self.packing), migrants
        elif settings.selection == "roulette":
            chosen, stride = backend.empty((islands, migrants), np.int32), migrants
            arguments = (archipelago, np.int32(migrants), chosen)
            self.packing.append(
                backend.call(program, "select_roulette", *arguments, blocks=islands)
            )
        packing = (archipelago, plan, chosen, np.int32(stride))
        self.packing.append(
            backend.call(program, "migrate_pack", *packing, blocks=slots * migrants)
        )
        victims = None
        if settings.replacement == "random":
            victims = drawn(_REPLACE, fixed, arrivals, self.unpacking)
        blocks = islands * arrivals
        self.unpacking += [
            backend.call(
                program, "migrate_check", archipelago, plan, self._arrivals, blocks=blocks
            ),
            backend.call(
                program, "migrate_take", archipelago, plan, victims, self._arrivals, blocks=blocks
            ),
            rank_again,
        ]

    def follow(self, route: Route) -> None:
        """Pack and unpack by this route from now on."""
        leaving = np.full(self._slots, NOBODY, np.int32)
        leaving[: len(route.leaving)] = route.leaving
        sources = np.full((len(route.slots), self._degree), NOBODY, np.int32)
        sources[:, : route.slots.shape[1]] = route.slots
        self._backend.upload(np.concatenate([leaving, sources.reshape(-1)]), self._table)

    def fetch(self) -> None:
        """Begin to copy the record of the immigrants to the host."""
        self._backend.fetch(self._arrivals, self._fetched)

    def arrivals(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the cost of each immigrant, island by island, and whether it was accepted."""
        rows = self._fetched.view(_ARRIVAL)
        return rows["cost"].copy(), rows["accepted"] != 0

    def load(self, packed: NDArray[np.uint8]) -> None:
        """Fill the first slots with emigrants that were packed earlier."""
        self._backend.upload(np.ascontiguousarray(packed), self.buffer[: len(packed)])
