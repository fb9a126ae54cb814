"""One attempt of a job: begin or resume the run, and requeue the job if the run is not finished.

A scaling test is a job with several runs: the same islands on 1, 2, 4, ... nodes.
"""

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from islands.configuration.given import gathered, of_table
from islands.custom.scripts import is_reference, is_trusted
from islands.custom.trust import scripts_in
from islands.engine.loading import parts_in
from islands.errors import IslandsError, RunError, Suspended, UsageError
from islands.inside import inside
from islands.parallel import ERROR_FILE, powers_of_two
from islands.problems import loaded
from islands.progress.result import Result
from islands.record.claim import claim
from islands.record.folder import FINISHED, RUN_SETTINGS
from islands.record.inputs import has_problem, is_stored
from islands.record.lock import FolderLock
from islands.record.solution import finished
from islands.studies.clusters import jobs
from islands.studies.clusters.command_line import Check, CommandWords, JobFacts
from islands.studies.clusters.commands import CANCEL, REQUEUE, UNKNOWN, ending, requeue
from islands.studies.clusters.jobs import JobAttempt, JobAttempts, JobProgress
from islands.studies.clusters.processes import Signals
from islands.studies.clusters.ranks import Allocation, Launcher, difference_from_site, find_launcher
from islands.studies.described import table
from islands.tables import Row
from islands.text import show
from islands.untrusted import read_toml

_FINAL = (0, 2, 126, 127, 130)
"""Statuses of runs that are finished, failed or interrupted by a user: a restart would not help.

Status 1 is not among them: a run that fails ends with it, but so may a launcher that loses a node.
"""
_SCALING = table(Path(__file__).with_name("tables.toml"), "scaling")


def run_job(
    words: Sequence[str], check: Check, place: Path | None = None, nodes: int | None = None
) -> int:
    """Run islands with these options in this job until the attempt ends; return the exit status.

    The run is written to the folder of `--out`, or to a new folder. If the job has several runs,
    `place` is the folder of this one. A run of a previous attempt in the folder is resumed. Only
    the first `nodes` nodes are used, or all.
    """
    allocation = Allocation.of(os.environ)
    given = CommandWords(words)
    folder = place or given.folder or allocation.folder
    attempts = JobAttempts(folder)
    is_resumed = continues(given, folder, attempts, allocation.job)
    jobs.reject_second_job(folder, own=allocation.job)
    if attempts.are_stuck(allocation.job):
        raise RunError(_no_progress(folder, attempts.all()[-1]))
    with Signals().handled() as signals:
        attempt = attempts.begin(allocation.job, words, holds_run=is_resumed)
        resumes = is_resumed and attempt.before != JobProgress()
        how = f"resumes from {attempt.before}" if resumes else "begins"
        _say(f"job {allocation.job}, attempt {attempt.number}: {how} in {folder}")
        ranks = allocation.ranks[:nodes]
        try:
            program = options(given, folder, is_resumed=is_resumed)
            run = check(program)
            if place is not None and run.runs:
                raise UsageError(
                    f"the options define a series of {len(run.runs)} runs, but only one run is"
                    " possible here. Leave --runs out, and name one instance"
                )
            launcher = _launcher(program, run, allocation, sum(ranks))
            if not is_resumed:
                _remove_older(run.places(folder) if given.has("--force") else ())
                attempt = attempts.take_run(attempt)
        except IslandsError as error:
            attempts.end(attempt, error.status, error=str(error))
            raise
        command = launcher.command(ranks, [sys.executable, "-P", "-m", "islands", *program])
        variables = {**launcher.variables, ERROR_FILE: str(attempts.errors.absolute())}
        status = signals.run(command, variables)
        ended = _end(attempts, attempt, status, signals.received, allocation)
        if _must_requeue(ended, run.places(folder)):
            _requeue(allocation, folder, attempts)
    return status


def continues(given: CommandWords, folder: Path, attempts: JobAttempts, job: str) -> bool:
    """Return whether to continue the run in the folder; reject the folder of another run."""
    if given.resumes:
        return True
    last = next((attempt for attempt in reversed(attempts.all()) if attempt.holds_run), None)
    if last is not None and last.job == job:
        return True
    # A job that is submitted again continues its run, as its --force was meant for an earlier one;
    # only a finished run is repeated by --force.
    if (
        last is not None
        and last.words == given.all
        and not (given.has("--force") and last.status == 0)
    ):
        return True
    if given.has("--force") or not (folder / RUN_SETTINGS).exists():
        return False
    raise UsageError(
        f"--out {folder}: contains a run with other options. Specify another folder, add --force to"
        f" overwrite it, or resume it with: sbatch slurm/run.sbatch resume"
        f" {shlex.quote(str(folder))}"
    )


def options(given: CommandWords, folder: Path, *, is_resumed: bool) -> list[str]:
    """Return the arguments of `islands` that begin or continue the run in the folder."""
    if given.resumes:
        return [*given.all]
    if is_resumed and (folder / RUN_SETTINGS).exists():
        return ["resume", str(folder), *_scripts(folder), *given.of_resume()]
    # A series, or a run that has not begun, is continued by the options that begin it.
    words = [word for word in given.without("--out") if not (is_resumed and word == "--force")]
    return ["run", *words, "--out", str(folder)]


def _scripts(folder: Path) -> list[str]:
    """Return the scripts of the run that this job may run, as words of `resume`.

    The folder is signed by the node that wrote it; others may not have the key.
    """
    stored = gathered(of_table(read_toml(folder / RUN_SETTINGS)))
    words, instance = list[str](), stored.get("instance")
    if has_problem(folder) and all(map(is_trusted, scripts_in(instance))):
        words += _unchanged(folder, str(instance))
    for name, values in parts_in(stored).items():
        for value in values:
            words += [f"--{name}", value] if all(map(is_trusted, scripts_in(value))) else []
    return words


def _unchanged(folder: Path, instance: str) -> list[str]:
    """Return the script of the problem; if it has changed, return none and use the stored copy."""
    try:
        return [instance] if is_reference(instance) and is_stored(folder, loaded(instance)) else []
    except IslandsError:
        return []


def _remove_older(places: Iterable[Path]) -> None:
    """Remove the runs that --force overwrites, so that no later attempt resumes one of them."""
    for place in places:
        if (place / RUN_SETTINGS).exists():
            with FolderLock() as lock:
                claim(place, name="", force=True, lock=lock)


def _say(message: str) -> None:
    """Print a message of the job itself."""
    show(f"islands job: {message}", file=sys.stderr)


def _launcher(
    program: Sequence[str], run: JobFacts, allocation: Allocation, ranks: int
) -> Launcher:
    """Return the launcher of the ranks; reject a run that cannot start in this job."""
    if (warning := difference_from_site(os.environ)) is not None:
        _say(f"warning: {warning}")
    allocation.require_a_gpu_for_each_rank(on_cpu=run.on_cpu, share_gpu="--share-gpu" in program)
    return find_launcher(ranks)


def _end(
    attempts: JobAttempts,
    attempt: JobAttempt,
    status: int,
    signal: str | None,
    allocation: Allocation,
) -> JobAttempt:
    """Record the end of the attempt, and why it ended."""
    error, why = attempts.reported_error(), None
    if signal is not None or not _is_final(status, error):
        why = ending(allocation.job, allocation.restarts)
    if why not in (None, UNKNOWN) and signal is None:
        signal = "SIGTERM"  # the ranks have received it, but not this process yet
    ended = attempts.end(attempt, status, signal, why, error)
    reason = f" ({why})" if why else ""
    _say(f"attempt {ended.number} ended with status {status} at {ended.after}{reason}")
    return ended


def _is_final(status: int | None, error: str | None) -> bool:
    """Return whether the run is finished, or failed with an error that a restart would repeat."""
    return status in _FINAL or (status == 1 and error is not None)


def _must_requeue(attempt: JobAttempt, places: Sequence[Path]) -> bool:
    """Return whether this job must requeue itself, so that another attempt continues the run.

    `places` are the folders of its runs.
    """
    if all((place / FINISHED).exists() for place in places):
        return False
    if attempt.ending in (REQUEUE, CANCEL):
        return False
    if attempt.signal == "SIGTERM" and attempt.ending is None:
        return False  # sent by a user
    # An mpirun that loses a node may report success.
    return attempt.status == 0 or not _is_final(attempt.status, attempt.error)


def _requeue(allocation: Allocation, folder: Path, attempts: JobAttempts) -> None:
    if attempts.are_stuck(allocation.job):
        _say(_no_progress(folder, attempts.all()[-1]))
        return
    _say(f"requeueing job {allocation.job}")
    if rejection := requeue(allocation.job):
        command = jobs.command_to_continue(folder, attempts.last())
        _say(f"Slurm does not requeue the job: {rejection}. Continue with: {command}")


def _no_progress(folder: Path, last: JobAttempt) -> str:
    if last.status is None:
        how = "its node was lost"
    elif last.status == Suspended.status:
        how = "its time limit was too short for one checkpoint"
    else:
        how = f"it ended with status {last.status}"
    return (
        f"the last two attempts made no new checkpoint ({last.before}), the last one because {how}."
        f" The job is not requeued. Fix the cause, which is in its output, and continue with:"
        f" {jobs.command_to_continue(folder, last)}"
    )


def run_scaling(words: Sequence[str], check: Check) -> int:
    """Run the same islands on 1, 2, 4, ... nodes; print and write the speeds, and compare digests.

    A requeued job does not repeat finished runs.
    """
    allocation = Allocation.of(os.environ)
    given = CommandWords(words)
    if not any(stop.startswith("generations=") for stop in given.values("--stop")):
        raise UsageError(
            "a scaling test compares equal work. Add --stop generations=N, such as"
            " --stop generations=2000"
        )
    folder = given.folder or allocation.folder
    common = CommandWords(given.without("--out"))
    results: dict[int, Result] = {}
    for nodes in powers_of_two(len(allocation.ranks)):
        place = inside(folder, f"nodes-{nodes}")
        is_done = (place / FINISHED).exists()
        if not (is_done and continues(common, place, JobAttempts(place), allocation.job)):
            status = run_job(common.all, check, place, nodes=nodes)
            if status != 0:
                return status
        ended = finished(place, continues=False)
        if ended is None:
            raise RunError(f"{place}: the run ended without a result. Its log.txt gives the reason")
        results[nodes] = ended.result
    _write_scaling(folder, results)
    (first, digest), *others = ((nodes, result.digest) for nodes, result in results.items())
    for nodes, other in others:
        if other != digest:
            raise RunError(
                f"{folder}: the runs on {first} and {nodes} nodes have different digests,"
                f" {digest} and {other}. Compare their run.toml, and report this"
            )
    _say(f"same digest on all numbers of nodes: {digest}")
    return 0


def _write_scaling(folder: Path, results: dict[int, Result]) -> None:
    """Print the table of results by number of nodes, and write it."""
    rows = list[Row]()
    show(_SCALING.header)
    for nodes, result in results.items():
        speed = result.generations / result.seconds
        speedup = speed / rows[0]["generations_per_second"] if rows else 1.0
        row = _SCALING.row(
            nodes=nodes,
            ranks=result.ranks,
            generations=result.generations,
            seconds=result.seconds,
            generations_per_second=speed,
            speedup=speedup,
            efficiency=speedup / nodes,
        )
        rows.append(row)
        show(row.line())
    path = _SCALING.write(folder, rows, end="\n")
    show(f"The table is in {path}")
