"""The parts of a run: a job that is requeued writes a line as each part begins and ends."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from islands.errors import InputError
from islands.paths import reading, writing
from islands.record.folder import CHECKPOINTS, FINISHED, JOB, MANIFEST

_FILE = "parts.jsonl"


@dataclass(frozen=True)
class Progress:
    """How far the runs of a folder have come, as far as a restart can use it."""

    finished: int = 0
    """Runs that are finished."""
    generation: int = -1
    """The generation of the latest checkpoint, or -1."""

    @classmethod
    def of(cls, folder: Path) -> Progress:
        """Return the progress of a run, or of a folder of several."""
        manifests = folder.glob(f"**/{CHECKPOINTS}/*/{MANIFEST}")
        generations = [int(path.parent.name.partition(".")[0]) for path in manifests]
        return cls(len(list(folder.glob(f"**/{FINISHED}"))), max(generations, default=-1))

    def __str__(self) -> str:
        return "no checkpoint" if self.generation < 0 else f"generation {self.generation}"


@dataclass(frozen=True)
class Part:
    """One start of the job, until it ended or was requeued."""

    job: str
    number: int
    began: float
    words: tuple[str, ...]
    """The options of the run."""
    output: str
    """The job's output file."""
    before: Progress
    ended: float | None = None
    after: Progress | None = None
    status: int | None = None
    signal: str | None = None
    """SIGUSR1 where the time limit came near, SIGTERM where Slurm ended the part."""

    def is_without_progress(self, now: Progress) -> bool:
        """Return whether it failed, or used up its time, without a new checkpoint."""
        if self.signal == "SIGTERM" and self.status is not None:
            return False  # Slurm ended it, however short it had been
        return (self.after or now) == self.before


class Parts:
    """The parts of the run in a folder, in a file with a line for each start and each end."""

    def __init__(self, folder: Path) -> None:
        self._run = folder
        self._file = folder / JOB / _FILE

    def all(self) -> list[Part]:
        """Return the parts so far, the first one first."""
        if not self._file.exists():
            return []
        with reading(self._file):
            lines = self._file.read_text().splitlines()
        parts: list[Part] = []
        for number, line in enumerate(lines, 1):
            try:
                part = _part(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{self._file}, line {number}: is damaged: {line[:80]!r}. Remove this line"
                ) from error
            if parts and parts[-1].number == part.number:
                parts.pop()
            parts.append(part)
        return parts

    def begin(self, job: str, words: Sequence[str]) -> Part:
        """Write that a part begins, and return it."""
        number, now = len(self.all()) + 1, time.time()
        part = Part(job, number, now, tuple(words), _output(), Progress.of(self._run))
        self._append(part)
        return part

    def end(self, part: Part, status: int, signal: str | None) -> Part:
        """Write that a part has ended, and return it complete."""
        after = Progress.of(self._run)
        ended = replace(part, ended=time.time(), after=after, status=status, signal=signal)
        self._append(ended)
        return ended

    def are_stuck(self, job: str) -> bool:
        """Return whether the last two parts of a job have both been without progress."""
        now = Progress.of(self._run)
        last = [part for part in self.all() if part.job == job][-2:]
        return len(last) == 2 and all(part.is_without_progress(now) for part in last)

    def _append(self, part: Part) -> None:
        with writing(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as stream:
                stream.write(json.dumps(asdict(part)) + "\n")


def _output() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/fd/1").readlink())
    return ""


def _part(values: dict[str, Any]) -> Part:
    progress = {
        name: Progress(**value)
        for name in ("before", "after")
        if isinstance(value := values.get(name), dict)
    }
    return Part(**(values | progress | {"words": tuple(values["words"])}))
