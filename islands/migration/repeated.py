"""Exchanges of the same rows of arrays between the same ranks in every generation."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Call, CompiledProgram
from islands.migration.ranks import Ranks
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import Deal, PersistentMessages, World

_TO_BEFORE, _TO_AFTER, _FROM_BEFORE, _FROM_AFTER = range(4)


class RepeatedExchange:
    """Messages between ranks, from rows of arrays to the same rows of other ranks' arrays."""

    def __init__(self, world: World, backend: Backend, transport: type[Transport]) -> None:
        self._world, self._backend, self._transport = world, backend, transport
        self._carriers: list[tuple[Transport, Sequence[Parcel], Sequence[Parcel]]] = []
        self._messages: list[PersistentMessages] = []
        self.seconds = 0.0
        """The time of the messages, including waiting for other ranks."""

    def add(self, rows: Array, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Add rows of bytes to send and receive; all ranks add their arrays in the same order."""
        carrier = self._transport(self._world, self._backend, rows)
        self._carriers.append((carrier, sends, receives))
        self._messages.append(
            self._world.persistent(
                [(parcel.rank, carrier.memory(parcel)) for parcel in sends],
                [(parcel.rank, carrier.memory(parcel)) for parcel in receives],
                self._world.new_tag(),
            )
        )

    def run(self, *others: RepeatedExchange) -> None:
        """When all earlier launches have ended, send the rows and receive others; collective.

        The `others`, exchanges between the same ranks, run at the same time.
        """
        exchanges = (self, *others)
        carriers = [carrier for exchange in exchanges for carrier in exchange._carriers]
        messages = [message for exchange in exchanges for message in exchange._messages]
        for carrier, sends, _ in carriers:
            carrier.stage(sends)
        self._backend.synchronise()
        began = time.perf_counter()
        for message in messages:
            message.start()
        for message in messages:
            message.wait()
        self.seconds += time.perf_counter() - began
        for carrier, _, receives in carriers:
            carrier.unstage(receives)


def _halo(reach: int, alone: bool, buffer: Array) -> Struct:
    """Return `Halo` of kernels/halo.cuh."""
    return Struct(reach=np.int32(reach), alone=np.int32(alone), buffer=buffer)


STRUCTS = {"Halo": _halo(0, False, Null(np.uint8))}
"""A sample of the struct, which the compiler compares with that of the kernels."""


class Halo:
    """The halo of a rank's islands, if islands are slices of one population, in a ring.

    In each generation, a rank sends copies of its first and last individuals to the ranks with the
    previous and next islands, and receives theirs.
    """

    def __init__(self, backend: Backend, ranks: Ranks, reach: int, migrant_bytes: int) -> None:
        """Allocate `reach` individuals of `migrant_bytes` bytes for each end."""
        deal, rank = ranks.deal, ranks.world.rank
        self._backend, self._reach = backend, reach
        self._buffer: Array = backend.zeros((4, reach * migrant_bytes), np.uint8)
        self.adjacent: Array = self._buffer[_FROM_BEFORE:]
        """The individuals before the first and after the last, as kernels read them."""
        self.exchange: RepeatedExchange | None = None
        """The exchange of the ends; None if all islands are on this rank."""
        if len(ranks.held) < deal.islands:
            assert ranks.transport is not None, "several ranks have a transport"
            self.exchange = RepeatedExchange(ranks.world, backend, ranks.transport)
            self._add(deal, rank, -1, _TO_BEFORE, _FROM_AFTER)
            self._add(deal, rank, 1, _TO_AFTER, _FROM_BEFORE)

    def _add(self, deal: Deal, rank: int, step: int, sent: int, received: int) -> None:
        """Add the messages of one direction: to the previous (-1) or the next (1) islands."""

        def source(of: int) -> int:
            held = deal.held(of)
            island = held.stop if step < 0 else held.start - 1
            return deal.sender(island % deal.islands)

        others = [other for other in range(deal.ranks) if source(other) == rank]
        assert self.exchange is not None
        self.exchange.add(
            self._buffer,
            [Parcel(other, sent, sent + 1) for other in others],
            [Parcel(source(rank), received, received + 1)],
        )

    def prepare(self, program: CompiledProgram, archipelago: Struct) -> None:
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
