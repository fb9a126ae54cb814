"""One part of a job: begin or resume the run, and requeue the job if the run is not done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from islands.errors import RunError, Suspended, UsageError
from islands.record.folder import FINISHED, SETTINGS
from islands.slurm.allocation import Allocation
from islands.slurm.launcher import find_launcher
from islands.slurm.parts import Part, Parts
from islands.slurm.queue import is_running
from islands.slurm.step import Signals
from islands.slurm.words import Words

_FINAL = (0, 1, 2, 126, 127, 130)
"""Statuses of runs that are done, failed, or were ended by a user: another part would not help."""


def run_job(words: Sequence[str], folder: Path | None = None, nodes: int | None = None) -> int:
    """Run islands with these options in this job until its part ends; return the exit status.

    The run goes into `folder`, or by default into the one that `--out` names or a new one of the
    job. If the job was requeued, the run in it resumes. Use the first `nodes` nodes, or all.
    """
    allocation = Allocation.of(os.environ)
    given = Words(words)
    folder = folder or given.folder or Path("runs") / f"{allocation.name}-{allocation.job}"
    on_cpu = given.value("--backend") == "cpu"
    allocation.require_a_gpu_for_each_rank(on_cpu=on_cpu, share_gpu="--share-gpu" in words)
    parts = Parts(folder)
    resumes = _resumes(given, folder, parts.all(), allocation.job)
    if parts.are_stuck(allocation.job):
        raise RunError(_no_progress(folder, parts.all()[-1]))
    ranks = allocation.ranks[:nodes]
    launcher = find_launcher(sum(ranks))
    with Signals().handled() as signals:
        part = parts.begin(allocation.job, words)
        how = f"resumes from {part.before}" if resumes else "begins"
        say(f"job {allocation.job}, part {part.number}: {how} in {folder}")
        options = _of_resume(given, folder) if resumes else _of_run(given, folder)
        program = [sys.executable, "-m", "islands", *options]
        command = launcher.command(ranks, program)
        status = signals.run(command, launcher.variables)
        received = signals.received
        if status not in _FINAL and received is None and not is_running(allocation.job):
            received = "SIGTERM"  # the ranks received it before this process
        part = parts.end(part, status, received)
        say(f"part {part.number} ended with status {status} at {part.after}")
        if _must_requeue(part, folder):
            _requeue(allocation, folder, parts)
    return status


def say(message: str) -> None:
    """Print a line of the job itself."""
    print(f"islands job: {message}", file=sys.stderr, flush=True)


def _resumes(given: Words, folder: Path, parts: Sequence[Part], job: str) -> bool:
    """Return whether the run in the folder resumes; refuse the folder of another run."""
    if given.resumes:
        return True
    if not (folder / SETTINGS).exists():
        return False
    last = parts[-1] if parts else None
    if last is not None and last.job == job:
        return True
    if "--force" in given.all:
        return False
    if last is not None and last.words == given.all:
        return True
    raise UsageError(
        f"--out {folder}: holds a run with other options. Name another folder, add --force to"
        f" overwrite it, or resume it with: sbatch slurm/run.sbatch resume {folder}"
    )


def _of_run(given: Words, folder: Path) -> list[str]:
    return ["run", *given.without("--out"), "--out", str(folder)]


def _of_resume(given: Words, folder: Path) -> list[str]:
    return [*given.all] if given.resumes else ["resume", str(folder), *given.of_resume()]


def _must_requeue(part: Part, folder: Path) -> bool:
    """Return whether another part can continue the run.

    If Slurm has ended the part, Slurm decides whether to requeue the job.
    """
    is_finished = (folder / FINISHED).exists()
    if part.signal == "SIGTERM" or is_finished:
        return False
    if part.status == 0:
        # An mpirun that loses a node may report success. A series of runs has no settings here.
        return (folder / SETTINGS).exists()
    return part.status not in _FINAL


def _requeue(allocation: Allocation, folder: Path, parts: Parts) -> None:
    if parts.are_stuck(allocation.job):
        say(_no_progress(folder, parts.all()[-1]))
        return
    say(f"requeueing job {allocation.job}")
    asked = subprocess.run(
        ["scontrol", "requeue", allocation.job], capture_output=True, text=True, check=False
    )
    if asked.returncode != 0:
        say(
            f"Slurm does not requeue the job: {asked.stderr.strip()}. Submit it again with"
            f" --out {folder}, or continue with: islands resume {folder}"
        )


def _no_progress(folder: Path, last: Part) -> str:
    if last.status is None:
        how = "its node was lost"
    elif last.status == Suspended.status:
        how = "its time limit was too short for one checkpoint"
    else:
        how = f"status {last.status}"
    return (
        f"the last two parts made no new checkpoint ({last.before}), the last one because {how}."
        f" The job is not requeued. Its output gives the reason; then: islands resume {folder}"
    )
