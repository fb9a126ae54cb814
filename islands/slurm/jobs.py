"""The job that was submitted for a folder, and the jobs that use the folder now."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.inside import inside
from islands.paths import published, reading
from islands.record.folder import JOB, SETTINGS
from islands.slurm.attempts import JobAttempt, JobAttempts
from islands.slurm.command_line import CommandWords
from islands.slurm.commands import is_active
from islands.slurm.template import SCRIPT
from islands.untrusted import bounded_text

_JOB = "job.json"
MOST_ELEMENTS = 100_000
"""Of a job array; Slurm allows 1000 unless it is configured otherwise."""


@dataclass(frozen=True)
class Job:
    """A job as it was submitted."""

    job: str
    folder: str
    script: str
    submitted: float
    elements: int | None = None
    """The elements of its array, or None for a single job."""
    collecting: str | None = None
    """The job that writes the table of the array."""

    def write(self) -> None:
        """Store the job in its folder."""
        with published(inside(Path(self.folder), JOB, _JOB)) as temporary:
            temporary.write_text(json.dumps(asdict(self)) + "\n")


def submitted(folder: Path) -> Job | None:
    """Return the job that was submitted for a folder, or None."""
    path = inside(folder, JOB, _JOB)
    if not path.exists():
        return None
    with reading(path):
        try:
            job = Job(**json.loads(bounded_text(path)))
            if job.elements is not None and not 0 <= job.elements <= MOST_ELEMENTS:
                raise ValueError(f"elements is {job.elements}")
            return job
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: is damaged: {error}. Remove it") from error


def latest_job(folder: Path) -> str | None:
    """Return the number of the latest job of a folder: submitted, or started by a script."""
    job, attempt = submitted(folder), JobAttempts(folder).last()
    if job is not None and (attempt is None or attempt.began < job.submitted):
        return job.job
    return None if attempt is None else attempt.job


def refuse_second_job(folder: Path, own: str | None = None) -> None:
    """Refuse a job for a folder for which another job is queued or running."""
    job, attempt = submitted(folder), JobAttempts(folder).last()
    numbers = {each.job for each in (job, attempt) if each is not None}
    for number in sorted(numbers - {own}):
        if is_active(number):
            raise UsageError(
                f"--out {folder}: job {number} for this folder is queued or running. Wait for it,"
                f" cancel it with: scancel {number}; or name another folder"
            )


def command_to_continue(folder: Path, last: JobAttempt | None) -> str:
    """Return the command that continues the run or the series of runs in a folder."""
    if (command := again(folder)) is not None:
        return command
    place = shlex.quote(str(folder))
    if (folder / SETTINGS).exists():
        return f"{'islands' if last is None else 'sbatch slurm/run.sbatch'} resume {place}"
    words = CommandWords(() if last is None else last.words).without("--out")
    return f"sbatch slurm/run.sbatch {shlex.join([*words, '--out', str(folder)])}"


def again(folder: Path) -> str | None:
    """Return the command that submits the job of a folder again, or None."""
    path = inside(folder, JOB, SCRIPT)
    return f"sbatch {shlex.quote(str(path))}" if path.exists() else None
