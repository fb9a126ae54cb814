"""The state of a job, from Slurm and from its folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from islands.errors import InputError, Suspended
from islands.record.folder import FINISHED, JOB, LOG, SETTINGS
from islands.record.lock import FolderLock
from islands.record.solution import recorded
from islands.slurm.parts import Part, Parts
from islands.slurm.queue import RUNNING, WAITING, state_in_queue
from islands.slurm.submit import submitted

_ROW = re.compile(r"^[*C ]{0,3}\s+\d+ +[\d.]+[smh]")


@dataclass(frozen=True)
class State:
    """The state of a run in one word, and in a sentence."""

    word: str
    """queued, running, requeued, done, failed or stopped."""
    detail: str
    job: str | None = None
    progress: str | None = None
    """The last row of progress."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.word in ("done", "failed", "stopped")

    def __str__(self) -> str:
        job = f" (job {self.job})" if self.job else ""
        return f"{self.word}{job}: {self.detail}" if self.detail else f"{self.word}{job}"


def state_of(folder: Path) -> State:
    """Return the state of a run, of a job or not."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder. Name the folder of a run or a submitted job")
    parts, job = Parts(folder).all(), submitted(folder)
    if not parts and job is None and not (folder / SETTINGS).exists():
        raise InputError(f"{folder}: holds neither a run nor a submitted job. Name its folder")
    number = parts[-1].job if parts else job.job if job is not None else None
    if (folder / FINISHED).exists():
        result = recorded(folder).result
        return State("done", f"best {result.cost}; {result.reason}", number, _last_row(folder))
    slurm, reason = state_in_queue(number) if number is not None else ("", "")
    if slurm in WAITING:
        if parts:
            detail = f"after part {len(parts)}, at {parts[-1].after or 'its start'}; {reason}"
            return State("requeued", detail, number, _last_row(folder))
        return State("queued", reason, number)
    if slurm in RUNNING or _is_locked(folder):
        where = f"part {len(parts)} on {reason}" if parts else reason
        return State("running", where, number, _last_row(folder))
    return _ended(folder, parts, slurm, number)


def _ended(folder: Path, parts: list[Part], slurm: str, number: str | None) -> State:
    status = parts[-1].status if parts else None
    said = _last_error(folder, parts)
    if status == Suspended.status or (status is None and not said and (folder / SETTINGS).exists()):
        how = f"continue with: islands resume {folder}"
        return State(
            "stopped", f"{slurm.lower() or 'no job runs it'}; {how}", number, _last_row(folder)
        )
    how = f"status {status}" if status is not None else slurm.lower() or "its job is gone"
    return State("failed", "; ".join(filter(None, (how, said))), number, _last_row(folder))


def _is_locked(folder: Path) -> bool:
    if not (folder / SETTINGS).exists():
        return False
    with FolderLock() as lock:
        return not lock.takes(folder)


def _last_row(folder: Path) -> str | None:
    """Return the last row of progress in the log."""
    rows = [line for line in _lines(folder / LOG) if _ROW.match(line)]
    return rows[-1].strip() if rows else None


def _last_error(folder: Path, parts: list[Part]) -> str:
    """Return the job's last message about itself or an error."""
    outputs = [Path(part.output) for part in parts[-1:]] or sorted((folder / JOB).glob("*.out"))
    said = [
        line
        for path in outputs
        for line in _lines(path)
        if line.startswith(("islands:", "islands job:", "slurmstepd", "no islands"))
    ]
    ends = [line for line in said if not re.match(r"islands job: (part|job) \d+", line)]
    return ends[-1] if ends else ""


def _lines(path: Path) -> Iterator[str]:
    if path.is_file():
        with path.open(errors="replace") as stream:
            yield from (line.rstrip("\n") for line in stream)
