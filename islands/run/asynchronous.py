"""The loop of ranks that do not wait for each other: rank 0 hears how they are, and decides."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, fields

import numpy as np
from numpy.typing import NDArray

from islands.archipelago import Archipelago
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.epochs import Epoch, Moment, Outcome, step_after
from islands.run.schedule import Schedule
from islands.run.signals import Interruption
from islands.run.spec import RunSpec
from islands.run.stop import Progress, first_reason, time_limit
from islands.run.tally import Tally, summarise

_TAG = 4
_NUMBERS = len(fields(Tally)) + 2  # a tally, the generation, and signals
_NAP_SECONDS = 0.001
_INTERRUPTED = "interrupted by a signal"


def evolve_freely(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    world: World,
    watch: Callable[[Epoch], None],
    interruption: Interruption,
    origin: Moment | None = None,
) -> Outcome:
    """Run until rank 0 finds a criterion met, or until every rank has done its generations.

    From the start, or from a restored `origin`.
    """
    loop = _Loop(archipelago, spec, problem, world, watch, interruption, origin)
    if origin is None:
        archipelago.start()
    loop.look()
    while not loop.is_over():
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
        origin: Moment | None,
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
        self._began = time.perf_counter() - (origin.seconds if origin is not None else 0.0)
        self._before = origin.before if origin is not None else None
        self._before_all: Progress | None = None
        self._step = 1
        self._reason: str | None = None
        self._is_told = False

    def look(self) -> None:
        """Measure, tell rank 0, and there decide for all."""
        measures, arrivals = self._archipelago.measure(), self._archipelago.arrivals()
        generation, seconds = self._archipelago.generation, self._seconds()
        signals = self._interruption.requested
        self._rows[self._world.rank] = [*astuple(Tally.of(measures)), generation, signals]
        self._listen()
        if not self._leads:
            self._write(is_urgent=bool(signals))
        rows = self._rows[sorted(self._known)]
        own = self._together(rows, generation, seconds, self._before)
        self._step = step_after(self._before, generation, seconds)
        self._watch(Epoch(measures, arrivals, own))
        self._before = own
        if self._leads and self._reason is None:
            self._decide(rows, seconds)

    def _write(self, *, is_urgent: bool) -> None:
        """Tell rank 0 how this rank is, unless the letter before is still on its way."""
        while 0 not in self._channel.free():
            if not is_urgent:
                return
            time.sleep(_NAP_SECONDS)
        self._letters[self._world.rank] = self._rows[self._world.rank]
        self._channel.send(0)

    def _decide(self, rows: NDArray[np.int64], seconds: float) -> None:
        slowest = int(rows[:, -2].min())
        progress = self._together(rows, slowest, seconds, self._before_all)
        self._before_all = progress
        self._reason = first_reason(self._spec.stop, progress)
        if rows[:, -1].any():
            self._reason = _INTERRUPTED
        if self._reason is not None:
            self._is_told = True
            for rank in self._channel.free():
                self._channel.send(rank)

    def pass_epoch(self) -> None:
        """Pass the generations up to the next visit, and migrate; or fewer where it is over."""
        visit = self._schedule.next_visit(self._archipelago.generation)
        while True:
            self._archipelago.advance(min(self._step, visit - self._archipelago.generation))
            if self._archipelago.generation == visit:
                break
            self._archipelago.wait()
            self._listen()
            is_late = self._leads and self._seconds() >= self._limit
            if self._is_told or is_late or self._interruption.requested:
                return
        if self._schedule.migrates(visit):
            self._archipelago.migrate()

    def is_over(self) -> bool:
        """Return whether this rank has nothing more to do."""
        last = self._schedule.last
        has_done_all = last is not None and self._archipelago.generation >= last
        return has_done_all or self._is_told or bool(self._interruption.requested)

    def outcome(self) -> Outcome:
        """Return how it ended, the same on every rank; collective."""
        self._channel.close()
        self._archipelago.finish()
        rows = self._world.share(self._rows[self._world.rank])
        seconds = self._world.bcast(self._seconds())
        progress = self._together(rows, int(rows[:, -2].min()), seconds, None)
        reason = self._world.bcast(self._reason) or first_reason(self._spec.stop, progress)
        interrupted = bool(rows[:, -1].any())
        moment = Moment(progress.generation, seconds, self._before)
        return Outcome(progress, reason or _INTERRUPTED, moment, interrupted=interrupted)

    def _listen(self) -> None:
        for rank in self._channel.arrived():
            if self._leads:
                self._known.add(rank)
                self._rows[rank] = self._letters[rank]
            else:
                self._is_told = True
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
