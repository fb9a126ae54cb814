"""The files in DIR/slurm about the jobs of a folder: the submitted job, and all attempts.

job.json is written when a job is submitted. attempts.jsonl has a line for each start of a job, and
another one when the job ends or is requeued.
"""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.inside import inside, last_lines, opened
from islands.paths import publish, reading, writing
from islands.record.folder import CHECKPOINTS, FINISHED, JOB, MANIFEST, RUN_SETTINGS
from islands.studies.clusters.command_line import CommandWords
from islands.studies.clusters.commands import TIME_LIMIT, is_active
from islands.untrusted import bounded_text, parsing, typed

SCRIPT = "job.sbatch"
_JOB, _ATTEMPTS, _ERRORS = "job.json", "attempts.jsonl", "errors.txt"
MOST_ELEMENTS = 100_000
"""Maximum size of a job array; Slurm allows 1000 unless it is configured otherwise."""
MOST_BYTES = 1 << 24
"""Maximum size of a file about jobs; an attempt takes less than 1000 bytes without its options."""


@dataclass(frozen=True)
class Job:
    """A job as it was submitted."""

    job: str
    folder: str
    script: str
    submitted: float
    elements: int | None = None
    """The number of elements of a job array, or None for a single job."""
    collecting: str | None = None
    """The job that writes the table of the array."""

    def write(self) -> None:
        """Store the job in its folder."""
        publish(inside(Path(self.folder), JOB, _JOB), json.dumps(asdict(self)) + "\n")


def submitted(folder: Path) -> Job | None:
    """Return the job that was submitted for a folder, or None."""
    path = inside(folder, JOB, _JOB)
    if not path.exists():
        return None
    with parsing(path, "is damaged", "Remove it"):
        job = typed(Job, json.loads(bounded_text(path)))
        if job.elements is not None and not 0 <= job.elements <= MOST_ELEMENTS:
            raise ValueError(f"elements is {job.elements}")
        return job


def output_in(folder: Path, name: str) -> str:
    """Return the value of `--output`: a file in DIR/slurm, whose path Slurm must not expand."""
    if "\\" in str(folder):
        raise UsageError(
            f"--out {folder}: contains a backslash, because of which Slurm would rename the"
            " output of the job. Specify another folder"
        )
    return f"{str(folder / JOB).replace('%', '%%')}/{name}"


@dataclass(frozen=True)
class JobProgress:
    """The progress of the runs in a folder that survives a restart."""

    finished: int = 0
    """The number of finished runs."""
    generation: int = -1
    """The generation of the latest checkpoint, or -1."""

    @classmethod
    def of(cls, folder: Path) -> JobProgress:
        """Return the progress of a run, or of a folder of several runs."""
        manifests = folder.glob(f"**/{CHECKPOINTS}/*/{MANIFEST}")
        numbers = [path.parent.name.partition(".")[0] for path in manifests]
        generations = map(int, filter(str.isdecimal, numbers))
        return cls(len(list(folder.glob(f"**/{FINISHED}"))), max(generations, default=-1))

    def __str__(self) -> str:
        return "no checkpoint" if self.generation < 0 else f"generation {self.generation}"


@dataclass(frozen=True)
class JobAttempt:
    """One start of a job, until the job ended or was requeued."""

    job: str
    number: int
    began: float
    words: tuple[str, ...]
    """The options of the run."""
    output: str
    """The job's output file."""
    before: JobProgress
    holds_run: bool = False
    """Whether the attempt began or resumed the run in the folder; if not, the run may be older."""
    ended: float | None = None
    after: JobProgress | None = None
    status: int | None = None
    signal: str | None = None
    """The first signal: SIGUSR1 before the time limit, SIGTERM if Slurm ended the attempt."""
    ending: str | None = None
    """Why Slurm ended the attempt: requeue, preemption, time limit or cancel."""
    error: str | None = None
    """The error that a rank has reported."""

    @classmethod
    def of(cls, line: str) -> JobAttempt:
        """Return the attempt in a line of attempts.jsonl."""
        values = json.loads(line)
        for name in ("before", "after"):
            if isinstance(values.get(name), dict):
                values[name] = JobProgress(**values[name])
        return cls(**values | {"words": tuple(values["words"])})

    def is_without_progress(self, now: JobProgress) -> bool:
        """Return whether the attempt failed or used up its time without a new checkpoint."""
        is_by_slurm = self.signal == "SIGTERM" and self.status is not None
        if is_by_slurm and self.ending != TIME_LIMIT:
            return False  # Slurm may end an attempt before its first checkpoint
        return (self.after or now) == self.before


class JobAttempts:
    """The attempts of the jobs of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = inside(folder, JOB, _ATTEMPTS)
        self.errors = inside(folder, JOB, _ERRORS)
        """The file to which the ranks of the current attempt append their errors."""

    def all(self) -> list[JobAttempt]:
        """Return the attempts so far, from the first to the last."""
        if not self._file.exists():
            return []
        with reading(self._file):
            # A killed job may leave a partial last line.
            lines = bounded_text(self._file, MOST_BYTES, errors="replace").split("\n")[:-1]
        attempts: dict[int, JobAttempt] = {}
        for number, line in enumerate(lines, 1):
            try:
                attempt = JobAttempt.of(line)
                attempts[attempt.number] = attempt  # the line of an end replaces that of the start
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{self._file}, line {number}: is damaged: {line[:80]!r}. Remove this line"
                ) from error
        return [*attempts.values()]

    def last(self) -> JobAttempt | None:
        """Return the last attempt, or None."""
        return next(reversed(self.all()), None)

    def begin(self, job: str, words: Sequence[str], *, holds_run: bool = False) -> JobAttempt:
        """Record the beginning of an attempt, and return it."""
        number, before, output = len(self.all()) + 1, JobProgress.of(self._folder), ""
        with suppress(OSError):
            output = str(Path("/proc/self/fd/1").readlink())
        attempt = JobAttempt(job, number, time.time(), tuple(words), output, before, holds_run)
        self._append(attempt)
        with writing(self.errors):
            opened(self.errors, "wb").close()
        return attempt

    def reported_error(self) -> str | None:
        """Return the first error that a rank of the current attempt has reported, or None."""
        with reading(self.errors):
            return next(last_lines(self.errors), "") or None

    def take_run(self, attempt: JobAttempt) -> JobAttempt:
        """Record that the run in the folder belongs to the attempt; return the attempt."""
        return self._append(replace(attempt, before=JobProgress.of(self._folder), holds_run=True))

    def end(
        self,
        attempt: JobAttempt,
        status: int,
        signal: str | None = None,
        ending: str | None = None,
        error: str | None = None,
    ) -> JobAttempt:
        """Record the end of an attempt, and return it."""
        outcome = replace(attempt, status=status, signal=signal, ending=ending, error=error)
        after = JobProgress.of(self._folder)
        return self._append(replace(outcome, ended=time.time(), after=after))

    def are_stuck(self, job: str) -> bool:
        """Return whether the last two attempts of a job made no progress."""
        now = JobProgress.of(self._folder)
        last = [attempt for attempt in self.all() if attempt.job == job][-2:]
        return len(last) == 2 and all(attempt.is_without_progress(now) for attempt in last)

    def _append(self, attempt: JobAttempt) -> JobAttempt:
        """Append a line; remove an incomplete last line, which a killed job has left."""
        with writing(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with opened(self._file, "a+b") as stream:
                stream.seek(0)
                content = stream.read()
                os.ftruncate(stream.fileno(), content.rfind(b"\n") + 1)
                stream.write(json.dumps(asdict(attempt)).encode() + b"\n")
        return attempt


def latest_job(folder: Path) -> str | None:
    """Return the number of the latest job of a folder: submitted, or started by a script."""
    job, attempt = submitted(folder), JobAttempts(folder).last()
    if job is not None and (attempt is None or attempt.began < job.submitted):
        return job.job
    return None if attempt is None else attempt.job


def reject_second_job(folder: Path, own: str | None = None) -> None:
    """Reject a job for a folder for which another job is queued or running."""
    job, attempt = submitted(folder), JobAttempts(folder).last()
    numbers = {work.job for work in (job, attempt) if work is not None}
    for number in sorted(numbers - {own}):
        if is_active(number):
            raise UsageError(
                f"--out {folder}: job {number} for this folder is queued or running. Wait for it,"
                f" cancel it with: scancel {number}; or specify another folder"
            )


def command_to_continue(folder: Path, last: JobAttempt | None) -> str:
    """Return the command that continues the run or the series of runs in a folder."""
    if (command := command_to_resubmit(folder)) is not None:
        return command
    place = shlex.quote(str(folder))
    if (folder / RUN_SETTINGS).exists():
        return f"{'islands' if last is None else 'sbatch slurm/run.sbatch'} resume {place}"
    words = CommandWords(() if last is None else last.words).without("--out")
    return f"sbatch slurm/run.sbatch {shlex.join([*words, '--out', str(folder)])}"


def command_to_resubmit(folder: Path) -> str | None:
    """Return the command that submits the job of a folder again, or None."""
    path = inside(folder, JOB, SCRIPT)
    return f"sbatch {shlex.quote(str(path))}" if path.exists() else None
