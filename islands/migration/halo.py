"""The halo: if islands are slices of one population, each reads the ends of its neighbours.

The slices form a ring. In each generation, a rank sends copies of its first and last individuals to
the ranks with the previous and next islands, and receives theirs.
"""

from __future__ import annotations

import numpy as np

from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Call, Program
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import Deal, World

_TO_BEFORE, _TO_AFTER, _FROM_BEFORE, _FROM_AFTER = range(4)


def _halo(reach: int, alone: bool, buffer: Array) -> Struct:
    """Return `Halo` of kernels/halo.cuh."""
    return Struct(reach=np.int32(reach), alone=np.int32(alone), buffer=buffer)


STRUCTS = {"Halo": _halo(0, False, Null(np.uint8))}


class Halo:
    """The ends of a rank's islands, exchanged with the ranks that have its neighbours."""

    def __init__(
        self,
        backend: Backend,
        world: World,
        deal: Deal,
        transport: type[Transport] | None,
        reach: int,
        migrant_bytes: int,
    ) -> None:
        """Allocate `reach` individuals of `migrant_bytes` bytes for each end."""
        self._backend, self._reach = backend, reach
        self._buffer: Array = backend.zeros((4, reach * migrant_bytes), np.uint8)
        self.seen: Array = self._buffer[_FROM_BEFORE:]
        """The individuals before the first and after the last, as kernels read them."""
        self.exchange: RepeatedExchange | None = None
        """The exchange of the ends; None if all islands are on this rank."""
        if len(deal.held(world.rank)) < deal.islands:
            assert transport is not None, "several ranks have found a transport"
            self.exchange = RepeatedExchange(world, backend, transport)
            self._add(deal, world.rank, -1, _TO_BEFORE, _FROM_AFTER)
            self._add(deal, world.rank, 1, _TO_AFTER, _FROM_BEFORE)

    def _add(self, deal: Deal, rank: int, step: int, sent: int, received: int) -> None:
        """Add the messages of one direction, to the islands before or after those of each rank."""

        def source(of: int) -> int:
            held = deal.held(of)
            island = held.stop if step < 0 else held.start - 1
            return deal.sender(island % deal.islands)

        others = [each for each in range(deal.ranks) if source(each) == rank]
        assert self.exchange is not None
        self.exchange.add(
            self._buffer,
            [Parcel(each, sent, sent + 1) for each in others],
            [Parcel(source(rank), received, received + 1)],
        )

    def prepare(self, program: Program, archipelago: Struct) -> None:
        """Bind the kernel to the archipelago's arrays."""
        halo = _halo(self._reach, self.exchange is None, self._buffer)
        self.pack: Call = self._backend.call(
            program, "halo_pack", archipelago, halo, blocks=2 * self._reach
        )
        """The launch that copies the ends, after each generation."""

    def renew(self) -> None:
        """Exchange the current ends, before the next generation; collective."""
        self._backend.run([self.pack])
        if self.exchange is not None:
            self.exchange.run()
