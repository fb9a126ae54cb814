"""The loop of a run: generations without a visit of the host, then migrate, measure and decide.

There is one collective an epoch: from the same numbers, every rank takes the same decisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.display.slow import Slow
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch, Moment, Progress
from islands.progress.tally import Calls, Tally, summarise
from islands.run.alarm import Alarm, pass_step
from islands.run.pace import Pace
from islands.run.signals import INTERRUPT, Interruption, suspension
from islands.spec.schedule import Schedule
from islands.spec.spec import RunSpec
from islands.spec.stop import first_reason, time_limit
from islands.text import counted

_VIEW_SECONDS = 1.0
INTERRUPTED = "interrupted by a signal"
"""Why a run ends that is told to, in words."""


class Viewer(Protocol):
    """Whoever is told of a run as it goes on."""

    def show(self, progress: Progress) -> None:
        """See where it stands."""

    def say(self, text: str) -> None:
        """Hear something in words."""


@dataclass(frozen=True)
class Outcome:
    """How the loop ended."""

    progress: Progress
    reason: str
    moment: Moment
    interrupted: bool = False
    suspended: bool = False
    """Whether the run is to go on another time."""
    is_partial: bool = False
    """Whether not even generation 0 is whole, so that there is nothing to go on from."""
    given_up_seconds: float = 0.0
    """How long generations took that were given up."""


def evolve(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    world: World,
    watch: Callable[[Epoch], None],
    interruption: Interruption,
    keep: Callable[[Moment], None] | None = None,
    origin: Moment | None = None,
    viewer: Viewer | None = None,
) -> Outcome:
    """Run until a criterion is met or a signal comes, from the start or a restored `origin`.

    `keep`, which is called on all ranks together, writes a checkpoint. A `viewer` sees more of the
    run than what it passes on its way to its end; it is there on all ranks or on none.
    """
    loop = _Loop(archipelago, spec, problem, world, watch, interruption, keep, origin, viewer)
    slow = Slow(archipelago, spec, viewer.say) if viewer is not None else None
    with Alarm(archipelago, interruption, loop.is_late, world, slow):
        if origin is None:
            archipelago.may_be_partial = True
            world.agreed(archipelago.start)
            while loop.begins_again():
                world.agreed(archipelago.start)
        elif not loop.ends_epoch(origin.generation):
            loop.pass_epoch()
        while (outcome := loop.look()) is None:
            loop.pass_epoch()
    return outcome


def of_generation_0(progress: Progress) -> str:
    """Return how much there is of a generation 0 that is not whole, for the end of a reason."""
    return f"{counted(progress.evaluations, 'individual')} of generation 0 made by then"


class _Loop:
    def __init__(
        self,
        archipelago: Archipelago,
        spec: RunSpec,
        problem: Problem,
        world: World,
        watch: Callable[[Epoch], None],
        interruption: Interruption,
        keep: Callable[[Moment], None] | None,
        origin: Moment | None,
        viewer: Viewer | None,
    ) -> None:
        self._archipelago, self._spec, self._problem = archipelago, spec, problem
        self._world, self._watch, self._interruption = world, watch, interruption
        self._keep, self._viewer = keep, viewer
        self._schedule, self._limit = Schedule.of(spec), time_limit(spec.stop)
        self._before = origin.before if origin is not None else None
        self._kept_at = origin.seconds if origin is not None else 0.0
        self._began = time.perf_counter() - self._kept_at
        self._viewed_at = self._kept_at
        self._given_up_seconds = 0.0
        stood = (origin.generation, origin.seconds) if origin is not None else (0, 0.0)
        self._pace = Pace(spec, *stood)
        self._unseen: tuple[Sequence[IslandMeasure], Progress] | None = None
        self._may_take_long = any(world.allgather(archipelago.may_take_long))
        self.is_partial = False
        """Whether generation 0 was given up before it was whole."""

    def is_late(self) -> bool:
        """Return whether the time is over; for any thread."""
        return self._seconds() >= self._limit

    def begins_again(self) -> bool:
        """Return whether generation 0 was given up for a run that goes on; collective.

        So it does after a signal that somebody else's handler has taken.
        """
        self.is_partial = self._world.any(self._archipelago.is_partial)
        if not self.is_partial:
            return False
        calls = Calls.shared(self._world, self._interruption.requested, self._seconds())
        return not calls.signals and calls.seconds < self._limit

    def ends_epoch(self, generation: int) -> bool:
        """Return whether a run by these criteria decides at this generation."""
        last = self._schedule.last
        return bool(self._schedule.visits(generation) or (last is not None and generation > last))

    def look(self) -> Outcome | None:
        """Measure, tell, and decide whether the run is over."""
        measures = self._archipelago.measure()
        tally, calls = Tally.of(measures).shared(
            self._world, self._interruption.requested, self._seconds()
        )
        generation = self._archipelago.generation
        population = self._spec.general.population
        progress = summarise(
            tally, generation, calls.seconds, population, self._problem, self._before
        )
        self._pace.met(self._before, generation, calls.seconds)
        self._unseen, self._viewed_at = (measures, progress), calls.seconds
        moment = Moment(generation, calls.seconds, self._before)
        outcome = self._outcome(progress, calls, moment)
        if outcome is None:
            self._keep_if_due(moment)
            self._before = progress
        else:
            self._show()
        return outcome

    def _show(self) -> None:
        """Tell of the last epoch, unless that is done."""
        if self._unseen is not None:
            measures, progress = self._unseen
            self._unseen = None
            self._watch(Epoch(measures, self._archipelago.arrivals(), progress))

    def _outcome(self, progress: Progress, calls: Calls, moment: Moment) -> Outcome | None:
        outcome = self._whole_outcome(progress, calls, moment)
        if outcome is None:
            return None
        outcome = replace(outcome, given_up_seconds=self._given_up_seconds)
        if not self.is_partial:
            return outcome
        reason = f"{outcome.reason}; {of_generation_0(progress)}"
        return replace(outcome, reason=reason, is_partial=True)

    def _whole_outcome(self, progress: Progress, calls: Calls, moment: Moment) -> Outcome | None:
        if calls.signals & INTERRUPT:
            return Outcome(progress, INTERRUPTED, moment, interrupted=True)
        # Inside an epoch only the clock is a reason, so that nothing else depends on where one is.
        is_visit = self.ends_epoch(progress.generation)
        if is_visit or calls.seconds >= self._limit:
            reason = first_reason(self._spec.stop, progress)
            if reason is not None:
                return Outcome(progress, reason, moment)
        signal = suspension(calls.signals)
        return Outcome(progress, signal, moment, suspended=True) if signal is not None else None

    def pass_epoch(self) -> None:
        """Pass the generations up to the next visit, and migrate; or fewer where it is over."""
        visit = self._schedule.next_visit(self._archipelago.generation)
        while True:
            step = min(self._pace.step, visit - self._archipelago.generation)
            long = self._may_take_long and self._pace.may_be_slow(
                self._archipelago.generation, step
            )
            if long or self._archipelago.is_on_cpu:
                self._show()
            began = self._seconds()
            is_whole = pass_step(self._archipelago, step, may_take_long=long)
            # Where that is quick, the host has time for the epoch before while a GPU is at work.
            self._show()
            if self._archipelago.generation == visit and not long:
                break
            self._archipelago.wait()
            calls = Calls.shared(
                self._world, self._interruption.requested, self._seconds(), is_whole=is_whole
            )
            if not calls.is_whole:
                self._given_up_seconds += calls.seconds - began
                self._archipelago.withdraw()
                return
            if self._archipelago.generation == visit:
                break
            self._pace.waited(self._archipelago.generation, calls.seconds)
            if calls.signals or calls.seconds >= self._limit:
                return
            self._view_if_due(calls.seconds)
            self._keep_if_due(Moment(self._archipelago.generation, calls.seconds, self._before))
        if self._schedule.migrates(visit):
            self._archipelago.migrate()

    def _view_if_due(self, seconds: float) -> None:
        """Show where the run stands between two visits that lie far apart; collective."""
        if self._viewer is None or seconds - self._viewed_at < _VIEW_SECONDS:
            return
        self._viewed_at = seconds
        tally, _ = Tally.of(self._archipelago.measure()).shared(self._world, 0, seconds)
        generation, population = self._archipelago.generation, self._spec.general.population
        self._viewer.show(
            summarise(tally, generation, seconds, population, self._problem, self._before)
        )

    def _keep_if_due(self, moment: Moment) -> None:
        every = self._spec.checkpoint.every
        if self._keep is not None and 0 < every <= moment.seconds - self._kept_at:
            self._show()
            self._keep(moment)
            self._kept_at = moment.seconds

    def _seconds(self) -> float:
        return time.perf_counter() - self._began
