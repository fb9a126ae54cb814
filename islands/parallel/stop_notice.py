"""Forward a request to stop from one rank to all others."""

from islands.parallel.world import World


class StopNotice:
    """A stop request that rank 0 forwards to all ranks; for one thread of each rank.

    As other threads may exchange messages at the same time, requests are only forwarded if the MPI
    library supports several threads.
    """

    def __init__(self, world: World) -> None:
        """Open the channel for requests; collective."""
        self.is_requested = False
        self._channel = None
        if world.size == 1 or not world.takes_threads():
            return
        peers = range(1, world.size) if world.rank == 0 else (0,)
        sends = dict.fromkeys(peers, bytearray(1))
        receives = {rank: bytearray(1) for rank in peers}
        self._uninformed = set(peers)
        self._channel = world.channel(world.new_tag(), sends, receives)

    def request(self) -> None:
        """Request a stop on this rank, and on all others as soon as they listen."""
        self.is_requested = True
        if self._channel is not None:
            for rank in self._channel.free() & self._uninformed:
                self._channel.send(rank)
                self._uninformed.remove(rank)

    def listen(self) -> None:
        """Receive a request of another rank, if there is one."""
        if self._channel is None:
            return
        for rank in self._channel.arrived():
            self._channel.listen(rank)
            self.is_requested = True
        if self.is_requested:
            self.request()  # rank 0 forwards it to the other ranks

    def cancel(self) -> None:
        """Stop listening on this rank only, after an error."""
        if self._channel is not None:
            self._channel.cancel()

    def close(self) -> None:
        """Close the channel; collective."""
        if self._channel is not None:
            self._channel.close()
