"""Messages between ranks that do not wait for each other, at most one in flight to each rank.

Newer data must wait while a message is in flight, and are lost if even newer ones replace them.
"""

import time
from collections.abc import Mapping
from typing import Any

_POLL_SECONDS = 0.0002


class Channel:
    """Sends the arrays in `sends` to other ranks, and receives theirs in `receives`."""

    def __init__(
        self, communicator: Any, tag: int, sends: Mapping[int, Any], receives: Mapping[int, Any]
    ) -> None:
        """Begin to listen; arrays are given by rank, and used until `close`."""
        self._communicator, self._tag = communicator, tag
        self._sends, self._receives = sends, receives
        self._sending: dict[int, Any] = {}
        self._receiving: dict[int, Any] = {}
        for rank in receives:
            self.listen(rank)

    def free(self) -> set[int]:
        """Return the ranks whose last message is complete; its array may be overwritten."""
        self._sending = {
            rank: request for rank, request in self._sending.items() if not request.Test()
        }
        return set(self._sends) - set(self._sending)

    def send(self, rank: int) -> None:
        """Begin to send the current array to a rank that is `free`."""
        self._sending[rank] = self._communicator.Isend(self._sends[rank], rank, self._tag)

    def arrived(self) -> list[int]:
        """Return the ranks whose message has arrived; afterwards, `listen` to them again."""
        from mpi4py import MPI

        arrived = []
        for rank, request in list(self._receiving.items()):
            status = MPI.Status()
            if request.Test(status):
                del self._receiving[rank]
                if status.Get_count(MPI.BYTE) > 0:  # an empty message is the last one
                    arrived.append(rank)
        return arrived

    def listen(self, rank: int) -> None:
        """Begin to receive from a rank; its previous message is overwritten."""
        self._receiving[rank] = self._communicator.Irecv(self._receives[rank], rank, self._tag)

    def close(self) -> None:
        """Announce the end to all ranks, and wait until they have done the same."""
        uninformed = set(self._sends)
        while uninformed or self._sending or self._receiving:
            for rank in self.free() & uninformed:
                # An empty message is the last one.
                self._sending[rank] = self._communicator.Isend(b"", rank, self._tag)
                uninformed.remove(rank)
            for rank in self.arrived():
                self.listen(rank)
            time.sleep(_POLL_SECONDS)

    def cancel(self) -> None:
        """Cancel all receives."""
        for request in self._receiving.values():
            request.Cancel()
            request.Wait()
        self._receiving = {}
