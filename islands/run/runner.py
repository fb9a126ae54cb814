"""A run from what was asked for to its `Result`: a new one, or one that goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from islands.backends.base import Backend
from islands.display.header import Notices, announce
from islands.display.screen import Screen
from islands.errors import InputError, UnwritableError, UsageError
from islands.parallel import RanksLostError, World
from islands.problems.base import Problem
from islands.progress.machine import Machine
from islands.progress.result import Result
from islands.record.checkpoint import settle
from islands.record.folder import FINISHED, claim, refuse_unfit, require_run
from islands.record.kept import keep
from islands.record.lock import FolderLock
from islands.record.settings_file import require_intact, write_settings
from islands.record.solution import Finished, finished
from islands.run.build import has_halo, make_archipelago, read_start
from islands.run.device import Conduct, take_device
from islands.run.request import resolve_stored, resolved, stored_request
from islands.run.signals import Interruption
from islands.run.start import Start, perform
from islands.spec.agreement import require_agreement
from islands.spec.own import traits
from islands.spec.resolve import layers
from islands.spec.spec import RunSpec

_ORDERLY = Conduct()


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
    conduct: Conduct = _ORDERLY,
    *,
    allow_no_solution: bool = False,
) -> Result:
    """Resolve what was asked for, load the instance unless it is given, and run.

    It is an error where the run ends without a solution, not having been cut short, unless it
    `allow_no_solution`.
    """
    spec, chosen = world.agreed(lambda: resolved(layers(options, config), problem))
    result = run(spec, chosen, world, output, conduct)
    return (
        result if allow_no_solution else world.agreed(lambda: result.require_solution(chosen.hint))
    )


def resume_asked(
    folder: Path,
    options: Mapping[str, Any],
    world: World,
    output: Output,
    conduct: Conduct = _ORDERLY,
) -> Result:
    """Go on with the run in a folder, or return its result where it is finished.

    Of `options`, `stop` replaces the criteria of the run, also where these have been met.
    """
    world.agreed(lambda: require_run(folder))
    ended = world.agreed(lambda: finished(folder, goes_on="stop" in options))
    world.agreed(lambda: require_intact(folder))
    if ended is not None:
        with Screen(output.stream if world.rank == 0 else None, None) as screen:
            screen.say(ended.result.summary())
            world.agreed(lambda: _check_again(ended, folder, options, screen.say))
        world.agreed(lambda: _put_in_order(folder, ended) if world.rank == 0 else None)
        return ended.result
    spec, problem = world.agreed(lambda: resolve_stored(folder, stored_request(folder, options)))
    return resume(spec, problem, world, output, folder, conduct)


def _check_again(
    ended: Finished, folder: Path, options: Mapping[str, Any], say: Callable[[str], None]
) -> None:
    """Compute the cost of a finished run again, where all that it needs is still there."""
    try:
        asked = stored_request(folder, options)
    except InputError as error:
        say(f"Its cost cannot be computed now, as not all is there: {error}")
        return
    ended.require_exact(*resolve_stored(folder, asked))


def _put_in_order(folder: Path, ended: Finished) -> None:
    """Do what a process that was killed after it had written all has left to be done."""
    with FolderLock() as lock, suppress(UnwritableError):
        if lock.takes(folder) and (folder / FINISHED).exists():
            settle(folder, ended.start)


def run(
    spec: RunSpec, problem: Problem, world: World, output: Output, conduct: Conduct = _ORDERLY
) -> Result:
    """Run on all ranks; every rank returns the same result."""
    require_agreement(world, spec, problem, writes=output.writes)
    world.agreed(lambda: refuse_unfit(output.folder, force=output.force))
    world.agreed(lambda: _refuse_unfit(spec, conduct))
    world.agreed(lambda: read_start(spec, problem))
    # One rank has nobody to wait for.
    asynchronous = conduct.asynchronous and world.size > 1
    suspends = "writing the best so far" if asynchronous else "writing a checkpoint"
    with (
        FolderLock() as lock,
        Interruption(suspends=suspends if output.writes else "") as interruption,
    ):
        notices = announce(spec, problem, world, output.stream, quiet=output.quiet)
        backend = _device(spec, world, conduct, notices)

        def begun() -> Start:
            start = _prepared(spec, problem, world, backend, asynchronous=asynchronous)
            return replace(start, folder=_folder(spec, problem, world, output, lock))

        return _surviving(begun, backend, output, lock, interruption, notices)


def resume(
    spec: RunSpec,
    problem: Problem,
    world: World,
    output: Output,
    folder: Path,
    conduct: Conduct = _ORDERLY,
) -> Result:
    """Go on from the newest usable checkpoint in a run's folder, or begin where there is none."""
    require_agreement(world, spec, problem, writes=True)
    with FolderLock() as lock, Interruption(suspends="writing a checkpoint") as interruption:
        notices = announce(spec, problem, world, output.stream, quiet=output.quiet)
        backend = _device(spec, world, conduct, notices)
        begun = partial(_prepared, spec, problem, world, backend, folder)
        return _surviving(begun, backend, output, lock, interruption, notices)


def _device(spec: RunSpec, world: World, conduct: Conduct, notices: Notices) -> Backend:
    name, threads = spec.general.backend, spec.general.threads or None
    backend = take_device(world, name, threads, share_gpu=conduct.share_gpu)
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
    """Compile all that a start needs, before anything is written; collective."""
    goes_on = goes_on_in is not None
    archipelago = make_archipelago(
        spec, problem, world, backend, asynchronous=asynchronous, goes_on=goes_on
    )
    machine = Machine.of(world, backend, archipelago)
    device = backend.device
    return Start(
        spec, problem, world, archipelago, machine, device, goes_on_in, goes_on, asynchronous
    )


def _surviving(
    begun: Callable[[], Start],
    backend: Backend,
    output: Output,
    lock: FolderLock,
    interruption: Interruption,
    notices: Notices,
) -> Result:
    """Perform a start; where ranks die and the others can go on, they do so from the folder.

    What a start holds on the device has to go before the next one begins, so that no caller may
    keep the one that is `begun`.
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
                news = f"{size - world.size} of {size} ranks died; the others go on"
                start = _prepared(spec, problem, world, backend, folder)
            if folder is not None:
                world.agreed(lambda: lock.take(folder) if world.rank == 0 else None)
            return perform(
                start, interruption, output.stream, quiet=output.quiet, news=news, notices=said
            )
        except RanksLostError:
            if folder is None:
                raise
            # Who speaks from now on may not have spoken before.
            start, said = None, []


def _refuse_unfit(spec: RunSpec, conduct: Conduct) -> None:
    if conduct.asynchronous and has_halo(spec):
        raise UsageError(
            "--async with halo=true: slices of one population need each other's ends in each"
            " generation. Leave --async out, or choose halo=false"
        )


def _folder(
    spec: RunSpec, problem: Problem, world: World, output: Output, lock: FolderLock
) -> Path | None:
    """Return the run's folder, claimed by rank 0, or None where nothing is written; collective."""
    if not output.writes:
        return None

    def claimed() -> Path | None:
        if world.rank > 0:
            return None
        name = problem.instance.split("/")[-1]
        folder = claim(output.folder, name=name, force=output.force, lock=lock)
        # At once, as without them what a killed run leaves is not known for its own.
        write_settings(folder, spec)
        keep(folder, traits(spec.to_mapping(), problem))
        return folder

    return world.bcast(world.agreed(claimed))
