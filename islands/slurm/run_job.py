"""One attempt of a job: begin or resume the run, and requeue the job if the run is not finished."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from islands.errors import IslandsError, RunError, Suspended
from islands.parallel import ERROR_FILE
from islands.record.folder import FINISHED
from islands.slurm.allocation import Allocation
from islands.slurm.attempts import JobAttempt, JobAttempts, JobProgress
from islands.slurm.command_line import Check, CommandWords, JobFacts
from islands.slurm.commands import CANCEL, REQUEUE, UNKNOWN, ending, requeue
from islands.slurm.continuation import continues, options, remove_older
from islands.slurm.jobs import command_to_continue, refuse_second_job
from islands.slurm.launcher import Launcher, find_launcher
from islands.slurm.processes import Signals
from islands.slurm.site import difference_from_site
from islands.text import show

_FINAL = (0, 2, 126, 127, 130)
"""Statuses of runs that are finished, failed or interrupted by a user: a restart would not help.

Runs that fail end with 1, but a launcher that loses a node may do so too.
"""


def run_job(
    words: Sequence[str], check: Check, folder: Path | None = None, nodes: int | None = None
) -> int:
    """Run islands with these options in this job until the attempt ends; return the exit status.

    The run is written to `folder`; by default to the folder of `--out`, or a new folder. If the
    folder contains the run of a previous attempt, it resumes. Use the first `nodes` nodes, or all.
    """
    allocation = Allocation.of(os.environ)
    given = CommandWords(words)
    folder = folder or given.folder or Path("runs") / f"{allocation.name}-{allocation.job}"
    attempts = JobAttempts(folder)
    goes_on = continues(given, folder, attempts, allocation.job)
    refuse_second_job(folder, own=allocation.job)
    if attempts.are_stuck(allocation.job):
        raise RunError(_no_progress(folder, attempts.all()[-1]))
    with Signals().handled() as signals:
        attempt = attempts.begin(allocation.job, words, holds_run=goes_on)
        resumes = goes_on and attempt.before != JobProgress()
        how = f"resumes from {attempt.before}" if resumes else "begins"
        say(f"job {allocation.job}, attempt {attempt.number}: {how} in {folder}")
        ranks = allocation.ranks[:nodes]
        try:
            program = options(given, folder, goes_on=goes_on)
            run = check(program)
            launcher = _launcher(program, run, allocation, sum(ranks))
            if not goes_on:
                remove_older(run.places(folder) if given.forces else ())
                attempt = attempts.take_run(attempt)
        except IslandsError as error:
            attempts.end(attempt, error.status, error=str(error))
            raise
        command = launcher.command(ranks, [sys.executable, "-m", "islands", *program])
        variables = {**launcher.variables, ERROR_FILE: str(attempts.errors.absolute())}
        status = signals.run(command, variables)
        ended = _end(attempts, attempt, status, signals.received, allocation)
        if _must_requeue(ended, run.places(folder)):
            _requeue(allocation, folder, attempts)
    return status


def say(message: str) -> None:
    """Print a line of the job itself."""
    show(f"islands job: {message}", file=sys.stderr)


def _launcher(
    program: Sequence[str], run: JobFacts, allocation: Allocation, ranks: int
) -> Launcher:
    """Return the launcher of the ranks; refuse a run that cannot start in this job."""
    if (warning := difference_from_site(os.environ)) is not None:
        say(f"warning: {warning}")
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
        signal = "SIGTERM"  # the ranks received it before this process
    ended = attempts.end(attempt, status, signal, why, error)
    reason = f" ({why})" if why else ""
    say(f"attempt {ended.number} ended with status {status} at {ended.after}{reason}")
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
        say(_no_progress(folder, attempts.all()[-1]))
        return
    say(f"requeueing job {allocation.job}")
    if refusal := requeue(allocation.job):
        command = command_to_continue(folder, attempts.last())
        say(f"Slurm does not requeue the job: {refusal}. Continue with: {command}")


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
        f" {command_to_continue(folder, last)}"
    )
