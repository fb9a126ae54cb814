"""A bell that any rank rings and all ranks hear, while each of them is at work on its own."""

from __future__ import annotations

from islands.parallel.world import World


class StopNotice:
    """Rings on all ranks, through rank 0, once one of them has rung it; for one thread of each.

    That thread need not be the one that talks to the other ranks otherwise, so that several threads
    talk at once. Where the MPI library cannot do with that, nobody hears what others ring.
    """

    def __init__(self, world: World) -> None:
        """Hang it; collective."""
        self.rings = False
        self._world, self._channel = world, None
        if world.size == 1 or not world.takes_threads():
            return
        others = range(1, world.size) if world.rank == 0 else (0,)
        sends = dict.fromkeys(others, bytearray(1))
        receives = {rank: bytearray(1) for rank in others}
        self._untold = set(others)
        self._channel = world.channel(world.new_tag(), sends, receives)

    def ring(self) -> None:
        """Let it ring on this rank, and on all others as soon as these listen."""
        self.rings = True
        if self._channel is not None:
            for rank in self._channel.free() & self._untold:
                self._channel.send(rank)
                self._untold.remove(rank)

    def listen(self) -> None:
        """Hear whether another rank has rung."""
        if self._channel is None:
            return
        for rank in self._channel.arrived():
            self._channel.listen(rank)
            self.rings = True
        if self.rings:
            self.ring()  # rank 0 tells those that cannot have heard

    def give_up(self) -> None:
        """Take it down on this rank alone, when something has gone wrong."""
        if self._channel is not None:
            self._channel.give_up()

    def close(self) -> None:
        """Take it down; collective."""
        if self._channel is not None:
            # Ranks may die now as well, which can be survived.
            with self._world.talking():
                self._channel.close()
