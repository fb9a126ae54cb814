"""Generations that can be undone if they are abandoned before they are complete."""

import threading

import numpy as np

from islands.archipelago.team import Team
from islands.backends.base import Array, Backend
from islands.backends.state import IslandArrays


class Halt:
    """A request to abandon generations, in two words on the device.

    A request sets the first word only while the halt is armed; an earlier request takes effect when
    it is armed. A block that obeys sets the second word. `disarm` clears a request that was obeyed.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.words: Array = backend.zeros((2,), np.int32)
        self._lock = threading.Lock()
        self._was_requested = self._is_armed = self._host_abandoned = False

    def request(self) -> None:
        """Request the halt; any thread may call this, even while kernels run."""
        with self._lock:
            if self._is_armed and not self._was_requested:
                self._backend.poke(self.words)
            self._was_requested = True

    def arm(self) -> None:
        """Allow later launches to abandon generations."""
        with self._lock:
            self._is_armed = True
            if self._was_requested:
                self._backend.poke(self.words)

    def forget(self) -> None:
        """Clear a request that others have obeyed; the halt must not be armed."""
        with self._lock:
            self._was_requested = False

    def is_requested(self) -> bool:
        """Return whether the host must abandon its work; the caller must then do it."""
        with self._lock:
            self._host_abandoned = self._is_armed and self._was_requested
            return self._host_abandoned

    def disarm(self) -> bool:
        """Disarm the halt after all launches; return whether the host or a block abandoned work."""
        with self._lock:
            self._is_armed = False
            if not self._was_requested:
                return False
            abandoned = self._host_abandoned or bool(self._backend.download(self.words)[1])
            self._backend.upload(np.zeros(2, np.int32), self.words)
            self._host_abandoned = False
            self._was_requested = not abandoned
            return abandoned


_WORSE = 2  # keeps the lowest bit, which marks infeasible solutions


class Attempt:
    """The generations in progress on one rank, which can be undone."""

    def __init__(self, backend: Backend, state: IslandArrays, team: Team | None = None) -> None:
        """Take the `team` that shares the islands: all members abandon a generation, or none."""
        self._backend, self._state, self._team = backend, state, team
        self.halt = Halt(backend)
        self._from = 0
        self.ahead = range(0)
        """The generations in progress."""

    def start(self, *, may_be_partial: bool) -> None:
        """Begin generation 0, which has no previous generation."""
        self.ahead = range(1)
        if may_be_partial:
            self.halt.arm()

    def rank_missing_last(self) -> None:
        """Rank the individuals missing from generation 0 below all others.

        They are never used, so their genes, which may take gigabytes, are not written.
        """
        is_made = self._backend.download(self._state.arrays["calls"]) > 0
        cost = self._state.part("cost", 0)
        costs = self._backend.download(cost)
        costs[~is_made] = costs[is_made].max() + _WORSE
        self._backend.upload(costs, cost)

    def begin(self, generation: int, generations: int) -> None:
        """Begin `generations` generations after `generation`; copy what they overwrite."""
        self._from = generation
        self._state.remember(generation, wholly=generations > 1)
        self.ahead = range(generation + 1, generation + 1 + generations)
        self.halt.arm()

    def is_complete(self) -> bool:
        """Wait for the device; return whether the generations are complete."""
        self._backend.synchronise()  # a halt may be requested until here
        is_complete = not self.halt.disarm()
        self.ahead = range(0)
        if self._team is None or self._team.agrees(is_complete):
            return is_complete
        self.halt.forget()  # this rank may have completed its share before the request
        return False

    def undo(self) -> int:
        """Restore the islands as they were at `begin`, and return their generation."""
        self._state.recall(self._from)
        return self._from

    def new_individuals(self) -> int:
        """Return the number of new individuals in the generations `ahead`; thread-safe.

        With several generations, it is the number of slots with a new individual.
        """
        ahead, calls = self.ahead, self._backend.peek(self._state.arrays["calls"])
        if 0 in ahead or not ahead:  # the generations may just have been completed
            return int((calls > 0).sum())
        return int((calls != self._backend.peek(self._state.remembered("calls"))).sum())
