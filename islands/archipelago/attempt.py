"""Generations that may be given up: what they write over is kept until they are whole."""

from __future__ import annotations

import numpy as np

from islands.archipelago.halt import Halt
from islands.archipelago.measure import NONE
from islands.backends.base import Backend
from islands.backends.state import State


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

    def fill_up(self) -> None:
        """Let the best individual that was made of generation 0 stand for all that were not."""
        made = self._backend.download(self._state.arrays["calls"]) > 0
        cost, genes = (self._state.part(name, 0) for name in ("cost", "genes"))
        costs = np.where(made, self._backend.download(cost), NONE)
        rows = self._backend.read(genes)
        best = np.unravel_index(np.argmin(costs), costs.shape)
        rows[~made], costs[~made] = rows[best], costs[best]
        self._backend.upload(rows, genes)
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
