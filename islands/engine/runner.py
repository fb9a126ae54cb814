"""Run or resume: from the requested settings to a `Result`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from islands.configuration.fit import require_shared_memory
from islands.configuration.identity import identity, part_versions, require_agreement
from islands.configuration.request import Request
from islands.configuration.resolved import Resolved
from islands.custom.trust import signed_scripts, trust_files
from islands.display.messages import announce
from islands.display.screen import Screen
from islands.engine.build import (
    RankOptions,
    give_back,
    has_halo,
    make_archipelago,
    read_start,
    shared_memory,
    take_device,
)
from islands.engine.failures import resuming
from islands.engine.loading import load_and_resolve, resolve_stored, stored_request
from islands.engine.signals import Interruption, suspension
from islands.engine.single import Output, PreparedRun
from islands.errors import InputError, RunError, UntrustedError, UnwritableError, UsageError
from islands.migration.exchange import require_same_senders
from islands.parallel import Deal, World, describe
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.progress.usage import Machine
from islands.record.checkpoint import remove_obsolete
from islands.record.claim import claim
from islands.record.folder import FINISHED, RUN_SETTINGS, reject_unfit, require_run
from islands.record.inputs import (
    require_intact,
    signature_of,
    store_parts,
    store_problem,
    write_settings,
)
from islands.record.lock import FolderLock
from islands.record.one_run import reject_mixture, warnings
from islands.record.solution import Finished, finished
from islands.untrusted import followed

_DEFAULT = RankOptions()


def run_requested(
    request: Request,
    world: World,
    output: Output,
    problem: Problem | None = None,
    rank_options: RankOptions = _DEFAULT,
    *,
    allow_no_solution: bool = False,
    prepare: Callable[[Resolved], Resolved] | None = None,
) -> Result:
    """Resolve the request, load the instance unless `problem` is given, and run.

    `prepare` may change the resolved run, or reject it. Raise a `RunError` if the run ends without
    a solution, unless it was interrupted or `allow_no_solution` is true. An infeasible solution
    counts as one.
    """
    # Only rank 0 checks signatures, as other hosts may lack the key.
    trust_files(world.from_first(lambda: signed_scripts(request.config, followed)))

    def prepared() -> Resolved:
        resolved = load_and_resolve(request, problem)
        return resolved if prepare is None else prepare(resolved)

    resolved = world.run_on_all(prepared)
    result = run(resolved, world, output, rank_options)
    if allow_no_solution or result.violation > 0:
        return result
    fix = resolved.problem.words.infeasible_fix
    return world.run_on_all(lambda: result.require_solution(fix))


def resume_requested(
    folder: Path,
    request: Request,
    world: World,
    output: Output,
    rank_options: RankOptions = _DEFAULT,
    *,
    problem: Problem | None = None,
) -> Result:
    """Resume the run in a folder, or return its result if it is finished.

    A requested `stop` replaces the criteria of the run, even if they were satisfied. `problem` is
    that of the run, if the caller has it.
    """
    world.run_on_all(lambda: require_run(folder))
    ended = world.run_on_all(lambda: finished(folder, continues="stop" in request.options))
    world.run_on_all(lambda: require_intact(folder))
    world.run_on_all(lambda: reject_mixture(folder))
    trust_files(world.from_first(lambda: signed_scripts(folder / RUN_SETTINGS)))
    if ended is not None:
        with Screen(output.stream if world.rank == 0 else None, None) as screen:
            screen.say("\n".join([ended.result.summary(), *warnings(folder)]))
            check = partial(_check_again, ended, folder, request, screen.say, problem)
            world.run_on_all(check)
        world.from_first(lambda: _complete_cleanup(folder, ended))
        return ended.result
    resolved = world.run_on_all(
        lambda: resolve_stored(folder, stored_request(folder, request, problem))
    )
    return run(resolved, world, output, rank_options, resume_from=folder)


def _check_again(
    ended: Finished,
    folder: Path,
    request: Request,
    say: Callable[[str], None],
    problem: Problem | None,
) -> None:
    """Compute the cost of a finished run again, if its instance and parts still exist."""
    try:
        stored = stored_request(folder, request, problem)
    except UntrustedError as error:
        say(f"Its cost was not computed again: {error}")
        return
    except InputError as error:
        say(f"Its cost cannot be computed again, as files are missing: {error}")
        return
    ended.require_exact(resolve_stored(folder, stored))


def _complete_cleanup(folder: Path, ended: Finished) -> None:
    """Complete the cleanup of a process that was killed after it wrote the solution."""
    with FolderLock() as lock, suppress(UnwritableError):
        if lock.try_acquire(folder) and (folder / FINISHED).exists():
            remove_obsolete(folder, ended.start)


def run(
    resolved: Resolved,
    world: World,
    output: Output,
    rank_options: RankOptions = _DEFAULT,
    resume_from: Path | None = None,
) -> Result:
    """Run on all ranks and return the result, the same on every rank.

    If `resume_from` is a folder, the run in it continues from its newest usable checkpoint, or
    begins anew if there is none.
    """
    is_new, writes = resume_from is None, output.writes or resume_from is not None
    folder = output.folder if is_new else resume_from
    asynchronous, deal = rank_options.asynchronous, resolved.deal(world.size)
    require_agreement(world, resolved, writes=writes, folder=folder, asynchronous=asynchronous)
    asynchronous = asynchronous and world.size > 1
    if is_new:
        world.run_on_all(lambda: reject_unfit(folder, force=output.force))
    world.run_on_all(
        lambda: _require_runnable(resolved, deal, is_new=is_new, asynchronous=asynchronous)
    )
    suspends = "writing the best so far" if asynchronous else "writing a checkpoint"
    with (
        FolderLock() as lock,
        Interruption(suspends=suspends if writes else "", ends=output.ends) as interruption,
        ExitStack() as taken,
    ):
        notices = announce(resolved, deal, world, output.stream, quiet=output.quiet)
        backend = rank_options.device
        if backend is None:
            general, share = resolved.spec.general, rank_options.share_gpu
            backend = take_device(world, general.backend, general.threads or None, share_gpu=share)
            taken.callback(give_back, backend)
        backend.compiling.announce = notices.say

        def must_end() -> bool:
            # With several ranks, the others would wait for one whose compiler was stopped.
            return world.size == 1 and suspension(interruption.requested) is not None

        with backend.stopping_if(must_end), interruption.before_checkpoints():
            archipelago = make_archipelago(
                resolved, world, backend, asynchronous=asynchronous, resumes=not is_new
            )
            machine = Machine.of(world, backend, archipelago)
            # All programs are compiled before anything is written.
            if is_new:
                folder = _folder(resolved, world, output, lock)
        if resume_from is not None:
            world.from_first(lambda: lock.acquire(resume_from))
        prepared = PreparedRun(
            *(resolved, world, archipelago, machine, interruption, output, folder),
            resumes=not is_new,
            asynchronous=asynchronous,
        )
        with advising(folder):
            return prepared.perform(notices.lines)


def _require_runnable(resolved: Resolved, deal: Deal, *, is_new: bool, asynchronous: bool) -> None:
    """Reject settings or start solutions that this machine or these ranks cannot run."""
    spec = resolved.spec
    require_shared_memory(resolved, lambda: shared_memory(spec.general.backend))
    if asynchronous and has_halo(spec):
        raise UsageError(
            "--async with halo=true: slices of one population exchange their border cells in every"
            " generation. Leave --async out, or choose halo=false"
        )
    if asynchronous and (team := deal.largest_team) > 1:
        raise UsageError(
            f"--async with teams of {team} ranks: ranks that share islands wait for each other in"
            " every generation. Leave --async out"
        )
    if asynchronous:
        require_same_senders(spec.migration)
    if is_new:
        read_start(resolved)


def _folder(resolved: Resolved, world: World, output: Output, lock: FolderLock) -> Path | None:
    """Return the run's folder, claimed by rank 0, or None if nothing is written; collective."""
    if not output.writes:
        return None

    def claimed() -> Path:
        problem = resolved.problem
        name = problem.instance.split("/")[-1]
        folder = claim(output.folder, name=name, force=output.force, lock=lock)
        # First the settings: they mark the folder as that of a run, even if the run is killed.
        write_settings(folder, resolved.spec, identity(resolved), signature_of(problem))
        store_problem(folder, problem)
        store_parts(folder, part_versions(resolved))
        return folder

    return world.from_first(claimed)


@contextmanager
def advising(folder: Path | None) -> Iterator[None]:
    """Append the command that continues the run to the message of a file error in the block."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has left
    except (OSError, UnwritableError) as error:
        if folder is None:
            raise
        command = f"continue the run with: {resuming(folder)}"
        if isinstance(error, OSError):
            raise RunError(f"{describe(error)}. Once this is fixed, {command}") from error
        # Change the error in place, as all ranks may have agreed on this object.
        error.args = (f"{error}. Then {command}",)
        raise
