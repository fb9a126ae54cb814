"""Generations that may be given up: what they write over is kept until they are whole."""

from __future__ import annotations

from islands.archipelago.halt import Halt
from islands.backends.base import Backend
from islands.backends.state import State

_WORSE = 2  # with the same mark, of problems that have infeasible solutions


class Attempt:
    """The generations that the islands of one rank are at work on, and how to take them back."""

    def __init__(self, backend: Backend, state: State) -> None:
        self._backend, self._state = backend, state
        self.halt = Halt(backend)
        self._from = 0
        self.ahead = range(0)
        """The generations that are being made."""

    def start(self, *, may_be_left: bool) -> None:
        """Begin generation 0, before which there is nothing."""
        self.ahead = range(1)
        if may_be_left:
            self.halt.arm()

    def leave_out(self) -> None:
        """Let the individuals of generation 0 that were not made be worse than all that were.

        Nobody goes on from them, so that their genes, which may be gigabytes, are never written.
        """
        made = self._backend.download(self._state.arrays["calls"]) > 0
        cost = self._state.part("cost", 0)
        costs = self._backend.download(cost)
        costs[~made] = costs[made].max() + _WORSE
        self._backend.upload(costs, cost)

    def begin(self, generation: int, generations: int) -> None:
        """Begin so many generations after this one, and keep what they will write over."""
        self._from = generation
        self._state.remember(generation, wholly=generations > 1)
        self.ahead = range(generation + 1, generation + 1 + generations)
        self.halt.arm()

    def is_whole(self) -> bool:
        """Wait for the end; return whether nobody has left out anything."""
        self._backend.synchronise()  # as long as it may be told to leave
        was_left = self.halt.disarm()
        self.ahead = range(0)
        return not was_left

    def withdraw(self) -> int:
        """Take back all, and return the generation that the islands stand at again."""
        self._state.recall(self._from)
        return self._from

    def made(self) -> int:
        """Return how many individuals have been made of the generations `ahead`; for any thread.

        Of several generations, it is those that have been in any of them.
        """
        ahead, calls = self.ahead, self._backend.peek(self._state.arrays["calls"])
        if 0 in ahead or not ahead:  # they may just have become whole
            return int((calls > 0).sum())
        return int((calls != self._backend.peek(self._state.remembered("calls"))).sum())
