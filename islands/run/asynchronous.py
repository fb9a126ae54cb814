"""The loop of ranks that do not wait for each other: they report to rank 0, which decides.

If ranks share islands, the first rank of each team does this, and the others do what it does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.configuration.spec import RunSpec
from islands.configuration.stop import first_reason, time_limit
from islands.display.messages import Slow
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress import usage
from islands.progress.progress import (
    INTERRUPTED,
    Epoch,
    Moment,
    Outcome,
    Progress,
    size_of_generation_0,
)
from islands.progress.tally import StopRequests, Tally
from islands.run.loop import Epochs
from islands.run.observers import Observer
from islands.run.signals import OUTPUT_LOST, UNWRITABLE, Alarm, Interruption, suspension

_TAG = 4
_NUMBERS = len(fields(Tally)) + 2  # a tally, the generation, and signals
_NAP_SECONDS = 0.001
_SHORT, _LONG, _MIGRATE, _END = "advance", "attempt", "migrate", "end"


def evolve_asynchronous(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    world: World,
    interruption: Interruption,
    observers: Sequence[Observer],
    say: Callable[[str], None],
) -> Outcome:
    """Run until rank 0 finds a criterion satisfied, or every rank has done its generations."""
    began, limit = time.perf_counter(), time_limit(spec.stop)
    slow = Slow(archipelago, spec, say, problem.evaluation.name)
    loop: _AsynchronousLoop | None = None
    if archipelago.mine:
        evolution = (archipelago, spec, problem, archipelago.firsts or world, interruption)
        loop = _AsynchronousLoop(*evolution, observers)
    with Alarm(
        archipelago, interruption, lambda: time.perf_counter() - began >= limit, world, slow
    ):
        archipelago.may_be_partial = True
        world.run_on_all(archipelago.start)
        if loop is None:
            _follow(archipelago)
        else:
            loop.run()
    outcome = None if loop is None else loop.outcome()
    if archipelago.team is not None:
        outcome = archipelago.team.bcast(outcome)
    assert outcome is not None, "the first rank of a team has a loop"
    return outcome


def _follow(archipelago: Archipelago) -> None:
    """Do what the first rank of the team does until it ends."""
    assert archipelago.team is not None
    while True:
        order, generations = archipelago.team.bcast((_END, 0))
        if order == _END:
            return
        if order == _MIGRATE:
            archipelago.migrate()
        elif order == _SHORT:
            archipelago.advance(generations)
        elif not archipelago.attempt(generations):
            archipelago.undo()


class _AsynchronousLoop(Epochs):
    """The loop of a rank that does not wait for others."""

    def __init__(
        self,
        archipelago: Archipelago,
        spec: RunSpec,
        problem: Problem,
        world: World,
        interruption: Interruption,
        observers: Sequence[Observer],
    ) -> None:
        super().__init__(archipelago, spec, problem, world, interruption)
        self._observers = observers
        self._rows = np.zeros((world.size, _NUMBERS), np.int64)
        """The latest numbers of each rank; ranks above 0 have only their own."""
        self._known = {world.rank}
        self._leads = world.rank == 0
        # A message in flight must not change, while the rows do. A message from rank 0 has no
        # content: it means that the run is over.
        self._messages = np.zeros((world.size, _NUMBERS), np.int64)
        others = range(1, world.size)
        if self._leads:
            sends = dict.fromkeys(others, self._messages[0])
            receives = {rank: self._messages[rank] for rank in others}
        else:
            sends, receives = {0: self._messages[world.rank]}, {0: self._messages[0]}
        self._channel = world.channel(_TAG, sends, receives)
        self._before_all: Progress | None = None
        self._reason: str | None = None
        self._has_news = False
        self.is_over = False
        """Whether rank 0 has ended the run."""

    def run(self) -> None:
        """Run until rank 0 ends the run; wait for slower ranks after the last generation."""
        self.look()
        last = self._visits.last
        while not self.is_over:
            if last is not None and self._archipelago.generation >= last:
                self.rest()
            else:
                self.run_epoch()
                self.look()
        self._tell(_END)

    def look(self) -> None:
        """Measure, and report to rank 0, which decides for all ranks."""
        measures, arrivals = self._archipelago.measure(), self._archipelago.arrivals()
        self.phases.lap(usage.GENERATIONS)
        generation, seconds = self._archipelago.generation, self._seconds()
        self._rows[self._world.rank, :-1] = [*astuple(Tally.of(measures)), generation]
        own = self._progress_of(self._rows[sorted(self._known)], generation, seconds, self._before)
        self._pace.epoch_ended(self._before, generation, seconds)
        for each in self._observers:
            each.epoch(Epoch(measures, arrivals, own))
        self.phases.lap(usage.RECORDS)
        self._before = own
        self._has_news = True
        self._share_numbers()
        self.phases.lap(usage.RANKS)

    def rest(self) -> None:
        """Wait briefly for slower ranks."""
        time.sleep(_NAP_SECONDS)
        self._share_numbers()
        self.phases.lap(usage.RANKS)

    def _share_numbers(self) -> None:
        """Send this rank's numbers to rank 0; on rank 0, receive those of others and decide."""
        signals = self._interruption.requested
        self._has_news |= signals != self._rows[self._world.rank, -1]
        self._rows[self._world.rank, -1] = signals
        self._listen()
        if self._leads:
            self._decide(self._rows[sorted(self._known)], self._seconds())
        elif self._has_news and 0 in self._channel.free():
            # While a message is in flight, the next one waits.
            self._messages[self._world.rank] = self._rows[self._world.rank]
            self._channel.send(0)
            self._has_news = False

    def _decide(self, rows: NDArray[np.int64], seconds: float) -> None:
        is_stopped = bool(rows[:, -1].any())
        if len(rows) < self._world.size and seconds < self._limit and not is_stopped:
            return  # a rank that has not reported yet may be far behind
        slowest = int(rows[:, -2].min())
        progress = self._progress_of(rows, slowest, seconds, self._before_all)
        self._before_all = progress
        self._reason = self._stopped_by(rows) or first_reason(self._spec.stop, progress)
        if self._reason is not None:
            self.is_over = True
            for rank in self._channel.free():
                self._channel.send(rank)

    @staticmethod
    def _stopped_by(rows: NDArray[np.int64]) -> str | None:
        signals = int(np.bitwise_or.reduce(rows[:, -1]))
        if signals & (OUTPUT_LOST | UNWRITABLE):
            return suspension(signals & (OUTPUT_LOST | UNWRITABLE))
        return INTERRUPTED if signals else None

    def _advance(self, generations: int, *, long: bool) -> bool:
        self._tell(_LONG if long else _SHORT, generations)
        return super()._advance(generations, long=long)

    def _migrate(self) -> None:
        self._tell(_MIGRATE)
        super()._migrate()

    def _tell(self, order: str, generations: int = 0) -> None:
        """Let the other ranks of the team do what this rank does."""
        if self._archipelago.team is not None:
            self._archipelago.team.bcast((order, generations))

    def _requests(self, *, is_complete: bool = True) -> StopRequests:
        """Return what may end the run as far as this rank knows."""
        self._listen()
        signals = self._interruption.requested | int(self._rows[:, -1].any() or self.is_over)
        seconds = self._seconds() if self._leads else 0.0  # rank 0 decides by its own clock
        return StopRequests(signals, seconds, is_complete)

    def _may_be_spent(self) -> bool:
        return False  # rank 0 counts the evaluations of all ranks at its visits

    def outcome(self) -> Outcome:
        """Return how the run ended, the same on every rank; collective."""
        self._channel.close()
        self._archipelago.finish()
        rows = self._world.allgather_numbers(self._rows[self._world.rank])
        seconds = self._world.bcast(self._seconds())
        progress = self._progress_of(rows, int(rows[:, -2].min()), seconds, None)
        reason = self._world.bcast(self._reason or "")
        if progress.generation == 0 and self._world.any(self._archipelago.is_partial):
            reason = f"{reason}; {size_of_generation_0(progress)}"
        interrupted = bool(rows[:, -1].any())
        moment = Moment(progress.generation, seconds, self._before)
        return Outcome(
            progress,
            reason,
            moment,
            interrupted=interrupted,
            phases=usage.with_team(self.phases.seconds, self._archipelago.team_seconds),
        )

    def _listen(self) -> None:
        for rank in self._channel.arrived():
            if self._leads:
                self._known.add(rank)
                self._rows[rank] = self._messages[rank]
            else:
                self.is_over = True
            self._channel.listen(rank)

    def _progress_of(
        self, rows: NDArray[np.int64], generation: int, seconds: float, before: Progress | None
    ) -> Progress:
        """Return the combined progress of the ranks in these rows."""
        tally = Tally.merged([Tally(*row[:-2]) for row in rows.tolist()])
        return self._progress(tally, generation, seconds, before)
