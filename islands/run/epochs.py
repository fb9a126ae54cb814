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
from islands.run.stop import Progress, first_reason, last_generation

_INTERRUPTED = "interrupted by a signal"


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
    schedule = Schedule.of(spec)
    began = time.perf_counter()
    archipelago.start()
    while True:
        measures = archipelago.measure()
        seconds = time.perf_counter() - began
        generation = archipelago.generation
        everyone = world.gather((measures, interruption.requested))
        progress, outcome = None, None
        if world.rank == 0:
            islands = [measure for rank, _ in everyone for measure in rank]
            progress = summarise(islands, generation, seconds, problem)
            interrupted = any(requested for _, requested in everyone)
            reason = _INTERRUPTED if interrupted else first_reason(spec.stop, progress)
            outcome = Outcome(progress, reason, interrupted) if reason is not None else None
        watch(Epoch(measures, generation, seconds, progress))
        outcome = world.bcast(outcome)
        if outcome is not None:
            return outcome
        visit = schedule.next_visit(generation)
        archipelago.advance(visit - generation)
        if schedule.migrates(visit):
            archipelago.migrate()


def summarise(
    islands: Sequence[IslandMeasure], generation: int, seconds: float, problem: Problem
) -> Progress:
    """Return where all islands together stand; of equal bests, the lowest island's counts."""
    best = min(islands, key=lambda measure: (measure.best, measure.island))
    sign = -1 if problem.maximise else 1
    cost = sign * best.best
    return Progress(
        generation=generation,
        evaluations=sum(measure.evaluations for measure in islands),
        seconds=seconds,
        cost=cost,
        island=best.island,
        best_generation=best.best_generation,
        mean=sign * sum(measure.mean for measure in islands) / len(islands),
        gap=problem.gap(cost),
        best_known=problem.best_known.value if problem.best_known is not None else None,
        maximise=problem.maximise,
    )
