"""The loop of ranks that do not wait for each other: rank 0 hears how they are, and decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, fields

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.display.slow import Slow
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch, Moment, Progress
from islands.progress.tally import Tally, summarise
from islands.run.alarm import Alarm, pass_step
from islands.run.epochs import INTERRUPTED, Outcome, Viewer, of_generation_0
from islands.run.pace import Pace
from islands.run.signals import Interruption
from islands.spec.schedule import Schedule
from islands.spec.spec import RunSpec
from islands.spec.stop import first_reason, time_limit

_TAG = 4
_NUMBERS = len(fields(Tally)) + 2  # a tally, the generation, and signals
_NAP_SECONDS = 0.001


def evolve_freely(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    world: World,
    watch: Callable[[Epoch], None],
    interruption: Interruption,
    viewer: Viewer,
) -> Outcome:
    """Run until rank 0 finds a criterion met, or until every rank has done its generations."""
    loop = _Loop(archipelago, spec, problem, world, watch, interruption)
    slow = Slow(archipelago, spec, viewer.say)
    with Alarm(archipelago, interruption, loop.is_late, world, slow):
        archipelago.may_be_partial = True
        world.agreed(archipelago.start)
        loop.look()
        while not loop.is_over:
            if loop.has_done_all():
                loop.rest()
            else:
                loop.pass_epoch()
                loop.look()
    return loop.outcome()


class _Loop:
    def __init__(
        self,
        archipelago: Archipelago,
        spec: RunSpec,
        problem: Problem,
        world: World,
        watch: Callable[[Epoch], None],
        interruption: Interruption,
    ) -> None:
        self._archipelago, self._spec, self._problem = archipelago, spec, problem
        self._world, self._watch, self._interruption = world, watch, interruption
        self._schedule, self._limit = Schedule.of(spec), time_limit(spec.stop)
        self._rows = np.zeros((world.size, _NUMBERS), np.int64)
        """What is known of each rank: on rank 0 of all, elsewhere of itself."""
        self._known = {world.rank}
        self._leads = world.rank == 0
        # What is on its way must be left alone, while the rows go on. What rank 0 sends says only,
        # by being sent, that the run is over.
        self._letters = np.zeros((world.size, _NUMBERS), np.int64)
        others = range(1, world.size)
        if self._leads:
            sends = dict.fromkeys(others, self._letters[0])
            receives = {rank: self._letters[rank] for rank in others}
        else:
            sends, receives = {0: self._letters[world.rank]}, {0: self._letters[0]}
        self._channel = world.channel(_TAG, sends, receives)
        self._began = time.perf_counter()
        self._before: Progress | None = None
        self._before_all: Progress | None = None
        self._pace = Pace(spec)
        self._reason: str | None = None
        self._has_news = False
        self.is_over = False
        """Whether rank 0 has said so."""

    def is_late(self) -> bool:
        """Return whether the time is over; for any thread."""
        return self._seconds() >= self._limit

    def look(self) -> None:
        """Measure and tell rank 0, which decides for all."""
        measures, arrivals = self._archipelago.measure(), self._archipelago.arrivals()
        generation, seconds = self._archipelago.generation, self._seconds()
        self._rows[self._world.rank, :-1] = [*astuple(Tally.of(measures)), generation]
        own = self._together(self._rows[sorted(self._known)], generation, seconds, self._before)
        self._pace.met(self._before, generation, seconds)
        self._watch(Epoch(measures, arrivals, own))
        self._before = own
        self._has_news = True
        self._confer()

    def rest(self) -> None:
        """Wait a little for ranks that are not so far."""
        time.sleep(_NAP_SECONDS)
        self._confer()

    def _confer(self) -> None:
        """Let rank 0 know of this rank; there, hear of the others and decide."""
        signals = self._interruption.requested
        self._has_news |= signals != self._rows[self._world.rank, -1]
        self._rows[self._world.rank, -1] = signals
        self._listen()
        if self._leads:
            self._decide(self._rows[sorted(self._known)], self._seconds())
        elif self._has_news and 0 in self._channel.free():
            # While a letter is on its way, the next one waits.
            self._letters[self._world.rank] = self._rows[self._world.rank]
            self._channel.send(0)
            self._has_news = False

    def _decide(self, rows: NDArray[np.int64], seconds: float) -> None:
        is_called = bool(rows[:, -1].any())
        if len(rows) < self._world.size and seconds < self._limit and not is_called:
            return  # who has not been heard of may be far behind
        slowest = int(rows[:, -2].min())
        progress = self._together(rows, slowest, seconds, self._before_all)
        self._before_all = progress
        self._reason = INTERRUPTED if is_called else first_reason(self._spec.stop, progress)
        if self._reason is not None:
            self.is_over = True
            for rank in self._channel.free():
                self._channel.send(rank)

    def pass_epoch(self) -> None:
        """Pass the generations up to the next visit, and migrate; or fewer where it is over."""
        visit = self._schedule.next_visit(self._archipelago.generation)
        while True:
            step = min(self._pace.step, visit - self._archipelago.generation)
            long = self._archipelago.may_take_long and self._pace.may_be_slow(
                self._archipelago.generation, step
            )
            if not pass_step(self._archipelago, step, may_take_long=long):
                self._archipelago.withdraw()
                return
            if self._archipelago.generation == visit:
                break
            self._archipelago.wait()
            self._listen()
            is_late = self._leads and self._seconds() >= self._limit
            is_called = self._interruption.requested or self._rows[:, -1].any()
            if self.is_over or is_late or is_called:
                return
        if self._schedule.migrates(visit):
            self._archipelago.migrate()

    def has_done_all(self) -> bool:
        """Return whether this rank has passed the last generation."""
        last = self._schedule.last
        return last is not None and self._archipelago.generation >= last

    def outcome(self) -> Outcome:
        """Return how it ended, the same on every rank; collective."""
        self._channel.close()
        self._archipelago.finish()
        rows = self._world.share(self._rows[self._world.rank])
        seconds = self._world.bcast(self._seconds())
        progress = self._together(rows, int(rows[:, -2].min()), seconds, None)
        reason = self._world.bcast(self._reason or "")
        if progress.generation == 0 and self._world.any(self._archipelago.is_partial):
            reason = f"{reason}; {of_generation_0(progress)}"
        interrupted = bool(rows[:, -1].any())
        moment = Moment(progress.generation, seconds, self._before)
        return Outcome(progress, reason, moment, interrupted=interrupted)

    def _listen(self) -> None:
        for rank in self._channel.arrived():
            if self._leads:
                self._known.add(rank)
                self._rows[rank] = self._letters[rank]
            else:
                self.is_over = True
            self._channel.listen(rank)

    def _together(
        self, rows: NDArray[np.int64], generation: int, seconds: float, before: Progress | None
    ) -> Progress:
        """Return where the ranks of these rows stand."""
        tally = Tally.together([Tally(*row[:-2]) for row in rows.tolist()])
        population = self._spec.general.population
        return summarise(tally, generation, seconds, population, self._problem, before)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began
