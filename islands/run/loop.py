"""The loop of a run: advance without the host, then migrate, measure and decide.

There is one collective per epoch: from the same numbers, every rank makes the same decisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import IslandMeasure
from islands.configuration.spec import EpochSchedule, RunSpec, deal_of
from islands.configuration.stop import first_reason, is_spent, time_limit
from islands.display.messages import Slow, idle_words
from islands.errors import RunError
from islands.modelling.functions import is_of_signal
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
from islands.progress.tally import StopRequests, Tally, summarise
from islands.progress.usage import Stopwatch
from islands.run.pace import Pace
from islands.run.signals import INTERRUPT, Alarm, Interruption, suspension

Callback = Callable[[Progress], object]
"""A user's function for the progress at the end of an epoch; the run ends if it returns True."""


class Viewer(Protocol):
    """Receives the progress and messages of a running run."""

    def show(self, progress: Progress) -> None:
        """Show the progress."""

    def kept(self) -> None:
        """Note that a checkpoint was written."""

    def say(self, text: str) -> None:
        """Show a message."""


def requests_end(callback: Callback, progress: Progress) -> bool:
    """Call the callback; return whether it returned True.

    Other true values do not count: functions of libraries return all kinds of values.
    """
    try:
        given = callback(progress)
    except SystemExit as error:
        if is_of_signal(error):
            raise
        raise RunError(
            f"callback= called sys.exit({error.code!r}), which would end the run without a result."
            " To end the run, return True"
        ) from error
    return isinstance(given, bool | np.bool_) and bool(given)


_VIEW_SECONDS = 1.0
_ENDED_BY_CALLBACK = "the callback returned True"


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
    callback: Callback | None = None,
) -> Outcome:
    """Run until a criterion is satisfied or a signal arrives, from the start or from `origin`.

    `watch` records an epoch, `keep` writes a checkpoint; they are called on all ranks. A `viewer`
    also receives progress between epochs; pass one on all ranks or on none. The `callback` of rank
    0 may end the run.
    """
    loop = _Loop(
        archipelago, spec, problem, world, watch, interruption, keep, origin, viewer, callback
    )
    slow = Slow(archipelago, spec, viewer.say, problem.evaluator) if viewer is not None else None
    with Alarm(archipelago, interruption, loop.is_late, world, slow):
        if origin is None:
            archipelago.may_be_partial = True
            world.run_on_all(archipelago.start)
            while loop.must_restart():
                world.run_on_all(archipelago.start)
        elif not loop.ends_epoch(origin.generation):
            loop.run_epoch()
        while (outcome := loop.look()) is None:
            loop.run_epoch()
    return replace(outcome, phases=usage.with_team(loop.phases.seconds, archipelago.team_seconds))


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
        callback: Callback | None,
    ) -> None:
        self._archipelago, self._spec, self._problem = archipelago, spec, problem
        self._world, self._watch, self._interruption = world, watch, interruption
        self._keep, self._viewer = keep, viewer
        self._callback, self._has_callback = callback, world.bcast(callback is not None)
        self._schedule, self._limit = EpochSchedule.of(spec), time_limit(spec.stop)
        self._population, self._starts = spec.mean_population, spec.starts()
        self._before = origin.before if origin is not None else None
        self._kept_at = origin.seconds if origin is not None else 0.0
        self._began = time.perf_counter() - self._kept_at
        self.phases = Stopwatch()
        self._viewed_at = self._kept_at
        self._abandoned_seconds = 0.0
        resumed_at = (origin.generation, origin.seconds) if origin is not None else (0, 0.0)
        self._unseen: tuple[Sequence[IslandMeasure], Progress] | None = None
        # The same on all ranks, also if a colony lies on some of them only.
        self._may_take_long = any(world.allgather(archipelago.may_take_long))
        self._has_told_idle = False
        self._pace = Pace(spec, *resumed_at, may_take_long=self._may_take_long)
        is_uneven = any(ALGORITHMS[each.algorithm].is_uneven for each in spec.all_colonies)
        self._always_attempts = is_uneven or any(world.allgather(archipelago.is_on_cpu))
        self.is_partial = False
        """Whether generation 0 was abandoned."""

    def is_late(self) -> bool:
        """Return whether the time limit is reached; any thread may call this."""
        return self._seconds() >= self._limit

    def must_restart(self) -> bool:
        """Return whether generation 0 was abandoned although the run continues; collective.

        This happens after a signal for a handler that is not ours.
        """
        self.is_partial = self._world.any(self._archipelago.is_partial)
        if not self.is_partial:
            return False
        requests = StopRequests.shared(self._world, self._interruption.requested, self._seconds())
        return not requests.signals and requests.seconds < self._limit

    def ends_epoch(self, generation: int) -> bool:
        """Return whether the run measures and decides at this generation."""
        last = self._schedule.last
        return bool(self._schedule.visits(generation) or (last is not None and generation > last))

    def look(self) -> Outcome | None:
        """Measure, report, and decide whether the run is over."""
        measures = self._archipelago.measure()
        self.phases.lap(usage.GENERATIONS)
        tally, requests = Tally.of(measures).shared(
            self._world, self._interruption.requested, self._seconds()
        )
        self.phases.lap(usage.RANKS)
        self._tell_idle()
        generation = self._archipelago.generation
        progress = self._progress(tally, generation, requests.seconds)
        self._pace.epoch_ended(self._before, generation, requests.seconds)
        self._unseen, self._viewed_at = (measures, progress), requests.seconds
        moment = Moment(generation, requests.seconds, self._before)
        outcome = self._outcome(progress, requests, moment)
        if outcome is None:
            self._keep_if_due(moment)
            self._before = progress
        else:
            self._show()
        return outcome

    def _tell_idle(self) -> None:
        """Say once that ranks which share an island with rank 0 are idle."""
        self._world.naps = self._archipelago.is_idle and self._archipelago.is_on_cpu
        if self._viewer is None or self._has_told_idle or not self._archipelago.why_idle:
            return
        self._has_told_idle = True
        sharing = deal_of(self._spec, self._problem, self._world.size).largest_team
        idle = sharing - self._archipelago.working_ranks
        self._viewer.say(idle_words(idle, sharing, self._world.size, self._archipelago.why_idle))

    def _is_ended_by_callback(self, progress: Progress) -> bool:
        """Return whether the callback of rank 0 ends the run; collective."""
        if not self._has_callback:
            return False

        def answer() -> bool:
            assert self._callback is not None
            return requests_end(self._callback, progress)

        is_over = self._world.from_first(answer)
        self.phases.lap(usage.CALLBACK)
        return is_over

    def _show(self) -> None:
        """Report the last epoch unless this is done."""
        if self._unseen is not None:
            measures, progress = self._unseen
            self._unseen = None
            self._watch(Epoch(measures, self._archipelago.arrivals(), progress))
            if self._viewer is not None:
                self._viewer.show(progress)
            self.phases.lap(usage.RECORDS)

    def _outcome(
        self, progress: Progress, requests: StopRequests, moment: Moment
    ) -> Outcome | None:
        outcome = self._end(progress, requests, moment)
        if self._is_ended_by_callback(progress) and outcome is None:
            outcome = Outcome(progress, _ENDED_BY_CALLBACK, moment)
        if outcome is None:
            return None
        outcome = replace(outcome, abandoned_seconds=self._abandoned_seconds)
        if not self.is_partial:
            return outcome
        reason = f"{outcome.reason}; {size_of_generation_0(progress)}"
        return replace(outcome, reason=reason, is_partial=True)

    def _end(self, progress: Progress, requests: StopRequests, moment: Moment) -> Outcome | None:
        """Return how the run ends now, or None if it continues.

        Inside an epoch, only limits of time and of evaluations count: other criteria must not
        depend on the number of generations between two looks.
        """
        if requests.signals & INTERRUPT:
            return Outcome(progress, INTERRUPTED, moment, interrupted=True)
        is_due = self.ends_epoch(progress.generation) or requests.seconds >= self._limit
        counts = self._pace.counts_at(progress.generation)
        if is_due or (counts and is_spent(self._spec.stop, progress)):
            reason = first_reason(self._spec.stop, progress)
            if reason is not None:
                return Outcome(progress, reason, moment)
        signal = suspension(requests.signals)
        return Outcome(progress, signal, moment, suspended=True) if signal is not None else None

    def run_epoch(self) -> None:
        """Advance to the next visit and migrate; stop earlier if the run is over."""
        visit = self._schedule.next_visit(self._archipelago.generation)
        while True:
            generation = self._archipelago.generation
            count = self._pace.next_count(generation)
            step = min(self._pace.step, int(min(visit, count)) - generation)
            long = self._may_take_long and (
                self._always_attempts or self._pace.may_be_slow(generation, step)
            )
            if long:
                self._show()
            began = self._seconds()
            is_complete = True
            if long:
                is_complete = self._archipelago.attempt(step)
            else:
                self._archipelago.advance(step)
            self.phases.lap(usage.GENERATIONS)
            # After a quick launch, the host can report the previous epoch while a GPU works.
            self._show()
            if self._archipelago.generation == visit and not long:
                break
            self._archipelago.wait()
            self.phases.lap(usage.GENERATIONS)
            requests = StopRequests.shared(
                self._world, self._interruption.requested, self._seconds(), is_complete=is_complete
            )
            self.phases.lap(usage.RANKS)
            if not requests.is_complete:
                self._abandoned_seconds += requests.seconds - began
                self._archipelago.undo()
                return
            if self._archipelago.generation == visit:
                break
            self._pace.step_ended(self._archipelago.generation, requests.seconds)
            if requests.signals or requests.seconds >= self._limit or self._is_spent():
                return
            self._view_if_due(requests.seconds)
            self._keep_if_due(Moment(self._archipelago.generation, requests.seconds, self._before))
        if self._schedule.migrates(visit):
            self._archipelago.migrate()
            self.phases.lap(usage.MIGRATION)

    def _is_spent(self) -> bool:
        """Return whether the limit of evaluations is reached inside an epoch; collective."""
        if not self._pace.counts_at(self._archipelago.generation):
            return False
        return is_spent(self._spec.stop, self._measured(self._seconds()))

    def _view_if_due(self, seconds: float) -> None:
        """Show the progress between two distant visits; collective."""
        if self._viewer is None or seconds - self._viewed_at < _VIEW_SECONDS:
            return
        self._viewed_at = seconds
        self._viewer.show(self._measured(seconds))

    def _measured(self, seconds: float) -> Progress:
        """Return the progress inside an epoch; collective."""
        tally, _ = Tally.of(self._archipelago.measure()).shared(self._world, 0, seconds)
        return self._progress(tally, self._archipelago.generation, seconds)

    def _progress(self, tally: Tally, generation: int, seconds: float) -> Progress:
        population, starts = self._population, self._starts
        return summarise(
            tally, generation, seconds, population, self._problem, self._before, starts
        )

    def _keep_if_due(self, moment: Moment) -> None:
        every = self._spec.checkpoint.every
        if self._keep is not None and 0 < every <= moment.seconds - self._kept_at:
            self._show()
            self._keep(moment)
            if self._viewer is not None:
                self._viewer.kept()
            self._kept_at = moment.seconds
            self.phases.lap(usage.CHECKPOINTS)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began
