"""The loop of a run: generations without a visit of the host, then migrate, measure and decide."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from islands.archipelago import Archipelago, IslandMeasure
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.signals import Interruption
from islands.run.spec import RunSpec
from islands.run.stop import Progress, first_reason, last_generation, time_limit

_INTERRUPTED = "interrupted by a signal"
_STEP_SECONDS = 0.5
"""After about so long at the latest, the host looks at the clock and for signals."""


@dataclass(frozen=True)
class Schedule:
    """Which generations the host visits: a function of settings alone, never of a clock."""

    migration_interval: int | None
    record_every: int
    last: int | None

    @classmethod
    def of(cls, spec: RunSpec) -> Schedule:
        """Return the schedule of a run."""
        migrates = spec.migration.topology != "none" and spec.general.islands > 1
        return cls(
            migration_interval=spec.migration.interval if migrates else None,
            record_every=spec.record.every,
            last=last_generation(spec.stop),
        )

    def next_visit(self, generation: int) -> int:
        """Return the first generation after this one at which an epoch ends."""
        steps = [self.record_every, self.migration_interval]
        visits = [generation - generation % step + step for step in steps if step is not None]
        if self.last is not None and generation < self.last:
            visits.append(self.last)
        return min(visits)

    def migrates(self, generation: int) -> bool:
        """Return whether islands exchange migrants after this generation."""
        return self.migration_interval is not None and generation % self.migration_interval == 0


@dataclass(frozen=True)
class Epoch:
    """What one rank knows when an epoch ends; rank 0 alone knows the progress of all islands."""

    measures: Sequence[IslandMeasure]
    generation: int
    seconds: float
    progress: Progress | None


@dataclass(frozen=True)
class Outcome:
    """How the loop ended."""

    progress: Progress
    reason: str
    interrupted: bool


def evolve(
    archipelago: Archipelago,
    spec: RunSpec,
    problem: Problem,
    world: World,
    watch: Callable[[Epoch], None],
    interruption: Interruption,
) -> Outcome:
    """Run until a criterion is met or a signal comes; rank 0 decides for all ranks."""
    schedule, limit = Schedule.of(spec), time_limit(spec.stop)
    began = time.perf_counter()
    progress: Progress | None = None

    def is_over() -> bool:
        out_of_time = world.rank == 0 and time.perf_counter() - began >= limit
        return out_of_time or interruption.requested

    archipelago.start()
    while True:
        measures = archipelago.measure()
        seconds = time.perf_counter() - began
        generation = archipelago.generation
        everyone = world.gather((measures, interruption.requested))
        outcome, step = None, 1
        if world.rank == 0:
            islands = [measure for rank, _ in everyone for measure in rank]
            step = step_after(progress, generation, seconds)
            progress = summarise(islands, generation, seconds, problem, progress)
            interrupted = any(requested for _, requested in everyone)
            reason = _INTERRUPTED if interrupted else first_reason(spec.stop, progress)
            outcome = Outcome(progress, reason, interrupted) if reason is not None else None
        watch(Epoch(measures, generation, seconds, progress))
        outcome, step = world.bcast((outcome, step))
        if outcome is not None:
            return outcome
        visit = schedule.next_visit(generation)
        if _reached(visit, step, archipelago, world, is_over) and schedule.migrates(visit):
            archipelago.migrate()


def step_after(before: Progress | None, generation: int, seconds: float) -> int:
    """Return how many generations pass in about half a second, by the speed of the last epoch."""
    # To make generation 0 takes about as long as any other.
    generations = 1 if before is None else generation - before.generation
    elapsed = seconds if before is None else seconds - before.seconds
    fitting = int(_STEP_SECONDS * generations / max(elapsed, 1e-9))
    # Of powers of two there are few, and a GPU keeps what it has prepared for each number.
    return 1 << max(0, fitting.bit_length() - 1)


def _reached(
    visit: int, step: int, archipelago: Archipelago, world: World, is_over: Callable[[], bool]
) -> bool:
    """Pass the generations up to `visit`; return early, with False, where a rank says it is over.

    Only the clock and signals end a run between epochs, so that nothing else depends on the steps.
    """
    while True:
        archipelago.advance(min(step, visit - archipelago.generation))
        if archipelago.generation == visit:
            return True
        archipelago.wait()
        if world.any(is_over()):
            return False


def summarise(
    islands: Sequence[IslandMeasure],
    generation: int,
    seconds: float,
    problem: Problem,
    before: Progress | None = None,
) -> Progress:
    """Return where all islands together stand, `before` being where they stood an epoch ago.

    A best cost belongs to the island that reached it first, and of these to the lowest. It stays
    that island's when others receive the solution, and when the island restarts.
    """
    first = min(islands, key=lambda each: (each.best, each.best_generation, each.island))
    sign = -1 if problem.maximise else 1
    cost = sign * first.best
    found = (first.island, first.best_generation)
    if before is not None and sign * cost >= sign * before.cost:
        found = (before.island, before.best_generation)
    return Progress(
        generation=generation,
        evaluations=sum(measure.evaluations for measure in islands),
        seconds=seconds,
        cost=cost,
        island=found[0],
        best_generation=found[1],
        mean=sign * sum(measure.mean for measure in islands) / len(islands),
        gap=problem.gap(cost),
        best_known=problem.best_known.value if problem.best_known is not None else None,
        maximise=problem.maximise,
    )
