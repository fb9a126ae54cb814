"""Concurrent runs of one instance with consecutive seeds, in the same kernel launches.

Each gives the same bits as a single run; together they fill a GPU that one run leaves idle.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from islands.archipelago.measure import Candidate, IslandMeasure
from islands.backends.base import Backend
from islands.configuration.spec import RunSpec
from islands.configuration.stop import first_reason, is_spent
from islands.errors import Suspended, UsageError
from islands.parallel import InterruptedTogether, World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.tally import Tally
from islands.run.build import islands_of
from islands.run.loop import Epochs
from islands.run.pace import last_unmeasured, most_evaluations
from islands.run.signals import INTERRUPT, Alarm, Interruption
from islands.run.single import check_exactly, combined
from islands.text import option


@dataclass(frozen=True)
class ConcurrentRun:
    """The result of one of several concurrent runs."""

    seed: int
    progress: Progress
    best: Candidate | None
    """The best of all generations, checked exactly; None if no feasible solution was found."""
    reason: str
    digest: str
    present: float | None
    """The best cost of the last generation; None if it may be infeasible."""


@dataclass(frozen=True)
class ConcurrentRuns:
    """All concurrent runs, and the seconds of their common loop."""

    runs: tuple[ConcurrentRun, ...]
    seconds: float

    @property
    def seconds_a_run(self) -> float:
        """The time of the loop divided by the number of runs."""
        return self.seconds / len(self.runs)


def run_concurrently(
    spec: RunSpec, problem: Problem, runs: int, backend: Backend
) -> ConcurrentRuns:
    """Run `runs` runs of `spec` at once, with consecutive seeds, until the last one has ended."""
    spec.general.later(runs - 1)
    problem = problem.adjusted(spec.problem)
    archipelago = islands_of(spec, problem, World(), backend, runs=runs)
    backend.synchronise()
    # Signals keep their handlers, which run once the generation has been abandoned.
    with Interruption() as interruption:
        loop = _ConcurrentLoop(archipelago, spec, problem, World(), interruption)
        with Alarm(archipelago, interruption, loop.is_late):
            return loop.run(runs)


class _ConcurrentLoop(Epochs):
    """The loop of concurrent runs, which measures them only when one may end."""

    def run(self, runs: int) -> ConcurrentRuns:
        """Run until the last of the runs has ended."""
        most = most_evaluations(self._spec, self._problem)
        self._ended: dict[int, ConcurrentRun] = {}
        self._before_each: dict[int, Progress] = {}
        self._end_if_requested()
        self.start()
        self._end_if_requested()
        self._require_generation_0()
        while True:
            going_on = sorted({*range(runs)} - {*self._ended})
            evaluations = self._look(going_on)
            if len(self._ended) == runs:
                last = self._before
                assert last is not None
                return ConcurrentRuns(tuple(self._ended[run] for run in range(runs)), last.seconds)
            generation = self._archipelago.generation
            unmeasured = last_unmeasured(self._spec, generation, most, evaluations)
            if self._visits.last is not None:
                unmeasured = min(unmeasured, self._visits.last - 1)
            self.run_epoch(unmeasured)

    def _look(self, going_on: list[int]) -> list[int]:
        """Measure the runs, and let those end that are over; return the evaluations of each."""
        measures, seconds = self._archipelago.measure(), self._seconds()
        generation = self._archipelago.generation
        self._pace.epoch_ended(self._before, generation, seconds)
        self._end_if_requested()
        # Inside an epoch, only the limit of evaluations counts, as in a single run.
        counts = self._pace.counts_at(generation) and seconds < self._limit
        counts = counts and not self._visits.include(generation)
        evaluations = list[int]()
        for run in going_on:
            own = self._of_run(measures, run)
            before = self._before_each.get(run)
            progress = self._before = self._progress(Tally.of(own), generation, seconds, before)
            evaluations.append(progress.evaluations)
            if counts and not is_spent(self._spec.stop, progress):
                continue
            self._before_each[run] = progress
            reason = first_reason(self._spec.stop, progress)
            if reason is not None:
                # The time for the result of one run does not count for the others.
                paused = time.perf_counter()
                self._ended[run] = self._end(run, progress, own, reason)
                self._began += time.perf_counter() - paused
        return evaluations

    def _longest_step(self) -> float:
        # Without a time limit, nothing but the generations in which a run can end matters.
        return self._pace.step if math.isfinite(self._limit) else math.inf

    def _end(
        self, run: int, progress: Progress, measures: list[IslandMeasure], reason: str
    ) -> ConcurrentRun:
        """Return the checked result of a run."""
        best = next(iter(self._archipelago.elite(1, run)), None)
        check_exactly(self._problem, best, progress.cost)
        digest = combined(self._archipelago.digests(run))
        costs = [each.present for each in measures if each.present is not None]
        present = self._problem.scale.own_sense(min(costs)) if costs else None
        seed = self._spec.general.seed + run
        return ConcurrentRun(seed, progress, best, reason, digest, present)

    def _of_run(self, measures: list[IslandMeasure], run: int) -> list[IslandMeasure]:
        islands = self._spec.general.islands
        return measures[run * islands : (run + 1) * islands]

    def _end_if_requested(self) -> None:
        """End all runs if a signal has arrived that an outer `Interruption` handles."""
        if self._interruption.requested & INTERRUPT:
            raise InterruptedTogether
        if self._interruption.requested:
            raise Suspended

    def _require_generation_0(self) -> None:
        """Refuse an incomplete generation 0, in which some runs may have no individuals."""
        if self.is_partial:
            given = next(each.text for each in self._spec.stop if each.kind == "seconds")
            raise UsageError(
                f"{option('stop', given)}: too short to complete generation 0 of the runs. Allow"
                " more time, or choose a smaller population"
            )
