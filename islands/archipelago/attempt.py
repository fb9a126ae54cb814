"""Generations that may be abandoned: what they overwrite is kept until they are complete."""

from __future__ import annotations

from islands.archipelago.halt import Halt
from islands.archipelago.team import Team
from islands.backends.base import Backend
from islands.backends.state import State

_WORSE = 2  # keeps the lowest bit, which marks infeasible solutions


class Attempt:
    """The generations in progress on one rank, which can be undone."""

    def __init__(self, backend: Backend, state: State, team: Team | None = None) -> None:
        """Let a `team` that shares the island agree whether to abandon generations."""
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

    def leave_out(self) -> None:
        """Make the individuals missing from generation 0 worse than all others.

        They are never used, so their genes, which may take gigabytes, are not written.
        """
        is_made = self._backend.download(self._state.arrays["calls"]) > 0
        cost = self._state.part("cost", 0)
        costs = self._backend.download(cost)
        costs[~is_made] = costs[is_made].max() + _WORSE
        self._backend.upload(costs, cost)

    def begin(self, generation: int, generations: int) -> None:
        """Begin `generations` generations after `generation`, and keep what they overwrite."""
        self._from = generation
        self._state.remember(generation, wholly=generations > 1)
        self.ahead = range(generation + 1, generation + 1 + generations)
        self.halt.arm()

    def is_whole(self) -> bool:
        """Wait for the end; return whether the generations are complete."""
        self._backend.synchronise()  # a halt may be requested until here
        is_whole = not self.halt.disarm()
        self.ahead = range(0)
        if self._team is None or self._team.agrees(is_whole):
            return is_whole
        self.halt.forget()  # this rank may have completed its share before the request
        return False

    def undo(self) -> int:
        """Restore the islands as they were at `begin`, and return their generation."""
        self._state.recall(self._from)
        return self._from

    def made(self) -> int:
        """Return the number of individuals made in the generations `ahead`; for any thread.

        With several generations, an individual counts if any of them has made it.
        """
        ahead, calls = self.ahead, self._backend.peek(self._state.arrays["calls"])
        if 0 in ahead or not ahead:  # the generations may just have been completed
            return int((calls > 0).sum())
        return int((calls != self._backend.peek(self._state.remembered("calls"))).sum())
