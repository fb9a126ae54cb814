"""Concurrent runs of one instance with consecutive seeds, in the same kernel launches.

Each gives the same bits as a single run; a batch fills a GPU that one run leaves idle.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import Candidate, IslandMeasure
from islands.backends.base import Backend
from islands.configuration.spec import EpochSchedule, RunSpec
from islands.configuration.stop import first_reason, is_spent, time_limit
from islands.errors import Suspended, UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.tally import Tally, summarise
from islands.run.build import islands_of
from islands.run.pace import Pace, last_unmeasured, most_evaluations
from islands.run.signals import INTERRUPT, Alarm, Interruption
from islands.run.single import check_exactly, combined
from islands.text import option


@dataclass(frozen=True)
class ConcurrentRun:
    """The result of one run of a batch."""

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
    """All runs of a batch, and the seconds of their common loop."""

    runs: tuple[ConcurrentRun, ...]
    seconds: float

    @property
    def seconds_a_run(self) -> float:
        """The time of the batch divided by the number of runs."""
        return self.seconds / len(self.runs)


def run_concurrently(
    spec: RunSpec, problem: Problem, runs: int, backend: Backend
) -> ConcurrentRuns:
    """Run `runs` runs of `spec` at once, with consecutive seeds, until the last one has ended."""
    spec.general.later(runs - 1)
    problem = problem.adjusted(spec.problem)
    archipelago = islands_of(spec, problem, World(), backend, runs=runs)
    ended: dict[int, ConcurrentRun] = {}
    before: dict[int, Progress] = {}
    last: Progress | None = None
    backend.synchronise()
    began, aside = time.perf_counter(), 0.0
    pace = Pace(spec, may_take_long=archipelago.may_take_long)
    limit, most = time_limit(spec.stop), most_evaluations(spec, problem)

    def is_late() -> bool:
        return time.perf_counter() - began - aside >= limit

    # Signals keep their handlers, which run once the generation has been abandoned.
    with Interruption() as interruption, Alarm(archipelago, interruption, is_late):
        archipelago.may_be_partial = True
        _end_if_requested(interruption)
        archipelago.start()
        while archipelago.is_partial and not is_late():
            _end_if_requested(interruption)
            archipelago.start()  # a signal's handler let the runs continue
        _end_if_requested(interruption)
        _require_generation_0(archipelago, spec)
        while True:
            measures, seconds = archipelago.measure(), time.perf_counter() - began - aside
            pace.epoch_ended(last, archipelago.generation, seconds)
            _end_if_requested(interruption)
            # Inside an epoch, only the limit of evaluations counts, as in a single run.
            counts = pace.counts_at(archipelago.generation) and seconds < limit
            counts = counts and not EpochSchedule.of(spec).visits(archipelago.generation)
            evaluations: list[int] = []
            for run in sorted({*range(runs)} - {*ended}):
                progress = _progress(measures, run, spec, problem, archipelago, seconds, before)
                last = progress
                evaluations.append(progress.evaluations)
                if counts and not is_spent(spec.stop, progress):
                    continue
                before[run] = progress
                reason = first_reason(spec.stop, progress)
                if reason is not None:
                    present = _present(_of_run(measures, run, spec), problem)
                    # The time for the result of one run does not count for the others.
                    paused = time.perf_counter()
                    ended[run] = _ended(archipelago, spec, problem, run, progress, present, reason)
                    aside += time.perf_counter() - paused
            if len(ended) == runs:
                return ConcurrentRuns(tuple(ended[run] for run in range(runs)), seconds)
            unmeasured = last_unmeasured(spec, archipelago.generation, most, evaluations)
            _advance(archipelago, spec, pace, began + aside, unmeasured)


def _end_if_requested(interruption: Interruption) -> None:
    """End the batch if a signal has arrived that an outer `Interruption` handles."""
    if interruption.requested & INTERRUPT:
        raise KeyboardInterrupt
    if interruption.requested:
        raise Suspended


def _require_generation_0(archipelago: Archipelago, spec: RunSpec) -> None:
    """Refuse a batch that ended inside generation 0, in which some runs may have no individuals."""
    if archipelago.is_partial:
        given = next(each.text for each in spec.stop if each.kind == "seconds")
        raise UsageError(
            f"{option('stop', given)}: too short to complete generation 0 of the runs. Allow more"
            " time, or choose a smaller population"
        )


def _advance(
    archipelago: Archipelago, spec: RunSpec, pace: Pace, began: float, unmeasured: int
) -> None:
    """Advance until the time limit or the first measurement after the generation `unmeasured`."""
    limit, schedule = time_limit(spec.stop), EpochSchedule.of(spec)
    if schedule.last is not None:
        unmeasured = min(unmeasured, schedule.last - 1)
    while True:
        visit = schedule.next_visit(archipelago.generation, unmeasured)
        while (left := visit - archipelago.generation) > 0:
            count = pace.next_count(max(archipelago.generation, unmeasured))
            left = int(min(visit, count)) - archipelago.generation
            step = min(pace.step, left) if math.isfinite(limit) else left
            long = archipelago.is_on_cpu or (
                archipelago.may_take_long and pace.may_be_slow(archipelago.generation, step)
            )
            if not long:
                archipelago.advance(step)
            elif not archipelago.attempt(step):
                archipelago.undo()
                return
            if archipelago.generation < visit:
                archipelago.wait()
                seconds = time.perf_counter() - began
                pace.step_ended(archipelago.generation, seconds)
                if seconds >= limit or pace.counts_at(archipelago.generation):
                    return
        if schedule.migrates(visit):
            archipelago.migrate()
        if visit > unmeasured:
            return


def _of_run(measures: list[IslandMeasure], run: int, spec: RunSpec) -> list[IslandMeasure]:
    islands = spec.general.islands
    return measures[run * islands : (run + 1) * islands]


def _present(measures: list[IslandMeasure], problem: Problem) -> float | None:
    """Return the best cost of the last generation; None if it may be infeasible."""
    costs = [each.present for each in measures if each.present is not None]
    return problem.own_sense(min(costs)) if costs else None


def _progress(
    measures: list[IslandMeasure],
    run: int,
    spec: RunSpec,
    problem: Problem,
    archipelago: Archipelago,
    seconds: float,
    before: dict[int, Progress],
) -> Progress:
    tally = Tally.of(_of_run(measures, run, spec))
    population, generation = spec.general.population, archipelago.generation
    return summarise(tally, generation, seconds, population, problem, before.get(run))


def _ended(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    run: int,
    progress: Progress,
    present: float | None,
    reason: str,
) -> ConcurrentRun:
    best = next(iter(archipelago.elite(1, run)), None)
    check_exactly(problem, best, progress.cost)
    digest = combined(archipelago.digests(run))
    return ConcurrentRun(spec.general.seed + run, progress, best, reason, digest, present)
