"""The halo: where all islands are slices of one population, each sees the ends of its neighbours.

The slices lie in a ring. Each generation, a rank sends copies of its first and last individuals to
the ranks before and after it, and gets theirs.
"""

from __future__ import annotations

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend, Call, Program
from islands.errors import UsageError
from islands.migration import MigrationSettings, Transport, migrates
from islands.migration.route import Parcel
from islands.parallel import World
from islands.text import option

_TO_BEFORE, _TO_AFTER, _FROM_BEFORE, _FROM_AFTER = range(4)


class Halo:
    """The ends of a rank's islands, exchanged with the ranks beside it."""

    def __init__(
        self,
        backend: Backend,
        world: World,
        transport: type[Transport] | None,
        reach: int,
        migrant_bytes: int,
    ) -> None:
        """Take the memory for `reach` individuals of each end, of so many bytes."""
        self._backend, self._reach, self._is_alone = backend, reach, world.size == 1
        self._buffer: Array = backend.zeros((4, reach * migrant_bytes), np.uint8)
        self.seen: Array = self._buffer[_FROM_BEFORE:]
        """What lies beyond the first and beyond the last individual, as kernels read it."""
        before, after = (world.rank - 1) % world.size, (world.rank + 1) % world.size
        self._sends = (
            Parcel(before, _TO_BEFORE, _TO_BEFORE + 1),
            Parcel(after, _TO_AFTER, _TO_AFTER + 1),
        )
        # Of two ranks, each is before and after the other: what it sends first has to be received
        # first, and that is for the end after.
        self._receives = (
            Parcel(after, _FROM_AFTER, _FROM_AFTER + 1),
            Parcel(before, _FROM_BEFORE, _FROM_BEFORE + 1),
        )
        if not self._is_alone:
            assert transport is not None, "several ranks have found a transport"
            self._carrier = transport(world, backend, self._buffer)

    def prepare(self, program: Program, archipelago: Struct) -> None:
        """Bind the kernel to the archipelago's arrays."""
        halo = Struct(
            reach=np.int32(self._reach),
            alone=np.int32(self._is_alone),
            buffer=self._buffer,
        )
        self.pack: Call = self._backend.call(
            program, "halo_pack", archipelago, halo, blocks=2 * self._reach
        )

    def advance(self, generation: list[Call], times: int) -> None:
        """Pass so many generations, each of which needs the halo of the one before."""
        calls = [*generation, self.pack]
        if self._is_alone:
            self._backend.run(calls, times)
            return
        for _ in range(times):
            self._backend.run(calls)
            self._exchange()

    def renew(self) -> None:
        """Exchange the ends as they are, before the next generation."""
        self.advance([], 1)

    def _exchange(self) -> None:
        self._carrier.leave(self._sends)
        self._backend.synchronise()
        self._carrier.depart(self._sends, self._receives)
        self._carrier.arrive()


def require_fit(
    reach: int, population: int, migration: MigrationSettings, islands: int, runs: int
) -> None:
    """Refuse slices that are too small to be seen from both sides, or that migrate as well."""
    if reach > population:
        raise UsageError(
            f"population={population}: each slice of one population has to hold the {reach}"
            " individuals that the next one sees. Raise population, or lower neighbours or radius"
        )
    if runs > 1:
        raise UsageError(
            f"halo=true with {runs} runs side by side: their slices would lie in one ring. Let one"
            " run after the other, or choose halo=false"
        )
    if migrates(migration, islands):
        raise UsageError(
            f"halo=true with migration {migration.topology}: slices of one population do not"
            f" migrate. Choose {option('migration', 'none')}, or halo=false"
        )
