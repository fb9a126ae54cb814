"""The runs of a sweep: their states, their table, and the command that repeats unfinished runs."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from islands.errors import InputError, IslandsError
from islands.inside import inside
from islands.paths import published
from islands.progress.result import Result
from islands.record.folder import JOB, SETTINGS
from islands.record.solution import recorded
from islands.slurm.commands import RUNNING, WAITING, state_in_queue, states_in_queue
from islands.slurm.jobs import JobAttempts, submitted
from islands.slurm.state import JobState, state_of
from islands.slurm.sweep import arrays_of
from islands.text import counted, gap, show

TABLE = "results.csv"
_VALUES = (
    *("instance", "problem", "algorithm", "encoding", "preset", "seed", "cost", "best_known"),
    *("gap", "generations", "evaluations", "seconds", "reason", "islands", "backend", "digest"),
)
_HEADER = (
    f"{'element':>7}  {'state':<10} {'instance':<24} {'seed':>6}"
    f" {'best':>14} {'gap':>8} {'seconds':>9}"
)


def is_sweep(folder: Path) -> bool:
    """Return whether a folder contains the runs of a job array."""
    if (folder / SETTINGS).exists():
        return False
    job = submitted(folder)
    if job is not None:
        return job.elements is not None
    return bool(arrays_of(folder) or _begun(folder))


def states_of(folder: Path) -> dict[int, JobState]:
    """Return the state of each run by its number, including runs that have not begun."""
    arrays: dict[int, str] = {}
    job = submitted(folder)
    if job is not None and job.elements is not None:
        arrays |= dict.fromkeys(range(1, job.elements + 1), job.job)
    for array in arrays_of(folder):
        arrays |= dict.fromkeys(array.elements, array.job)
    queue = states_in_queue(sorted(set(arrays.values())))
    numbers = sorted({*arrays, *_begun(folder)})
    return {number: _state(folder, number, arrays.get(number), queue) for number in numbers}


def counted_states(states: Mapping[int, JobState]) -> str:
    """Return the number of runs in each state, such as `3 done, 1 running`."""
    counts = Counter(state.word for state in states.values())
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


def _state(
    folder: Path, number: int, array: str | None, queue: Mapping[str, tuple[str, str]]
) -> JobState:
    """Return the state of a run, whose latest job array is `array`."""

    def in_queue(job: str) -> tuple[str, str]:
        return queue.get(job) or state_in_queue(job)

    place, job = inside(folder, str(number)), None if array is None else f"{array}_{number}"
    slurm, reason = ("", "") if job is None else in_queue(job)
    last = JobAttempts(place).last()
    is_resubmitted = last is not None and last.job != job and slurm in WAITING
    if (last is not None or (place / SETTINGS).exists()) and not is_resubmitted:
        return state_of(place, in_queue)
    if slurm in (*WAITING, *RUNNING):
        return JobState("queued" if slurm in WAITING else "running", reason, job)
    return JobState("failed", "its job has ended before the run began", job)


def _begun(folder: Path) -> list[int]:
    """Return the numbers of the runs that have a folder."""
    return [
        int(each.name)
        for each in folder.glob("[0-9]*")
        if each.name.isdecimal() and ((each / JOB).is_dir() or (each / SETTINGS).exists())
    ]


@dataclass(frozen=True)
class Element:
    """One run of a sweep."""

    number: int
    folder: Path
    state: JobState
    result: Result | None

    def row(self, options: Sequence[str]) -> dict[str, object]:
        """Return the row of the table."""
        values = {} if self.result is None else self.result.to_mapping()
        known = {name: values.get(name) for name in _VALUES}
        of_sweep = {"element": self.number, "state": self._said, "options": " ".join(options)}
        return of_sweep | known | {"folder": str(self.folder)}

    def line(self) -> str:
        """Return the line of the printed table."""
        if self.result is None:
            return f"{self.number:>7}  {self._said}"
        result = self.result
        return (
            f"{self.number:>7}  {self.state.word:<10} {result.instance:<24} {result.seed:>6}"
            f" {result.cost!s:>14} {gap(result.gap):>8} {result.seconds:>9.2f}"
        )

    @property
    def _said(self) -> str:
        return self.state.word if self.result else f"{self.state.word}: {self.state.detail}"


def elements_of(folder: Path) -> list[Element]:
    """Return the runs of a sweep, including runs that have not begun."""
    states = states_of(folder) if is_sweep(folder) else {}
    if not states:
        raise InputError(
            f"{folder}: contains no sweep. Name the folder of one, which has a folder for each run"
        )
    return [
        _element(number, inside(folder, str(number)), state) for number, state in states.items()
    ]


def _element(number: int, folder: Path, state: JobState) -> Element:
    if state.word != "done":
        return Element(number, folder, state, None)
    try:
        return Element(number, folder, state, recorded(folder).result)
    except IslandsError as error:
        return Element(number, folder, JobState("failed", str(error)), None)


def collect(folder: Path, elements: Sequence[Element]) -> int:
    """Write and print the table of the runs of a sweep; return 1 if some are not finished."""
    arrays = arrays_of(folder)
    latest = {number: array for array in arrays for number in array.elements}
    rows = []
    for each in elements:
        array = latest.get(each.number)
        rows.append(each.row(() if array is None else array.options(folder, each.number)))
    path = inside(folder, TABLE)
    with published(path) as temporary, temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    show("\n".join([_HEADER, *(each.line() for each in elements)]))
    done = sum(each.result is not None for each in elements)
    ended = [each.number for each in elements if each.result is None and each.state.is_final]
    active = len(elements) - done - len(ended)
    show(f"\n{done} of {counted(len(elements), 'run')} done. The table is in {path}")
    for array in reversed(arrays):
        if again := [number for number in ended if latest.get(number) is array]:
            command = array.again(again)
            show(f"Run the others again, and write the table again, with: {command}")
    if active:
        show(
            f"{counted(active, 'run')} queued or running: follow them with islands status {folder}"
        )
    if ended or active:
        show(f"Write only the table again with: islands collect {folder}")
    return 1 if ended or active else 0
