"""The state of a job, from Slurm and from its folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from islands.errors import InputError, Suspended
from islands.inside import inside, inside_all, last_lines
from islands.record.folder import FINISHED, JOB, LOG, SERIES_TABLE, SETTINGS
from islands.record.lock import is_locked
from islands.record.solution import recorded
from islands.slurm.attempts import JobAttempt, JobAttempts
from islands.slurm.commands import RUNNING, WAITING, state_in_queue
from islands.slurm.jobs import command_to_continue, latest_job
from islands.slurm.work_state import state_words
from islands.text import escaped

_ROW = re.compile(r"^[*C ]{0,3}\s+\d+ +[\d.]+[smh]")
_ATTEMPT = re.compile(r"islands job: (attempt \d+ ended|job \S+, attempt \d+)|islands job: warning")


@dataclass(frozen=True)
class JobState:
    """The state of a run in one word, and in a sentence."""

    word: str
    """queued, running, requeued, done, failed or stopped."""
    detail: str
    job: str | None = None
    progress: str | None = None
    """The last row of progress."""

    @property
    def is_final(self) -> bool:
        """Whether the state changes only if a user acts."""
        return self.word in ("done", "failed", "stopped")

    def __str__(self) -> str:
        job = f" (job {self.job})" if self.job else ""
        words = f"{self.word}{job}: {self.detail}" if self.detail else f"{self.word}{job}"
        return escaped(words, kept="")  # the details of a folder could look like other lines


def state_of(folder: Path, in_queue: Callable[[str], tuple[str, str]] = state_in_queue) -> JobState:
    """Return the state of a run, inside or outside of a job."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder. Name the folder of a run or a submitted job")
    attempts, number = JobAttempts(folder).all(), latest_job(folder)
    if number is None and not (folder / SETTINGS).exists():
        return JobState(*state_words(folder))
    row = _last_row(folder)
    last = attempts[-1] if attempts and attempts[-1].job == number else None
    has_ended = number is None or (last is not None and last.status is not None)
    is_finished = (folder / FINISHED).exists()
    slurm, reason = ("", "") if is_finished and has_ended else in_queue(number or "")
    if is_finished and slurm not in (*WAITING, *RUNNING):
        result = recorded(folder).result
        return JobState("done", f"best {result.cost}; {result.reason}", number, row)
    if slurm in WAITING:
        if last is None:
            return JobState("queued", reason, number, row)
        after = last.after or last.before
        return JobState(
            "requeued", f"attempt {len(attempts)} ended at {after}; {reason}", number, row
        )
    if slurm in RUNNING or is_locked(folder):
        where = f"attempt {len(attempts)} on {reason}" if last is not None else reason
        return JobState("running", where, number, row)
    return _ended(folder, last, slurm, number)


def _ended(folder: Path, last: JobAttempt | None, slurm: str, number: str | None) -> JobState:
    status = None if last is None else last.status
    if status == 0 and (folder / SERIES_TABLE).exists():
        return JobState(
            "done", f"all runs; table: {folder / SERIES_TABLE}", number, _last_row(folder)
        )
    message = _last_error(folder, last)
    can_resume = (folder / SETTINGS).exists()
    if status == Suspended.status or (status is None and not message and can_resume):
        command = command_to_continue(folder, last)
        detail = f"{slurm.lower() or 'no job runs it'}; continue with: {command}"
        return JobState("stopped", detail, number, _last_row(folder))
    how = f"status {status}" if status is not None else slurm.lower() or "its job has ended"
    return JobState("failed", "; ".join(filter(None, (how, message))), number, _last_row(folder))


def _last_row(folder: Path) -> str | None:
    """Return the last row of progress in the log."""
    log = log_of(folder)
    rows = [line for line in _lines(log) if _ROW.match(line)] if log is not None else []
    return rows[-1].strip() if rows else None


def log_of(folder: Path) -> Path | None:
    """Return the log of a run, or of the latest run of a series."""
    if (log := inside(folder, LOG)).is_file():
        return log
    logs = [inside(folder, path.parent.name, LOG) for path in folder.glob(f"*/{LOG}")]
    return max(logs, key=lambda path: path.stat().st_mtime, default=None)


def _last_error(folder: Path, attempt: JobAttempt | None) -> str:
    """Return the last message of the job itself, or the last error in its output."""
    if attempt is not None and attempt.error:
        return attempt.error
    outputs = [Path(attempt.output)] if attempt is not None else _outputs(folder)
    messages = [
        line
        for path in outputs
        for line in _lines(path)
        if line.startswith(("islands:", "islands job:", "slurmstepd", "no islands"))
    ]
    errors = [line for line in messages if not _ATTEMPT.match(line)]
    return errors[-1] if errors else ""


def _outputs(folder: Path) -> list[Path]:
    return inside_all(inside(folder, JOB), "*.out")


def _lines(path: Path) -> Iterator[str]:
    """Yield the last lines of a file; it may be long."""
    if path.is_file():
        yield from last_lines(path)
