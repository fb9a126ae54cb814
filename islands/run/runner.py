"""A run from its `RunSpec` to its `Result`: prepare, evolve, check the best exactly, write."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import islands
from islands.archipelago import Archipelago, Candidate
from islands.backends.base import Backend
from islands.errors import InputError, RunError
from islands.migration import migrates
from islands.migration.road import find
from islands.parallel import World, deal
from islands.problems import load
from islands.problems.base import Problem, Solution
from islands.run.agreement import require_agreement
from islands.run.epochs import Epoch, Outcome, evolve
from islands.run.folder import LOG, claim, refuse_unfit
from islands.run.machine import Machine, take_device
from islands.run.recorder import Recorder
from islands.run.resolve import instance_of, layers, resolve
from islands.run.result import Result
from islands.run.screen import Screen, header
from islands.run.signals import Interruption
from islands.run.spec import RunSpec


@dataclass(frozen=True)
class Output:
    """Where a run writes its files and speaks; the default is nowhere."""

    writes: bool = False
    folder: Path | None = None
    """None takes a fresh one in `runs`."""
    force: bool = False
    stream: TextIO | None = None
    quiet: bool = False


def run_asked(
    options: Mapping[str, Any],
    config: Path | None,
    world: World,
    output: Output,
    problem: Problem | None = None,
) -> Result:
    """Resolve what was asked for, load the instance unless it is given, and run."""

    def resolved() -> tuple[RunSpec, Problem]:
        asked = layers(options, config)
        chosen = problem if problem is not None else load(instance_of(asked))
        return resolve(asked, chosen), chosen

    spec, chosen = world.agreed(resolved)
    return run(spec, chosen, world, output)


def run(spec: RunSpec, problem: Problem, world: World, output: Output) -> Result:
    """Run on all ranks; every rank returns the same result."""
    require_agreement(world, spec, problem, writes=output.writes)
    world.agreed(lambda: refuse_unfit(output.folder, force=output.force))
    world.agreed(lambda: deal(spec.general.islands, world.size, world.rank))
    backend = take_device(world, spec.general.backend, spec.general.threads or None)
    archipelago = make_archipelago(spec, problem, world, backend)
    machine = Machine.of(world, backend, archipelago)
    folder = _folder(spec, problem, world, output)
    recorder = world.agreed(lambda: _recorder(folder, spec, problem, world))
    speaks = world.rank == 0
    log = folder / LOG if folder is not None and speaks else None
    with Screen(output.stream if speaks else None, log, quiet=output.quiet) as screen:
        screen.begin(header(islands.__version__, spec, problem, machine, folder))

        def watch(epoch: Epoch) -> None:
            if recorder is not None:
                recorder.epoch(epoch)
            if epoch.progress is not None:
                screen.show(epoch.progress)

        with Interruption() as interruption:
            outcome = evolve(archipelago, spec, problem, world, watch, interruption)
            best = min(
                world.allgather(archipelago.best()), key=lambda each: (each.cost, each.island)
            )
            world.agreed(lambda: check_exactly(problem, best, outcome.progress.cost))
            digests = [pair for rank in world.allgather(archipelago.digests()) for pair in rank]
            result = _result(spec, problem, machine, outcome, best, folder, combined(digests))
            if recorder is not None:
                recorder.finish_trace(result)
                world.barrier()
                recorder.finish(result)
        screen.end(outcome.progress, result.summary())
    return result


def make_archipelago(
    spec: RunSpec, problem: Problem, world: World, backend: Backend
) -> Archipelago:
    """Return this rank's islands of a run, before their first generation; collective."""
    road = None
    if migrates(spec.migration, spec.general.islands):
        road, trouble = find(world, backend)
        if trouble and world.rank == 0:
            print(f"islands: {trouble}", file=sys.stderr, flush=True)
    return world.agreed(
        lambda: Archipelago(
            problem=problem,
            algorithm=spec.algorithm,
            encoding=spec.encoding,
            settings=spec.settings,
            population=spec.general.population,
            islands=spec.general.islands,
            seed=spec.general.seed,
            migration=spec.migration,
            backend=backend,
            world=world,
            road=road,
            warm_start=[_given(problem, Path(path)) for path in spec.start],
        )
    )


def _given(problem: Problem, path: Path) -> Solution:
    """Return the solution in a file, having checked that it is one."""
    solution = problem.read_solution(path)
    try:
        problem.check(solution)
    except RunError as error:
        raise InputError(f"{path}: {error}") from error
    return solution


def _recorder(
    folder: Path | None, spec: RunSpec, problem: Problem, world: World
) -> Recorder | None:
    return Recorder(folder, spec, problem, world.rank) if folder is not None else None


def _folder(spec: RunSpec, problem: Problem, world: World, output: Output) -> Path | None:
    if not output.writes:
        return None

    def claimed() -> Path | None:
        if world.rank > 0:
            return None
        return claim(output.folder, name=problem.instance.split("/")[-1], force=output.force)

    return world.bcast(world.agreed(claimed))


def check_exactly(problem: Problem, best: Candidate, shown: int) -> None:
    """Raise a `RunError` where the exact objective contradicts the cost that the run has shown."""
    exact = problem.cost(best.solution)
    if exact != shown:
        raise RunError(
            f"the kernels gave the best solution of island {best.island} the cost {shown}, but its"
            f" exact cost is {exact}. This is an error in islands: please report it"
        )


def combined(digests: Iterable[tuple[int, str]]) -> str:
    """Return one SHA-256 over the digests of all islands, in island order."""
    return hashlib.sha256("".join(digest for _, digest in sorted(digests)).encode()).hexdigest()


def _result(
    spec: RunSpec,
    problem: Problem,
    machine: Machine,
    outcome: Outcome,
    best: Candidate,
    folder: Path | None,
    digest: str,
) -> Result:
    progress = outcome.progress
    return Result(
        instance=problem.instance,
        problem=problem.name,
        algorithm=spec.algorithm,
        encoding=spec.encoding,
        preset=spec.preset,
        cost=progress.cost,
        best_known=progress.best_known,
        gap=progress.gap,
        solution=best.solution,
        island=progress.island,
        best_generation=progress.best_generation,
        generations=progress.generation,
        evaluations=progress.evaluations,
        seconds=progress.seconds,
        compile_seconds=machine.compile_seconds,
        reason=outcome.reason,
        interrupted=outcome.interrupted,
        seed=spec.general.seed,
        ranks=machine.ranks,
        islands=spec.general.islands,
        population=spec.general.population,
        backend=machine.backend,
        device=machine.device,
        road=machine.road,
        digest=digest,
        folder=str(folder) if folder is not None else None,
    )
