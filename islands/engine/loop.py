"""The loop of a run: advance the islands, then migrate, measure and decide.

There is one collective per epoch: from the same numbers, every rank makes the same decisions.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from islands.algorithms import ALGORITHMS
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.goal import Goal
from islands.archipelago.measure import IslandMeasure
from islands.configuration.resolved import Resolved
from islands.configuration.stop import first_reason, is_spent, time_limit
from islands.display.messages import SlowGenerations, idle_words
from islands.engine.budget import Budget
from islands.engine.observers import Observer
from islands.engine.pace import Pace
from islands.engine.signals import INTERRUPT, Alarm, Interruption, suspension
from islands.parallel import World
from islands.progress import usage
from islands.progress.progress import INTERRUPTED, Epoch, Moment, Outcome, Progress
from islands.progress.standings import BestCost
from islands.progress.tally import StopRequests, Tally, summarise
from islands.progress.usage import Stopwatch
from islands.text import counted

_VIEW_SECONDS = 1.0
_BEGIN = Moment(0, 0.0, None)


class Loop:
    """The loop of a run on all ranks."""

    is_asynchronous: ClassVar[bool] = False
    """Whether each rank counts its own generations."""

    def __init__(
        self,
        archipelago: Archipelago,
        resolved: Resolved,
        world: World,
        interruption: Interruption,
        observers: Sequence[Observer] = (),
        *,
        say: Callable[[str], None] | None = None,
        origin: Moment | None = None,
    ) -> None:
        """Begin at generation 0, or at `origin`.

        The observers have the same types on all ranks. `say` prints a message.
        """
        spec = resolved.spec
        self._archipelago, self._spec, self._problem = archipelago, spec, resolved.problem
        self._world, self._interruption = world, interruption
        self._observers, self._say = observers, say
        self._visits, self._limit = spec.visits, time_limit(spec.stop)
        self._population, self._starts = spec.mean_population, spec.starts()
        self._budget = Budget(resolved)
        self._count_at = 0 if self._budget.is_limited else sys.maxsize
        """The first generation that may reach the limit of evaluations."""
        self._counted = -1, -1
        """The last generation whose number of evaluations is known, and this number."""
        self._longest = sys.maxsize
        """Maximum number of generations of a step."""
        self._origin = origin
        origin = origin or _BEGIN
        self._before = origin.before
        """The progress at the end of the previous epoch."""
        self._began = time.perf_counter() - origin.seconds
        self._viewed_at = origin.seconds
        self._abandoned_seconds = 0.0
        self.phases = Stopwatch()
        # The same on all ranks, even if only some of them have islands of a colony.
        self._may_take_long = world.any(archipelago.may_take_long)
        self._pace = Pace(
            spec, origin.generation, origin.seconds, may_take_long=self._may_take_long
        )
        algorithms = (ALGORITHMS[colony.algorithm] for colony in spec.all_colonies)
        self._always_attempts = world.any(archipelago.is_on_cpu)
        self._always_attempts |= any(algorithm.varies_in_length for algorithm in algorithms)
        self.is_partial = False
        """Whether generation 0 was abandoned."""
        self._reason: str | None = None
        """The reason given by an observer for ending the run inside an epoch."""
        self._unreported: tuple[Sequence[IslandMeasure], Progress] | None = None
        self._has_reported_idle = False

    def is_late(self) -> bool:
        """Return whether the time limit is reached; any thread may call this."""
        return self._seconds() >= self._limit

    def run(self) -> Outcome:
        """Run until a criterion is satisfied, a signal arrives or the callback ends the run."""
        islands, slow = self._archipelago, None
        if self._say is not None:
            slow = SlowGenerations(islands, self._spec, self._say, self._problem.evaluation.name)
        with Alarm(islands, self._interruption, self.is_late, self._world, slow):
            self._enable_goal()
            if self._origin is None:
                self._start()
            elif not (self._ends_epoch(self._origin.generation) or self._may_be_spent()):
                self._run_epoch()
            while (outcome := self._inspect()) is None:
                self._run_epoch()
        return replace(
            outcome,
            is_partial=self.is_partial,
            abandoned_seconds=self._abandoned_seconds,
            phases=usage.with_team(self.phases.seconds, islands.team_seconds),
        )

    def _enable_goal(self) -> None:
        """End the run at the call that reaches a target, if the cost is a Python function.

        Collective.
        """
        problem, targets = self._problem, [stop for stop in self._spec.stop if stop.is_target]
        is_called = problem.evaluation.argument == "function"
        if not targets or not is_called or self.is_asynchronous:
            return

        def ends(cost: float) -> bool:
            return any(target.reached_by(BestCost(problem, cost)) for target in targets)

        if all(self._world.allgather(self._archipelago.can_end_at_goal)):
            self._archipelago.end_at(Goal(ends, self._world))
            self._longest = 1
            self._always_attempts = True  # so that the last generation can be undone

    def _start(self) -> None:
        """Create generation 0; collective.

        It is abandoned if the run must end. It is restarted if it was abandoned for a signal with a
        foreign handler, and the handler lets the run continue.
        """
        self._archipelago.may_be_partial = True
        if self._budget.is_limited:
            self._archipelago.limit_first(self._budget.limit)
        while True:
            self._world.run_on_all(self._archipelago.start)
            self.is_partial = self._world.any(self._archipelago.is_partial)
            if not self.is_partial:
                return
            requests = self._requests()
            if requests.signals or requests.seconds >= self._limit:
                return

    def _run_epoch(self) -> None:
        """Advance to the next visit and migrate; return earlier if the run may be over."""
        visit = self._visits.after(self._archipelago.generation)
        if self._reach(visit) and self._visits.migrate(visit):
            self._archipelago.migrate()
            self.phases.lap(usage.MIGRATION)

    def _reach(self, visit: int) -> bool:
        """Advance to a visit; return False before it if the run may be over."""
        while (generation := self._archipelago.generation) < visit:
            step = min(self._pace.step, self._longest, min(visit, self._count_at) - generation)
            long = self._may_take_long and (
                self._always_attempts or self._pace.may_be_slow(generation, step)
            )
            is_complete, began = True, 0.0
            if long:
                self._report()
                began = self._seconds()
                is_complete = self._archipelago.attempt(step)
            else:
                self._archipelago.advance(step)
            self.phases.lap(usage.GENERATIONS)
            # After a quick launch, the host can report the previous epoch while a GPU works.
            self._report()
            if self._archipelago.generation == visit and not long:
                return True
            self._archipelago.wait()
            self.phases.lap(usage.GENERATIONS)
            requests = self._requests(is_complete=is_complete)
            self.phases.lap(usage.RANKS)
            if not requests.is_complete:
                self._abandoned_seconds += requests.seconds - began
                self._archipelago.undo()
                return False
            if self._archipelago.generation < visit:
                self._pace.step_ended(self._archipelago.generation, requests.seconds)
                is_over = requests.signals or requests.seconds >= self._limit
                if is_over or self._may_be_spent() or self._archipelago.has_reached_goal:
                    return False
                self._step_ended(requests.seconds)
                if self._reason is not None:
                    return False
        return True

    def _requests(self, *, is_complete: bool = True) -> StopRequests:
        """Return the signals and the time, the same on all ranks; collective."""
        local = self._interruption.requested, self._seconds()
        return StopRequests.of_all_ranks(self._world, *local, is_complete=is_complete)

    def _progress(
        self, tally: Tally, generation: int, seconds: float, before: Progress | None
    ) -> Progress:
        if self._budget.is_limited:
            self._count_at = generation + max(1, int(self._budget.safe(tally.evaluations)))
        if self._budget.is_limited and generation > self._counted[0]:
            left = self._budget.left(tally.evaluations)
            # If the islands skipped all remaining evaluations, the next generation has no limit.
            is_stalled = tally.evaluations == self._counted[1]
            self._counted = generation, tally.evaluations
            self._archipelago.limit(None if is_stalled else left)
        population, starts = self._population, self._starts
        return summarise(tally, generation, seconds, population, self._problem, before, starts)

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _ends_epoch(self, generation: int) -> bool:
        """Return whether the run measures and decides at this generation."""
        last = self._visits.last
        return bool(self._visits.include(generation) or (last is not None and generation > last))

    def _inspect(self) -> Outcome | None:
        """Measure, report, and decide whether the run is over."""
        measures = self._archipelago.measure()
        self.phases.lap(usage.GENERATIONS)
        tally, requests = self._agree(Tally.of(measures))
        self.phases.lap(usage.RANKS)
        if self._world.size > 1:
            self._report_idle()
        generation, seconds = self._archipelago.generation, requests.seconds
        progress = self._progress(tally, generation, seconds, self._before)
        self._pace.epoch_ended(self._before, generation, seconds)
        self._unreported, self._viewed_at = (measures, progress), seconds
        moment = Moment(generation, seconds, self._before)
        outcome = self._end(progress, requests, moment)
        reason = self._reason or self._decided(self._observers, progress)
        if outcome is None and reason is not None:
            outcome = Outcome(progress, reason, moment)
        if outcome is None:
            self._keep_if_due(moment)
            self._before = progress
            return None
        self._report()
        if self.is_partial:
            individuals = counted(progress.evaluations, "individual")
            reason = f"{outcome.reason}; generation 0 is incomplete, with {individuals}"
            outcome = replace(outcome, reason=reason)
        return outcome

    def _agree(self, local: Tally) -> tuple[Tally, StopRequests]:
        """Return the tally and the stop requests of all ranks; collective."""
        return local.of_all_ranks(self._world, self._interruption.requested, self._seconds())

    def _report_idle(self) -> None:
        """Let an idle rank sleep while it waits; print once why ranks that share work are idle."""
        self._world.sleeps_while_waiting = self._archipelago.is_idle and self._archipelago.is_on_cpu
        if self._say is None or self._has_reported_idle or not self._archipelago.why_idle:
            return
        self._has_reported_idle = True
        sharing = self._archipelago.deal.largest_team
        idle = sharing - self._archipelago.working_ranks
        self._say(idle_words(idle, sharing, self._world.size, self._archipelago.why_idle))

    def _decided(self, observers: Sequence[Observer], progress: Progress) -> str | None:
        """Return the reason of an observer that ends the run now, or None; collective."""
        reason: str | None = None
        for observer in observers:
            if observer.decides:
                requested = observer.decide(progress)
                reason = reason or requested
                # The time of the observer does not count towards the next view.
                self._viewed_at = self._world.bcast(self._seconds())
                self.phases.lap(observer.phase)
        return reason

    def _report(self) -> None:
        if self._unreported is not None:
            measures, progress = self._unreported
            self._unreported = None
            epoch = Epoch(measures, self._archipelago.arrivals(), progress)
            for observer in self._observers:
                observer.epoch(epoch)
            self.phases.lap(usage.RECORDS)

    def _end(self, progress: Progress, requests: StopRequests, moment: Moment) -> Outcome | None:
        """Return the outcome of a run that ends now, or None if it continues.

        Inside an epoch, only limits of time and of evaluations count: other criteria must not
        depend on the number of generations of a step.
        """
        if requests.signals & INTERRUPT:
            return Outcome(progress, INTERRUPTED, moment, interrupted=True)
        if (
            self._ends_epoch(progress.generation)
            or requests.seconds >= self._limit
            or self._archipelago.has_reached_goal
            or is_spent(self._spec.stop, progress)
        ):
            reason = first_reason(self._spec.stop, progress)
            if reason is not None:
                return Outcome(progress, reason, moment)
        signal = suspension(requests.signals) if requests.signals else None
        return Outcome(progress, signal, moment, suspended=True) if signal is not None else None

    def _may_be_spent(self) -> bool:
        """Return whether the limit of evaluations is reached inside an epoch; collective."""
        if self._archipelago.generation < self._count_at:
            return False
        return bool(is_spent(self._spec.stop, self._measured(self._seconds()).progress))

    def _step_ended(self, seconds: float) -> None:
        """Show the progress between two distant visits, and write a checkpoint if it is due."""
        observers = [observer for observer in self._observers if observer.sees_between]
        if observers and seconds - self._viewed_at >= _VIEW_SECONDS:
            self._viewed_at, epoch = seconds, self._measured(seconds)
            for observer in observers:
                observer.between(epoch)
            self._reason = self._decided(observers, epoch.progress)
        self._keep_if_due(Moment(self._archipelago.generation, seconds, self._before))

    def _measured(self, seconds: float) -> Epoch:
        """Measure the islands inside an epoch; collective."""
        measures = self._archipelago.measure()
        tally, _ = self._agree(Tally.of(measures))
        progress = self._progress(tally, self._archipelago.generation, seconds, self._before)
        return Epoch(measures, None, progress)

    def _keep_if_due(self, moment: Moment) -> None:
        for observer in self._observers:
            if observer.is_due(moment):
                self._report()
                observer.keep(moment)
                self.phases.lap(observer.phase)
