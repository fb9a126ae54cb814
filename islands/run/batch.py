"""Several runs of one instance side by side: seeds one after the other, in the same launches.

Each is the run that it would be alone, bit for bit; together they fill a GPU that one leaves idle.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import Candidate, IslandMeasure
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.tally import Tally, summarise
from islands.run.alarm import Alarm, pass_step
from islands.run.build import islands_of
from islands.run.pace import Pace
from islands.run.signals import Interruption
from islands.run.start import check_exactly, combined
from islands.spec.schedule import Schedule
from islands.spec.spec import RunSpec
from islands.spec.stop import first_reason, time_limit
from islands.text import option

_SELDOM = 1000
"""Generations from one look at the runs to the next, where nothing but generations ends them.

There is no trace to write, and while the host looks, a GPU has nothing to do.
"""


@dataclass(frozen=True)
class BatchRun:
    """How one of the runs ended."""

    seed: int
    progress: Progress
    best: Candidate | None
    """Of all its generations; its cost was checked exactly. None where none was feasible."""
    reason: str
    digest: str
    present: float | None
    """The best cost of the last generation alone; None where it may be infeasible."""


@dataclass(frozen=True)
class Batch:
    """All of the runs, and the seconds of the loop that they share."""

    runs: tuple[BatchRun, ...]
    seconds: float

    @property
    def seconds_a_run(self) -> float:
        """The time of all divided by their number."""
        return self.seconds / len(self.runs)


def run_batch(spec: RunSpec, problem: Problem, runs: int, backend: Backend) -> Batch:
    """Pass so many runs of `spec` at once, the first with its seed, until the last has ended."""
    spec.general.later(runs - 1)
    problem = problem.adjusted(spec.problem)
    archipelago = islands_of(spec, problem, World(), backend, runs=runs)
    ended: dict[int, BatchRun] = {}
    before: dict[int, Progress] = {}
    last: Progress | None = None
    backend.synchronise()
    began, aside, pace = time.perf_counter(), 0.0, Pace(spec)
    limit = time_limit(spec.stop)

    def is_late() -> bool:
        return time.perf_counter() - began - aside >= limit

    # Signals are left to whoever handles them, who can once the islands have been given up.
    with Interruption() as interruption, Alarm(archipelago, interruption, is_late):
        archipelago.may_be_partial = True
        archipelago.start()
        while archipelago.is_partial and not is_late():
            archipelago.start()  # after a signal whose handler lets the runs go on
        _require_generation_0(archipelago, spec)
        while True:
            measures, seconds = archipelago.measure(), time.perf_counter() - began - aside
            pace.met(last, archipelago.generation, seconds)
            for run in sorted({*range(runs)} - {*ended}):
                progress = _progress(measures, run, spec, problem, archipelago, seconds, before)
                before[run] = last = progress
                reason = first_reason(spec.stop, progress)
                if reason is not None:
                    present = _present(_of_run(measures, run, spec), problem)
                    # How a run has ended is no part of the time of the others.
                    paused = time.perf_counter()
                    ended[run] = _ended(archipelago, spec, problem, run, progress, present, reason)
                    aside += time.perf_counter() - paused
            if len(ended) == runs:
                return Batch(tuple(ended[run] for run in range(runs)), seconds)
            _go_on(archipelago, spec, pace, began + aside)


def _require_generation_0(archipelago: Archipelago, spec: RunSpec) -> None:
    """Refuse what ended inside generation 0, of which some runs may have nothing."""
    if archipelago.is_partial:
        given = next(each.text for each in spec.stop if each.kind == "seconds")
        raise UsageError(
            f"{option('stop', given)}: not even generation 0 of the runs is whole by then. Let them"
            " take longer, or choose a smaller population"
        )


def _go_on(archipelago: Archipelago, spec: RunSpec, pace: Pace, began: float) -> None:
    """Pass generations until the host is to look at the runs, or their time is over."""
    limit = time_limit(spec.stop)
    schedule = looks = Schedule.of(spec)
    if all(criterion.kind == "generations" for criterion in spec.stop):
        schedule = replace(schedule, record_every=_SELDOM)
        looks = replace(schedule, migration_interval=None)
    while True:
        visit = schedule.next_visit(archipelago.generation)
        while (left := visit - archipelago.generation) > 0:
            step = min(pace.step, left) if math.isfinite(limit) else left
            long = archipelago.may_take_long and pace.may_be_slow(archipelago.generation, step)
            if not pass_step(archipelago, step, may_take_long=long):
                archipelago.withdraw()
                return
            if archipelago.generation < visit:
                archipelago.wait()
                seconds = time.perf_counter() - began
                pace.waited(archipelago.generation, seconds)
                if seconds >= limit:
                    return
        if schedule.migrates(visit):
            archipelago.migrate()
        if looks.visits(visit):
            return


def _of_run(measures: list[IslandMeasure], run: int, spec: RunSpec) -> list[IslandMeasure]:
    islands = spec.general.islands
    return measures[run * islands : (run + 1) * islands]


def _present(measures: list[IslandMeasure], problem: Problem) -> float | None:
    """Return the best cost of the last generation; None where it may be infeasible."""
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
) -> BatchRun:
    best = next(iter(archipelago.elite(1, run)), None)
    check_exactly(problem, best, progress.cost)
    digest = combined(archipelago.digests(run))
    return BatchRun(spec.general.seed + run, progress, best, reason, digest, present)
