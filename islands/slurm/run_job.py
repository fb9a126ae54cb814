"""One attempt of a job: begin or resume the run, and requeue the job if the run is not finished."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from islands.errors import IslandsError, RunError, Suspended, UsageError
from islands.record.folder import FINISHED, SETTINGS
from islands.slurm.allocation import Allocation
from islands.slurm.attempts import Attempt, Attempts
from islands.slurm.commands import CANCEL, REQUEUE, ending, requeue
from islands.slurm.jobs import again, refuse_second_job
from islands.slurm.launcher import Launcher, find_launcher
from islands.slurm.processes import Signals
from islands.slurm.site import difference_from_site
from islands.slurm.words import Words

Check = Callable[[Sequence[str]], bool]
"""Refuses invalid words of `islands run` or `resume`, and returns whether they use the CPU."""
_FINAL = (0, 1, 2, 126, 127, 130)
"""Statuses of runs that are finished, failed or interrupted by a user: a restart would not help."""


def run_job(
    words: Sequence[str], check: Check, folder: Path | None = None, nodes: int | None = None
) -> int:
    """Run islands with these options in this job until the attempt ends; return the exit status.

    The run is written to `folder`; by default to the folder of `--out`, or a new folder. If the
    folder contains the run of a previous attempt, it resumes. Use the first `nodes` nodes, or all.
    """
    allocation = Allocation.of(os.environ)
    given = Words(words)
    folder = folder or given.folder or Path("runs") / f"{allocation.name}-{allocation.job}"
    attempts = Attempts(folder)
    resumes = _resumes(given, folder, attempts.last(), allocation.job)
    refuse_second_job(folder, own=allocation.job)
    if attempts.are_stuck(allocation.job):
        raise RunError(_no_progress(folder, attempts.all()[-1]))
    with Signals().handled() as signals:
        attempt = attempts.begin(allocation.job, words)
        how = f"resumes from {attempt.before}" if resumes else "begins"
        say(f"job {allocation.job}, attempt {attempt.number}: {how} in {folder}")
        options = _of_resume(given, folder) if resumes else _of_run(given, folder)
        ranks = allocation.ranks[:nodes]
        try:
            launcher = _checked(options, check, allocation, sum(ranks))
        except IslandsError as error:
            attempts.end(attempt, error.status)
            raise
        program = [sys.executable, "-m", "islands", *options]
        status = signals.run(launcher.command(ranks, program), launcher.variables)
        attempt = _end(attempts, attempt, status, signals.received, allocation)
        if _must_requeue(attempt, folder):
            _requeue(allocation, folder, attempts)
    return status


def say(message: str) -> None:
    """Print a line of the job itself."""
    print(f"islands job: {message}", file=sys.stderr, flush=True)


def _checked(options: Sequence[str], check: Check, allocation: Allocation, ranks: int) -> Launcher:
    """Return the launcher of the ranks; refuse a run that cannot start in this job."""
    on_cpu = check(options)
    if (warning := difference_from_site(os.environ)) is not None:
        say(f"warning: {warning}")
    allocation.require_a_gpu_for_each_rank(on_cpu=on_cpu, share_gpu="--share-gpu" in options)
    return find_launcher(ranks)


def _end(
    attempts: Attempts, attempt: Attempt, status: int, signal: str | None, allocation: Allocation
) -> Attempt:
    """Record the end of the attempt, and why it ended."""
    why = None
    if signal is not None or status not in _FINAL:
        why = ending(allocation.job, allocation.restarts)
    if why is not None and signal is None:
        signal = "SIGTERM"  # the ranks received it before this process
    ended = attempts.end(attempt, status, signal, why)
    reason = f" ({why})" if why else ""
    say(f"attempt {ended.number} ended with status {status} at {ended.after}{reason}")
    return ended


def _resumes(given: Words, folder: Path, last: Attempt | None, job: str) -> bool:
    """Return whether the run in the folder resumes; refuse the folder of another run."""
    if given.resumes:
        return True
    if not (folder / SETTINGS).exists():
        return False
    if last is not None and last.job == job:
        return True
    # The same job, submitted again, continues: --force was for the run before it.
    if last is not None and last.words == given.all:
        return True
    if "--force" in given.all:
        return False
    raise UsageError(
        f"--out {folder}: holds a run with other options. Name another folder, add --force to"
        f" overwrite it, or resume it with: sbatch slurm/run.sbatch resume {folder}"
    )


def _of_run(given: Words, folder: Path) -> list[str]:
    return ["run", *given.without("--out"), "--out", str(folder)]


def _of_resume(given: Words, folder: Path) -> list[str]:
    return [*given.all] if given.resumes else ["resume", str(folder), *given.of_resume()]


def _must_requeue(attempt: Attempt, folder: Path) -> bool:
    """Return whether this job must requeue itself, so that another attempt continues the run."""
    if (folder / FINISHED).exists() or attempt.ending in (REQUEUE, CANCEL):
        return False
    if attempt.signal == "SIGTERM" and attempt.ending is None:
        return False  # sent by a user
    if attempt.status == 0:
        # An mpirun that loses a node may report success. A series of runs has no settings here.
        return (folder / SETTINGS).exists()
    return attempt.status not in _FINAL


def _requeue(allocation: Allocation, folder: Path, attempts: Attempts) -> None:
    if attempts.are_stuck(allocation.job):
        say(_no_progress(folder, attempts.all()[-1]))
        return
    say(f"requeueing job {allocation.job}")
    if refusal := requeue(allocation.job):
        say(f"Slurm does not requeue the job: {refusal}. Continue with: {_continue(folder)}")


def _continue(folder: Path) -> str:
    return again(folder) or f"sbatch slurm/run.sbatch resume {folder}"


def _no_progress(folder: Path, last: Attempt) -> str:
    if last.status is None:
        how = "its node was lost"
    elif last.status == Suspended.status:
        how = "its time limit was too short for one checkpoint"
    else:
        how = f"status {last.status}"
    return (
        f"the last two attempts made no new checkpoint ({last.before}), the last one because {how}."
        f" The job is not requeued. Correct the reason, which its output gives, and continue with:"
        f" {_continue(folder)}"
    )
