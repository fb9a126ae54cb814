"""The halo: if islands are slices of one population, each reads the ends of its neighbours.

The slices form a ring. In each generation, a rank sends copies of its first and last individuals to
the previous and next ranks, and receives theirs.
"""

from __future__ import annotations

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend, Call, Calls, Program
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import World

_TO_BEFORE, _TO_AFTER, _FROM_BEFORE, _FROM_AFTER = range(4)


class Halo:
    """The ends of a rank's islands, exchanged with the previous and next ranks."""

    def __init__(
        self,
        backend: Backend,
        world: World,
        transport: type[Transport] | None,
        reach: int,
        migrant_bytes: int,
    ) -> None:
        """Allocate `reach` individuals of `migrant_bytes` bytes for each end."""
        self._backend, self._reach, self._is_alone = backend, reach, world.size == 1
        self._buffer: Array = backend.zeros((4, reach * migrant_bytes), np.uint8)
        self.seen: Array = self._buffer[_FROM_BEFORE:]
        """The individuals before the first and after the last, as kernels read them."""
        before, after = (world.rank - 1) % world.size, (world.rank + 1) % world.size
        self._sends = (
            Parcel(before, _TO_BEFORE, _TO_BEFORE + 1),
            Parcel(after, _TO_AFTER, _TO_AFTER + 1),
        )
        # With two ranks, the previous rank is also the next. Messages match in the order
        # of sending, so the first one received is for the end after the last individual.
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

    def advance(self, generation: Calls, times: int) -> None:
        """Run this number of generations, each of which needs the halo of the previous one."""
        calls = [*generation, self.pack]
        if self._is_alone:
            self._backend.run(calls, times)
            return
        for _ in range(times):
            self._backend.run(calls)
            self._exchange()

    def renew(self) -> None:
        """Exchange the current ends, before the next generation."""
        self.advance([], 1)

    def _exchange(self) -> None:
        self._carrier.stage(self._sends)
        self._backend.synchronise()
        self._carrier.start(self._sends, self._receives)
        self._carrier.wait()
