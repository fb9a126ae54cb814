"""The attempts of a job: its starts, each until the job ends or is requeued.

The file attempts.jsonl has a line for each start and each end.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from islands.errors import InputError
from islands.inside import inside, last_lines, opened
from islands.paths import reading, writing
from islands.record.folder import CHECKPOINTS, FINISHED, JOB, MANIFEST
from islands.slurm.commands import TIME_LIMIT
from islands.untrusted import bounded_text

_FILE, _ERRORS = "attempts.jsonl", "errors.txt"
_MOST_BYTES = 1 << 24
"""Of the file; each attempt has less than a thousand, apart from its options."""


@dataclass(frozen=True)
class JobProgress:
    """The progress of the runs in a folder that a restart does not lose."""

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
    """One start of the job, until it ended or was requeued."""

    job: str
    number: int
    began: float
    words: tuple[str, ...]
    """The options of the run."""
    output: str
    """The job's output file."""
    before: JobProgress
    holds_run: bool = False
    """Whether the run in the folder is its own: resumed, or begun instead of an older one."""
    ended: float | None = None
    after: JobProgress | None = None
    status: int | None = None
    signal: str | None = None
    """The first signal: SIGUSR1 before the time limit, SIGTERM if Slurm ended the attempt."""
    ending: str | None = None
    """Why Slurm ended the attempt: requeue, preemption, time limit or cancel."""
    error: str | None = None
    """The error that a rank has reported."""

    def is_without_progress(self, now: JobProgress) -> bool:
        """Return whether it failed, or used up its time, without a new checkpoint."""
        is_by_slurm = self.signal == "SIGTERM" and self.status is not None
        if is_by_slurm and self.ending != TIME_LIMIT:
            return False  # Slurm may end an attempt at any time
        return (self.after or now) == self.before


class JobAttempts:
    """The attempts of the run in a folder."""

    def __init__(self, folder: Path) -> None:
        self._run = folder
        self._file = inside(folder, JOB, _FILE)
        self.errors = inside(folder, JOB, _ERRORS)
        """The file to which the ranks of the current attempt append their errors."""

    def all(self) -> list[JobAttempt]:
        """Return the attempts so far, the first one first."""
        if not self._file.exists():
            return []
        with reading(self._file):
            # A killed job may leave a partial last line.
            lines = bounded_text(self._file, _MOST_BYTES, errors="replace").split("\n")[:-1]
        attempts: list[JobAttempt] = []
        for number, line in enumerate(lines, 1):
            try:
                attempt = _attempt(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{self._file}, line {number}: is damaged: {line[:80]!r}. Remove this line"
                ) from error
            if attempts and attempts[-1].number == attempt.number:
                attempts.pop()
            attempts.append(attempt)
        return attempts

    def last(self) -> JobAttempt | None:
        """Return the last attempt, or None."""
        return next(reversed(self.all()), None)

    def last_with_run(self) -> JobAttempt | None:
        """Return the attempt that was the last one to use the run in the folder, or None."""
        return next((each for each in reversed(self.all()) if each.holds_run), None)

    def begin(self, job: str, words: Sequence[str], *, holds_run: bool = False) -> JobAttempt:
        """Write that an attempt begins, and return it."""
        number, now, before = len(self.all()) + 1, time.time(), JobProgress.of(self._run)
        attempt = JobAttempt(job, number, now, tuple(words), _output(), before, holds_run)
        self._append(attempt)
        with writing(self.errors):
            opened(self.errors, "wb").close()
        return attempt

    def reported_error(self) -> str | None:
        """Return the first error that a rank of the current attempt has reported, or None."""
        with reading(self.errors):
            return next(last_lines(self.errors), "") or None

    def take_run(self, attempt: JobAttempt) -> JobAttempt:
        """Write that the run in the folder belongs to the attempt; return the attempt."""
        attempt = replace(attempt, before=JobProgress.of(self._run), holds_run=True)
        self._append(attempt)
        return attempt

    def end(
        self,
        attempt: JobAttempt,
        status: int,
        signal: str | None = None,
        ending: str | None = None,
        error: str | None = None,
    ) -> JobAttempt:
        """Write that an attempt has ended, and return it complete."""
        ended = replace(
            attempt,
            ended=time.time(),
            after=JobProgress.of(self._run),
            status=status,
            signal=signal,
            ending=ending,
            error=error,
        )
        self._append(ended)
        return ended

    def are_stuck(self, job: str) -> bool:
        """Return whether the last two attempts of a job have both been without progress."""
        now = JobProgress.of(self._run)
        last = [attempt for attempt in self.all() if attempt.job == job][-2:]
        return len(last) == 2 and all(attempt.is_without_progress(now) for attempt in last)

    def _append(self, attempt: JobAttempt) -> None:
        with writing(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with opened(self._file, "a+b") as stream:
                _remove_partial_line(stream.fileno())
                stream.write(json.dumps(asdict(attempt)).encode() + b"\n")


def _remove_partial_line(file: int) -> None:
    """Remove a last line without a line break, which a killed job has left."""
    size = os.fstat(file).st_size
    content = os.pread(file, size, 0)
    if not content.endswith(b"\n"):
        os.ftruncate(file, content.rfind(b"\n") + 1)


def _output() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/fd/1").readlink())
    return ""


def _attempt(values: dict[str, Any]) -> JobAttempt:
    progress = {
        name: JobProgress(**value)
        for name in ("before", "after")
        if isinstance(value := values.get(name), dict)
    }
    return JobAttempt(**(values | progress | {"words": tuple(values["words"])}))
