"""Perform a run: evolve, check the best solution exactly, write the result, compute a bound."""

from __future__ import annotations

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
from islands.display.messages import place
from islands.display.screen import Screen
from islands.display.standstill import Standstill, advice, cure
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
from islands.progress.progress import Callback, Outcome
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
"""The fields that a result has from others."""


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
    """Whether the result of a run without a folder has the records, in memory."""


@dataclass(frozen=True)
class PreparedRun:
    """A run that is ready to begin, or to be resumed, on the islands of this rank."""

    resolved: Resolved
    world: World
    archipelago: Archipelago
    machine: Machine
    folder: Path | None = None
    goes_on: bool = False
    """Whether to resume from the folder."""
    asynchronous: bool = False
    """Whether ranks do not wait for each other, so that there are no checkpoints."""


def perform(
    run: PreparedRun,
    interruption: Interruption,
    output: Output,
    notices: Sequence[str] = (),
) -> Result:
    """Evolve on all ranks, print on rank 0, and write files if there is a folder; collective.

    `notices` are the messages that were printed before the log existed.
    """
    world, spec, problem = run.world, run.resolved.spec, run.resolved.problem
    failures = Failures(world, run.folder, interruption)
    processes = spec.general.threads or share_of_cores(world.local_size)
    with (
        problem.evaluation.prepared(processes, run.machine.backend) as evaluation,
        _screen(run, output, failures) as screen,
    ):
        _introduce(run, screen, evaluation, notices)
        records: Journal | MemoryRecords | None = None
        if run.folder is not None:
            whole = (run.folder, run.resolved, world, run.archipelago, screen.say)
            records = Journal(*whole, goes_on=run.goes_on)
        elif output.collects:
            records = MemoryRecords(run.resolved, world)
        observers = _observers(run, output, records, screen, failures)
        screen.say("")
        interruption.handle_interrupts()
        energy = EnergyMeter(run.archipelago.backend, world)
        outcome = _evolved(run, records, observers, screen, interruption)
        result = _result(run, outcome, records, energy.of_all_ranks())
        for observer in observers:
            if isinstance(observer, Checkpointing) and not outcome.is_partial:
                observer.keep(outcome.moment)
        # A run without a solution is not finished; it can only be resumed.
        is_finished = not (outcome.suspended or outcome.is_partial) and result.cost is not None
        if isinstance(records, Journal) and is_finished:
            with failures:
                records.finish(result)
        if spec.general.bound and is_finished and not result.interrupted:
            screen.table.finish(outcome.progress)
            result = _with_bound(run, result, interruption, screen.say)
            if isinstance(records, Journal):
                with failures:
                    records.amend(result)
        if run.folder is not None:
            # All files, such as the manifest, must exist before any rank leaves.
            world.barrier()
            result = _with_ending(result, failures.of_all_ranks())
        summary = result.summary()
        if evaluation:
            seconds, spent = outcome.progress.seconds, run.archipelago.evaluation_seconds
            share = 100 * min(1.0, spent / seconds) if seconds else 0
            summary += f"\n{share:.0f} % of the time was spent on: {evaluation}"
        screen.end(outcome.progress, summary)
    # The log may have failed last.
    return result if run.folder is None else replace(result, write_error=failures.of_all_ranks())


def _screen(run: PreparedRun, output: Output, failures: Failures) -> Screen:
    """Return the output of this rank."""
    is_first, resolved = run.world.rank == 0, run.resolved
    return Screen(
        output.stream if is_first else None,
        run.folder / LOG if run.folder is not None and is_first else None,
        quiet=output.quiet,
        criteria=resolved.spec.stop,
        standstill=Standstill(advice(resolved), cure(resolved.problem)),
        failed=failures.of_screen,
    )


def _introduce(run: PreparedRun, screen: Screen, evaluation: str, notices: Sequence[str]) -> None:
    """Print what is known before the run begins; collective."""
    for text in notices:
        screen.note(text)
    screen.say(place(run.resolved.spec, run.machine, run.folder))
    if evaluation:
        screen.say(evaluation)
    process = f"host {platform.node()}   pid {os.getpid()}   {run.archipelago.backend.device}"
    for line in run.world.gather(f"rank {run.world.rank}   {process}"):
        screen.note(line)


def _observers(
    run: PreparedRun,
    output: Output,
    records: Journal | MemoryRecords | None,
    screen: Screen,
    failures: Failures,
) -> list[Observer]:
    """Return the observers in the order of their calls, of the same types on all ranks."""
    observers: list[Observer] = []
    if run.world.bcast(output.callback is not None):
        observers.append(Calling(output.callback, run.world))
    if records is not None:
        observers.append(Recording(records, failures))
    observers.append(Printing(screen))
    if isinstance(records, Journal) and not run.asynchronous:
        every = run.resolved.spec.checkpoint.every
        checkpoints = (records.checkpoints, screen, failures, every, records.origin)
        observers.append(Checkpointing(*checkpoints))
    return observers


def _with_ending(result: Result, write_error: str) -> Result:
    """Return the result with the error of its files, or with the command that resumes it."""
    if write_error or not result.suspended:
        return replace(result, write_error=write_error)
    kept = "no checkpoint; start again" if result.is_partial else "checkpoint written; resume"
    return replace(result, reason=f"{result.reason}: {kept} with: {resuming(result.folder)}")


def _evolved(
    run: PreparedRun,
    records: Journal | MemoryRecords | None,
    observers: Sequence[Observer],
    screen: Screen,
    interruption: Interruption,
) -> Outcome:
    origin = records.origin if isinstance(records, Journal) else None
    if origin is not None:
        screen.table.since = origin.generation
    kind = AsyncLoop if run.asynchronous else Loop
    evolution = (run.archipelago, run.resolved, run.world, interruption, observers)
    return kind(*evolution, say=screen.say, origin=origin).run()


def check_exactly(problem: Problem, best: Candidate | None, shown: float | None) -> float:
    """Return the violation of the best solution; 0 without a solution.

    Raise a `RunError` if the exact cost contradicts the one `shown` by the run.
    """
    violation = 0.0 if best is None else problem.violation(best.solution)
    exact = problem.cost(best.solution) if best is not None and violation == 0 else None
    if not problem.scale.agrees(exact, shown):
        found = f"its violation is {violation:g}" if violation else f"its exact cost is {exact}"
        raise RunError(
            f"the best solution{'' if best is None else f' of island {best.island}'} had the cost"
            f" {shown} in the run, but {found}. {problem.evaluation.cost_fix}"
        )
    return violation


def combined(digests: Iterable[tuple[int, str]]) -> str:
    """Return one SHA-256 of the digests of all islands, in island order."""
    return hashlib.sha256("".join(digest for _, digest in sorted(digests)).encode()).hexdigest()


def _colonies(run: PreparedRun) -> list[dict[str, Any]]:
    """Return the settings of the colonies, with the best cost on their islands; collective."""
    spec, scale = run.resolved.spec, run.resolved.problem.scale
    if not spec.colonies:
        return []
    own = [(island.colony, island.best) for island in run.archipelago.measure()]
    everyone = [pair for rank in run.world.allgather(own) for pair in rank]
    rows = list[dict[str, Any]]()
    for number, colony in enumerate(spec.colonies):
        costs = [cost for of, cost in everyone if of == number and cost is not None]
        settings = {name: getattr(colony, name) for name in _OF_COLONY}
        cost = scale.own_sense(min(costs)) if costs else None
        rows.append({**settings, "improver": colony.improver.name, "cost": cost})
    return rows


def _result(
    run: PreparedRun,
    outcome: Outcome,
    records: Journal | MemoryRecords | None,
    joules: float | None,
) -> Result:
    """Return the checked result, the same on every rank; collective."""
    resolved, world, archipelago = run.resolved, run.world, run.archipelago
    bests = filter(None, world.allgather(archipelago.best()))
    best = min(bests, key=lambda candidate: (candidate.cost, candidate.island), default=None)
    violation = world.run_on_all(
        lambda: check_exactly(resolved.problem, best, outcome.progress.cost)
    )
    # An incomplete generation 0 cannot be reproduced.
    own = [] if outcome.is_partial else archipelago.digests()
    digests = [pair for rank in world.allgather(own) for pair in rank]
    kept: Records | None = None
    if run.folder is not None:
        kept = FolderRecords(resolved.problem, run.folder.absolute())
    elif isinstance(records, MemoryRecords):
        kept = records.of_all_ranks()
    digest = "" if outcome.is_partial else combined(digests)
    return made_result(
        *(resolved, run.machine, outcome, best, violation, digest),
        colonies=_colonies(run),
        rank_seconds=world.allgather(dict(outcome.phases)),
        team=max(world.allgather(archipelago.working_ranks)),
        idle_ranks=sum(world.allgather(archipelago.is_idle)),
        joules=joules,
        reproducible=not run.asynchronous,
        folder=str(run.folder) if run.folder is not None else None,
        records=kept,
    )


def made_result(
    resolved: Resolved,
    machine: Machine,
    outcome: Outcome,
    best: Candidate | None,
    violation: float,
    digest: str,
    **others: Any,
) -> Result:
    """Return the result of a run whose best solution was checked; `others` are its other fields."""
    spec, problem, progress = resolved.spec, resolved.problem, outcome.progress
    sources = ((progress, _OF_PROGRESS), (outcome, _OF_OUTCOME), (machine, _OF_MACHINE))
    others |= {name: getattr(source, name) for source, names in sources for name in names}
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
        **others,
    )


def _with_bound(
    run: PreparedRun, result: Result, interruption: Interruption, say: Callable[[str], None]
) -> Result:
    """Return the result with a lower bound; collective.

    Rank 0 computes it on its device. A signal ends it early; after SIGINT, the result is
    interrupted, so that `islands resume` computes the bound again. If its computation fails, the
    result has no bound.
    """
    problem, device = run.resolved.problem, run.archipelago.backend
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
        return interruption.requested != 0

    found: Bound | None = None
    try:
        found = run.world.from_first(
            lambda: method.compute(problem, solution, device, seconds, is_stopped)
        )
    except Exception as error:  # such as too little memory: the result is more important
        words = str(error) if isinstance(error, IslandsError) else repr(error)
        say(f"islands: no {side} bound: {words}")
    signals = run.world.allgather(interruption.requested)
    result = replace(result, interrupted=any(number & INTERRUPT for number in signals))
    if found is None:
        return result
    value, is_proven = problem.scale.value_of(found.value), found.kind != ESTIMATE
    return replace(
        result,
        bound=value if is_proven else None,
        bound_estimate=None if is_proven else value,
        bound_gap=gap_to(cost, value),
        bound_kind=found.kind,
        bound_seconds=found.seconds,
    )


def gap_to(cost: float, bound: float) -> float | None:
    """Return how far a cost is from a bound, in per cent of it; None if the bound is 0."""
    if bound <= 0:
        return 0.0 if cost == bound else None
    return 100.0 * abs(cost - bound) / bound
