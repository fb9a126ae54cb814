"""An exchange of rows between ranks that is repeated: the same messages in each generation."""

from __future__ import annotations

import time
from collections.abc import Sequence

from islands.backends.base import Array, Backend
from islands.migration.route import Parcel
from islands.migration.transport import Transport
from islands.parallel import Standing, World


class RepeatedExchange:
    """Messages between ranks, from rows of arrays to the same rows of other ranks' arrays."""

    def __init__(self, world: World, backend: Backend, transport: type[Transport]) -> None:
        self._world, self._backend, self._transport = world, backend, transport
        self._parts: list[tuple[Transport, Sequence[Parcel], Sequence[Parcel]]] = []
        self._messages: list[Standing] = []
        self.seconds = 0.0
        """The time of the messages, with the time in which ranks waited for each other."""

    def add(self, rows: Array, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        """Add rows of bytes to send and to receive; every rank adds the same arrays in turn."""
        carrier = self._transport(self._world, self._backend, rows)
        self._parts.append((carrier, sends, receives))
        self._messages.append(
            self._world.standing(
                [(each.rank, carrier.memory(each)) for each in sends],
                [(each.rank, carrier.memory(each)) for each in receives],
                self._world.new_tag(),
            )
        )

    def run(self, *others: RepeatedExchange) -> None:
        """Send the rows as all earlier launches leave them, and receive others; collective.

        `others` of the same ranks run at the same time.
        """
        together = (self, *others)
        for each in together:
            for carrier, sends, _ in each._parts:
                carrier.stage(sends)
        self._backend.synchronise()
        began = time.perf_counter()
        messages = [message for each in together for message in each._messages]
        for message in messages:
            message.start()
        for message in messages:
            message.wait()
        self.seconds += time.perf_counter() - began
        for each in together:
            for carrier, _, receives in each._parts:
                carrier.unstage(receives)
