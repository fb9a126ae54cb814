"""Run or resume: from the requested settings to a `Result`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from islands.backends.base import Backend
from islands.configuration.agreement import identity, require_agreement
from islands.configuration.fit import require_block_memory
from islands.configuration.own import traits
from islands.configuration.resolve import layers
from islands.configuration.spec import RunSpec, deal_of
from islands.custom.trust import NO_TRUST, Trust, UntrustedError
from islands.display.messages import Notices, announce
from islands.display.screen import Screen
from islands.errors import InputError, RunError, UnwritableError, UsageError
from islands.migration.exchange import require_same_senders
from islands.parallel import RanksLostError, World, describe
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.progress.usage import Machine
from islands.record.checkpoint import remove_obsolete
from islands.record.folder import FINISHED, SETTINGS, claim, refuse_unfit, require_run
from islands.record.inputs import (
    require_intact,
    signature_of,
    store_parts,
    store_problem,
    write_settings,
)
from islands.record.lock import FolderLock
from islands.record.one_run import require_core, warnings
from islands.record.solution import Finished, finished
from islands.run.build import (
    RankOptions,
    block_memory,
    has_halo,
    make_archipelago,
    read_start,
    take_device,
)
from islands.run.loop import Callback
from islands.run.request import resolve_stored, resolved, stored_request
from islands.run.signals import Interruption
from islands.run.single import Start, perform
from islands.untrusted import followed


@contextmanager
def advising(folder: Path | None) -> Iterator[None]:
    """Add to an error of a file inside the block the command that continues the run."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has left
    except (OSError, UnwritableError) as error:
        if folder is None:
            raise
        command = f"continue the run with: islands resume {shlex.quote(str(folder))}"
        if isinstance(error, OSError):
            raise RunError(f"{describe(error)}. When this is repaired, {command}") from error
        # The same object, as all ranks may have agreed on it.
        error.args = (f"{error}. Then {command}",)
        raise


_DEFAULT = RankOptions()


@dataclass(frozen=True)
class Output:
    """Where a run writes its files, prints and reports; by default nowhere."""

    writes: bool = False
    folder: Path | None = None
    """None creates a new folder in `runs`."""
    force: bool = False
    stream: TextIO | None = None
    quiet: bool = False
    callback: Callback | None = None
    """A user's function that receives the progress of each epoch on rank 0."""
    collects: bool = False
    """Whether a run without a folder keeps its records in memory for the result."""


def run_requested(
    options: Mapping[str, Any],
    config: Path | None,
    world: World,
    output: Output,
    problem: Problem | None = None,
    rank_options: RankOptions = _DEFAULT,
    *,
    allow_no_solution: bool = False,
    trust: Trust = NO_TRUST,
) -> Result:
    """Resolve the requested settings, load the instance unless it is given, and run.

    `trust` are the scripts that the configuration file may name. Raise a `RunError` if the run ends
    without a solution, unless it was interrupted or `allow_no_solution` is true.
    """
    # Other hosts may lack the key.
    trust = world.from_first(lambda: trust.signed_in(config, followed))
    spec, chosen = world.run_on_all(lambda: resolved(layers(options, config, trust), problem))
    result = run(spec, chosen, world, output, rank_options)
    return (
        result
        if allow_no_solution
        else world.run_on_all(lambda: result.require_solution(chosen.hint))
    )


def resume_requested(
    folder: Path,
    options: Mapping[str, Any],
    world: World,
    output: Output,
    rank_options: RankOptions = _DEFAULT,
    *,
    trust: Trust = NO_TRUST,
) -> Result:
    """Resume the run in a folder, or return its result if it is finished.

    A `stop` among the `options` replaces the criteria of the run, even if they were satisfied.
    `trust` are the scripts and the code that someone else may have put into the folder.
    """
    world.run_on_all(lambda: require_run(folder))
    ended = world.run_on_all(lambda: finished(folder, goes_on="stop" in options))
    world.run_on_all(lambda: require_intact(folder))
    world.run_on_all(lambda: require_core(folder))
    trust = world.from_first(lambda: trust.signed_in(folder / SETTINGS))
    if ended is not None:
        with Screen(output.stream if world.rank == 0 else None, None) as screen:
            screen.say("\n".join([ended.result.summary(), *warnings(folder)]))
            world.run_on_all(lambda: _check_again(ended, folder, options, screen.say, trust))
        world.run_on_all(lambda: _complete_cleanup(folder, ended) if world.rank == 0 else None)
        return ended.result
    spec, problem = world.run_on_all(
        lambda: resolve_stored(folder, stored_request(folder, options, trust))
    )
    return resume(spec, problem, world, output, folder, rank_options)


def _check_again(
    ended: Finished,
    folder: Path,
    options: Mapping[str, Any],
    say: Callable[[str], None],
    trust: Trust,
) -> None:
    """Compute the cost of a finished run again, if its instance and parts still exist."""
    try:
        asked = stored_request(folder, options, trust)
    except UntrustedError as error:
        say(f"Its cost was not computed again: {error}")
        return
    except InputError as error:
        say(f"Its cost cannot be computed again, as files are missing: {error}")
        return
    ended.require_exact(*resolve_stored(folder, asked))


def _complete_cleanup(folder: Path, ended: Finished) -> None:
    """Complete the cleanup of a process that was killed after it wrote the solution."""
    with FolderLock() as lock, suppress(UnwritableError):
        if lock.takes(folder) and (folder / FINISHED).exists():
            remove_obsolete(folder, ended.start)


def run(
    spec: RunSpec,
    problem: Problem,
    world: World,
    output: Output,
    rank_options: RankOptions = _DEFAULT,
) -> Result:
    """Run on all ranks and return the result, the same on every rank."""
    require_agreement(
        *(world, spec, problem),
        writes=output.writes,
        folder=output.folder,
        asynchronous=rank_options.asynchronous,
    )
    world.run_on_all(lambda: refuse_unfit(output.folder, force=output.force))
    # A single rank or team does not wait for others anyway.
    asynchronous = rank_options.asynchronous and deal_of(spec, problem, world.size).teams > 1
    world.run_on_all(lambda: _refuse_unfit(spec, problem, rank_options))
    if asynchronous:
        world.run_on_all(lambda: require_same_senders(spec.migration))
    world.run_on_all(lambda: read_start(spec, problem))
    suspends = "writing the best so far" if asynchronous else "writing a checkpoint"
    with (
        FolderLock() as lock,
        Interruption(suspends=suspends if output.writes else "") as interruption,
    ):
        notices = announce(spec, problem, world, output.stream, quiet=output.quiet)
        backend = _device(spec, world, rank_options, notices)

        def begun() -> Start:
            start = _prepared(spec, problem, world, backend, asynchronous=asynchronous)
            return replace(start, folder=_folder(spec, problem, world, output, lock))

        return _run_to_end(begun, backend, output, lock, interruption, notices)


def resume(
    spec: RunSpec,
    problem: Problem,
    world: World,
    output: Output,
    folder: Path,
    rank_options: RankOptions = _DEFAULT,
) -> Result:
    """Resume from the newest usable checkpoint in a run's folder, or begin if there is none."""
    require_agreement(world, spec, problem, writes=True, folder=folder)
    world.run_on_all(lambda: _refuse_unfit(spec, problem, rank_options))
    with FolderLock() as lock, Interruption(suspends="writing a checkpoint") as interruption:
        notices = announce(spec, problem, world, output.stream, quiet=output.quiet)
        backend = _device(spec, world, rank_options, notices)
        begun = partial(_prepared, spec, problem, world, backend, folder)
        return _run_to_end(begun, backend, output, lock, interruption, notices)


def _device(spec: RunSpec, world: World, rank_options: RankOptions, notices: Notices) -> Backend:
    name, threads = spec.general.backend, spec.general.threads or None
    backend = rank_options.device or take_device(
        world, name, threads, share_gpu=rank_options.share_gpu
    )
    backend.compiling.tell = notices.say
    return backend


def _prepared(
    spec: RunSpec,
    problem: Problem,
    world: World,
    backend: Backend,
    goes_on_in: Path | None = None,
    *,
    asynchronous: bool = False,
) -> Start:
    """Return a start with all programs compiled, before anything is written; collective."""
    goes_on = goes_on_in is not None
    archipelago = make_archipelago(
        spec, problem, world, backend, asynchronous=asynchronous, goes_on=goes_on
    )
    machine = Machine.of(world, backend, archipelago)
    device = backend.device
    return Start(
        *(spec, problem, world, archipelago, machine, device),
        *(goes_on_in, goes_on, asynchronous, backend),
    )


def _run_to_end(
    begun: Callable[[], Start],
    backend: Backend,
    output: Output,
    lock: FolderLock,
    interruption: Interruption,
    notices: Notices,
) -> Result:
    """Run to the end; if ranks die and the others can continue, resume from the folder.

    A start's device memory must be released before the next start, so the caller must not keep the
    return value of `begun`.
    """
    first = begun()
    spec, problem, world, folder = first.spec, first.problem, first.world, first.folder
    start: Start | None = first
    del first
    news, said = "", notices.lines
    while True:
        try:
            if start is None:
                size = world.size
                world.shrink()
                news = f"{size - world.size} of {size} ranks died; the others continue"
                start = _prepared(spec, problem, world, backend, folder)
            if folder is not None:
                world.run_on_all(lambda: lock.take(folder) if world.rank == 0 else None)
            with advising(folder):
                return perform(
                    start,
                    interruption,
                    output.stream,
                    quiet=output.quiet,
                    news=news,
                    notices=said,
                    callback=output.callback,
                    collects=output.collects,
                )
        except RanksLostError:
            if folder is None or not world.fault_tolerant:
                raise
            # Rank 0 may be another process now, which has printed nothing yet.
            start, said = None, []


def _refuse_unfit(spec: RunSpec, problem: Problem, rank_options: RankOptions) -> None:
    """Refuse what a run cannot do, before anything is printed."""
    require_block_memory(spec, problem, lambda: block_memory(spec.general.backend))
    if rank_options.asynchronous and has_halo(spec):
        raise UsageError(
            "--async with halo=true: slices of one population need each other's ends in each"
            " generation. Leave --async out, or choose halo=false"
        )


def _folder(
    spec: RunSpec, problem: Problem, world: World, output: Output, lock: FolderLock
) -> Path | None:
    """Return the run's folder, claimed by rank 0, or None if nothing is written; collective."""
    if not output.writes:
        return None

    def claimed() -> Path | None:
        if world.rank > 0:
            return None
        name = problem.instance.split("/")[-1]
        folder = claim(output.folder, name=name, force=output.force, lock=lock)
        # Write them first: they mark the folder as a run's, even if the run is killed.
        run, signature = identity(spec, problem), signature_of(problem)
        write_settings(folder, spec, run, signature)
        store_problem(folder, problem)
        store_parts(folder, traits(spec.to_mapping(), problem))
        return folder

    return world.bcast(world.run_on_all(claimed))
