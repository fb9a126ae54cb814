"""Perform a run: evolve, check the best solution exactly, write the result, compute a bound."""

import hashlib
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import Candidate
from islands.backends.cpu import share_of_cores
from islands.bounds.held_karp import ESTIMATE, Bound
from islands.bounds.methods import method_for
from islands.configuration.resolved import Resolved
from islands.display.messages import device_lines
from islands.display.screen import Screen
from islands.display.standstill import Standstill, advice, remedy
from islands.engine.asynchronous import AsyncLoop
from islands.engine.failures import Failures, resuming
from islands.engine.loop import Loop
from islands.engine.observers import (
    Calling,
    Checkpointing,
    Observer,
    Printing,
    Recording,
)
from islands.engine.signals import INTERRUPT, Interruption
from islands.errors import IslandsError, RunError
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Callback, Moment, Outcome
from islands.progress.result import Records, Result
from islands.progress.usage import EnergyMeter, Machine
from islands.record.folder import LOG
from islands.record.journal import Journal
from islands.record.tables import FolderRecords, MemoryRecords

_OF_COLONY = ("islands", "population", "rate", "algorithm", "encoding")
"""The settings of a colony in a result."""
_OF_PROGRESS = ("cost", "best_known", "gap", "island", "colony", "best_generation", "evaluations")
_OF_OUTCOME = ("reason", "interrupted", "suspended", "is_partial", "abandoned_seconds")
_OF_MACHINE = ("compile_seconds", "ranks", "backend", "device", "transport")
"""The fields that a result copies from the progress, the outcome and the machine."""


@dataclass(frozen=True)
class Output:
    """The output of a run: its files, its stream and its callback; by default none."""

    writes: bool = False
    folder: Path | None = None
    """None creates a new folder in `runs`."""
    force: bool = False
    stream: TextIO | None = None
    quiet: bool = False
    callback: Callback | None = None
    """A user's function that receives the progress of an epoch on rank 0."""
    ends: Callable[[], bool] | None = None
    """Returns whether the run must end, as after an interrupt; any thread may call it."""
    collects: bool = False
    """Whether the result keeps the records in memory if the run has no folder."""


@dataclass(frozen=True)
class PreparedRun:
    """A run that is ready to begin, or to be resumed, on the islands of this rank.

    All methods are collective.
    """

    resolved: Resolved
    world: World
    archipelago: Archipelago
    machine: Machine
    interruption: Interruption
    output: Output
    folder: Path | None = None
    resumes: bool = False
    """Whether to resume from the folder."""
    asynchronous: bool = False
    """Whether ranks do not wait for each other; there are then no checkpoints."""

    def perform(self, notices: Sequence[str] = ()) -> Result:
        """Evolve on all ranks, print on rank 0, and write files if there is a folder.

        `notices` are the messages that were printed before the log existed.
        """
        world, spec, problem = self.world, self.resolved.spec, self.resolved.problem
        failures = Failures(world, self.folder, self.interruption)
        processes = spec.general.threads or share_of_cores(world.local_size)
        with (
            problem.evaluation.prepared(processes, self.machine.backend) as evaluation,
            self._screen(failures) as screen,
        ):
            self._introduce(screen, evaluation, notices)
            journal: Journal | None = None
            records: Journal | MemoryRecords | None = None
            if self.folder is not None:
                whole = (self.folder, self.resolved, world, self.archipelago, screen.say)
                records = journal = Journal(*whole, resumes=self.resumes)
            elif self.output.collects:
                records = MemoryRecords(self.resolved, world)
            observers = self._observers(records, screen, failures)
            screen.say("")
            self.interruption.handle_interrupts()
            energy = EnergyMeter(self.archipelago.backend, world)
            outcome = self._evolved(observers, screen, None if journal is None else journal.origin)
            result = self._result(outcome, records, energy.of_all_ranks())
            for observer in observers:
                if isinstance(observer, Checkpointing) and not outcome.is_partial:
                    observer.keep(outcome.moment)
            # A run without a solution is not finished; it can only be resumed.
            is_finished = not (outcome.suspended or outcome.is_partial) and result.cost is not None
            if journal is not None and is_finished:
                with failures:
                    journal.finish(result)
            if spec.general.bound and is_finished and not result.interrupted:
                screen.table.finish(outcome.progress)
                result = self._with_bound(result, screen.say)
                if journal is not None:
                    with failures:
                        journal.amend(result)
            if journal is not None:
                # All files, such as the manifest, must exist before any rank leaves.
                world.barrier()
                result = _with_ending(result, failures.of_all_ranks())
            summary = result.summary()
            if evaluation:
                seconds, spent = outcome.progress.seconds, self.archipelago.evaluation_seconds
                share = 100 * min(1.0, spent / seconds) if seconds else 0
                summary += f"\n{share:.0f} % of the time was spent on: {evaluation}"
            screen.end(outcome.progress, summary)
        # Closing the screen may also have failed to write the log.
        return result if journal is None else replace(result, write_error=failures.of_all_ranks())

    def _screen(self, failures: Failures) -> Screen:
        is_first, resolved = self.world.rank == 0, self.resolved
        return Screen(
            self.output.stream if is_first else None,
            self.folder / LOG if self.folder is not None and is_first else None,
            quiet=self.output.quiet,
            criteria=resolved.spec.stop,
            standstill=Standstill(advice(resolved), remedy(resolved.problem)),
            failed=failures.of_screen,
        )

    def _introduce(self, screen: Screen, evaluation: str, notices: Sequence[str]) -> None:
        """Print the messages, settings and devices of the run before it begins."""
        for text in notices:
            screen.note(text)
        screen.say(device_lines(self.resolved.spec, self.machine, self.folder))
        if evaluation:
            screen.say(evaluation)
        device = self.archipelago.backend.device
        process = f"host {platform.node()}   pid {os.getpid()}   {device}"
        for line in self.world.gather(f"rank {self.world.rank}   {process}"):
            screen.note(line)

    def _observers(
        self, records: Journal | MemoryRecords | None, screen: Screen, failures: Failures
    ) -> list[Observer]:
        """Return the observers in calling order; their types are the same on all ranks."""
        observers: list[Observer] = []
        if self.world.bcast(self.output.callback is not None):
            observers.append(Calling(self.output.callback, self.world))
        if records is not None:
            observers.append(Recording(records, failures))
        observers.append(Printing(screen))
        if isinstance(records, Journal) and not self.asynchronous:
            every = self.resolved.spec.checkpoint.every
            checkpoints = (records.checkpoints, screen, failures, every, records.origin)
            observers.append(Checkpointing(*checkpoints))
        return observers

    def _evolved(
        self, observers: Sequence[Observer], screen: Screen, origin: Moment | None
    ) -> Outcome:
        if origin is not None:
            screen.table.since = origin.generation
        kind = AsyncLoop if self.asynchronous else Loop
        evolution = (self.archipelago, self.resolved, self.world, self.interruption, observers)
        return kind(*evolution, say=screen.say, origin=origin).run()

    def _result(
        self, outcome: Outcome, records: Journal | MemoryRecords | None, joules: float | None
    ) -> Result:
        """Return the checked result, the same on every rank."""
        resolved, world, archipelago = self.resolved, self.world, self.archipelago
        bests = filter(None, world.allgather(archipelago.best()))
        best = min(bests, key=lambda candidate: (candidate.cost, candidate.island), default=None)
        violation = world.run_on_all(
            lambda: check_exactly(resolved.problem, best, outcome.progress.cost)
        )
        # An incomplete generation 0 cannot be reproduced.
        local = [] if outcome.is_partial else archipelago.digests()
        digests = [pair for rank in world.allgather(local) for pair in rank]
        kept: Records | None = None
        if self.folder is not None:
            kept = FolderRecords(resolved.problem, self.folder.absolute())
        elif isinstance(records, MemoryRecords):
            kept = records.of_all_ranks()
        digest = "" if outcome.is_partial else combined(digests)
        return build_result(
            *(resolved, self.machine, outcome, best, violation, digest),
            colonies=self._colonies(),
            rank_seconds=world.allgather(dict(outcome.phases)),
            team=max(world.allgather(archipelago.working_ranks)),
            idle_ranks=sum(world.allgather(archipelago.is_idle)),
            joules=joules,
            reproducible=not self.asynchronous,
            folder=str(self.folder) if self.folder is not None else None,
            records=kept,
        )

    def _colonies(self) -> list[dict[str, Any]]:
        """Return the settings of the colonies, with the best cost on their islands."""
        spec, scale = self.resolved.spec, self.resolved.problem.scale
        if not spec.colonies:
            return []
        local = [(island.colony, island.best) for island in self.archipelago.measure()]
        pairs = [pair for rank in self.world.allgather(local) for pair in rank]
        rows = list[dict[str, Any]]()
        for number, colony in enumerate(spec.colonies):
            costs = [cost for owner, cost in pairs if owner == number and cost is not None]
            settings = {name: getattr(colony, name) for name in _OF_COLONY}
            cost = scale.user_costs(min(costs)) if costs else None
            rows.append({**settings, "improver": colony.improver.name, "cost": cost})
        return rows

    def _with_bound(self, result: Result, say: Callable[[str], None]) -> Result:
        """Return the result with a bound.

        Rank 0 computes it on its device. A signal ends the computation; after SIGINT, the result is
        interrupted, so that `islands resume` computes the bound again. If the computation fails,
        the result has no bound.
        """
        problem, device = self.resolved.problem, self.archipelago.backend
        cost, method = result.cost, method_for(problem)
        assert cost is not None, "only a finished run has a bound"
        assert method is not None, "the problem has a bound"
        solution = np.asarray(result.solution, np.int64)
        seconds = max(method.least, method.share * result.seconds)
        side = "upper" if problem.maximise else "lower"
        say("")
        if seconds > 0:
            article = "an" if problem.maximise else "a"
            say(f"computing {article} {side} bound, for about {seconds:.0f} s")

        def is_stopped() -> bool:
            return self.interruption.requested != 0

        bound: Bound | None = None
        try:
            bound = self.world.from_first(
                lambda: method.compute(problem, solution, device, seconds, is_stopped)
            )
        except Exception as error:  # such as too little memory; the run still has its result
            words = str(error) if isinstance(error, IslandsError) else repr(error)
            say(f"islands: no {side} bound: {words}")
        signals = self.world.allgather(self.interruption.requested)
        result = replace(result, interrupted=any(number & INTERRUPT for number in signals))
        if bound is None:
            return result
        value, is_proven = problem.scale.value_of(bound.value), bound.kind != ESTIMATE
        return replace(
            result,
            bound=value if is_proven else None,
            bound_estimate=None if is_proven else value,
            bound_gap=gap_to(cost, value),
            bound_kind=bound.kind,
            bound_seconds=bound.seconds,
        )


def _with_ending(result: Result, write_error: str) -> Result:
    """Return the result with its write error, or with the command that resumes the run."""
    if write_error or not result.suspended:
        return replace(result, write_error=write_error)
    kept = "no checkpoint; start again" if result.is_partial else "checkpoint written; resume"
    return replace(result, reason=f"{result.reason}: {kept} with: {resuming(result.folder)}")


def check_exactly(problem: Problem, best: Candidate | None, shown: float | None) -> float:
    """Return the violation of the best solution; 0 without a solution.

    Raise a `RunError` if the exact cost contradicts the one `shown` by the run.
    """
    violation = 0.0 if best is None else problem.violation(best.solution)
    exact = problem.cost(best.solution) if best is not None and violation == 0 else None
    if not problem.scale.agrees(exact, shown):
        difference = (
            f"its violation is {violation:g}" if violation else f"its exact cost is {exact}"
        )
        raise RunError(
            f"the best solution{'' if best is None else f' of island {best.island}'} had the cost"
            f" {shown} in the run, but {difference}. {problem.evaluation.cost_fix}"
        )
    return violation


def combined(digests: Iterable[tuple[int, str]]) -> str:
    """Return one SHA-256 of the digests of all islands, in island order."""
    return hashlib.sha256("".join(digest for _, digest in sorted(digests)).encode()).hexdigest()


def build_result(
    resolved: Resolved,
    machine: Machine,
    outcome: Outcome,
    best: Candidate | None,
    violation: float,
    digest: str,
    **fields: Any,
) -> Result:
    """Return the result of a run whose best solution was checked; `fields` are its other fields."""
    spec, problem, progress = resolved.spec, resolved.problem, outcome.progress
    sources = ((progress, _OF_PROGRESS), (outcome, _OF_OUTCOME), (machine, _OF_MACHINE))
    fields |= {name: getattr(source, name) for source, names in sources for name in names}
    return Result(
        instance=problem.instance,
        problem=problem.name,
        algorithm=spec.words("algorithm"),
        encoding=spec.words("encoding"),
        preset=spec.preset,
        solution=None if best is None else problem.kind.presented(best.solution),
        violation=violation,
        solution_kind=problem.kind.name,
        generations=progress.generation,
        seconds=progress.seconds,
        seed=spec.general.seed,
        islands=spec.general.islands,
        population=int(spec.mean_population),
        digest=digest,
        checked="" if best is None else problem.evaluation.checker,
        stored_settings=spec.stored,
        **fields,
    )


def gap_to(cost: float, bound: float) -> float | None:
    """Return the gap of a cost to a bound in per cent; None if that is undefined (bound <= 0)."""
    if bound <= 0:
        return 0.0 if cost == bound else None
    return 100.0 * abs(cost - bound) / bound
