"""Messages between ranks that do not wait for each other: the latest news, one on its way a pair.

Who has something newer to say while a message is on its way says it later, or never. Both sides
have to `close` a channel, which takes in what is still on its way.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

_NAP_SECONDS = 0.0002


class Channel:
    """What this rank sends to others from `sends`, and receives from others in `receives`."""

    def __init__(
        self, communicator: Any, tag: int, sends: Mapping[int, Any], receives: Mapping[int, Any]
    ) -> None:
        """Listen; the arrays, by rank, stay the same until the end."""
        self._communicator, self._tag = communicator, tag
        self._sends, self._receives = sends, receives
        self._leaving: dict[int, Any] = {}
        self._arriving: dict[int, Any] = {}
        for rank in receives:
            self.listen(rank)

    def free(self) -> set[int]:
        """Return the ranks whose last message is gone, so that it may be written anew."""
        self._leaving = {
            rank: request for rank, request in self._leaving.items() if not request.Test()
        }
        return set(self._sends) - set(self._leaving)

    def send(self, rank: int) -> None:
        """Begin to send to a rank that is `free` what its array holds now."""
        self._leaving[rank] = self._communicator.Isend(self._sends[rank], rank, self._tag)

    def arrived(self) -> list[int]:
        """Return the ranks whose message has come; afterwards, `listen` to them again."""
        return [rank for rank, words in self._heard() if words]

    def listen(self, rank: int) -> None:
        """Begin to receive from a rank; what it said before has been read."""
        self._arriving[rank] = self._communicator.Irecv(self._receives[rank], rank, self._tag)

    def close(self) -> None:
        """Say that nothing more will come, and wait until all others have said so."""
        farewells = set(self._sends)
        while farewells or self._leaving or self._arriving:
            for rank in self.free() & farewells:
                # An empty message is the last.
                self._leaving[rank] = self._communicator.Isend(b"", rank, self._tag)
                farewells.remove(rank)
            for rank in self.arrived():
                self.listen(rank)
            time.sleep(_NAP_SECONDS)

    def give_up(self) -> None:
        """Receive no more, whatever the others do."""
        for request in self._arriving.values():
            request.Cancel()
            request.Wait()
        self._arriving = {}

    def _heard(self) -> list[tuple[int, bool]]:
        from mpi4py import MPI

        heard = []
        for rank, request in list(self._arriving.items()):
            status = MPI.Status()
            if request.Test(status):
                del self._arriving[rank]
                heard.append((rank, status.Get_count(MPI.BYTE) > 0))
        return heard
