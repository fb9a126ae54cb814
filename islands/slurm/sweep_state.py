"""The states of all runs of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from islands.inside import inside
from islands.record.folder import JOB, SETTINGS
from islands.slurm.array import arrays_of
from islands.slurm.attempts import JobAttempts
from islands.slurm.commands import RUNNING, WAITING, state_in_queue, states_in_queue
from islands.slurm.jobs import submitted
from islands.slurm.state import JobState, state_of


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
    arrays = _array_of_each(folder)
    queue = states_in_queue(sorted(set(arrays.values())))
    numbers = sorted({*arrays, *_begun(folder)})
    return {number: _state(folder, number, arrays.get(number), queue) for number in numbers}


def counted_states(states: Mapping[int, JobState]) -> str:
    """Return the number of runs in each state, such as `3 done, 1 running`."""
    counts = Counter(state.word for state in states.values())
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


def _array_of_each(folder: Path) -> dict[int, str]:
    """Return the latest job array of each element."""
    arrays: dict[int, str] = {}
    job = submitted(folder)
    if job is not None and job.elements is not None:
        arrays |= dict.fromkeys(range(1, job.elements + 1), job.job)
    for array in arrays_of(folder):
        arrays |= dict.fromkeys(array.elements, array.job)
    return arrays


def _state(
    folder: Path, number: int, array: str | None, queue: Mapping[str, tuple[str, str]]
) -> JobState:
    def in_queue(job: str) -> tuple[str, str]:
        return queue.get(job) or state_in_queue(job)

    place, job = inside(folder, str(number)), None if array is None else f"{array}_{number}"
    slurm, reason = ("", "") if job is None else in_queue(job)
    last = JobAttempts(place).last()
    is_resubmitted = last is not None and last.job != job and slurm in WAITING
    if (last is not None or (place / SETTINGS).exists()) and not is_resubmitted:
        return state_of(place, in_queue)
    if slurm in WAITING:
        return JobState("queued", reason, job)
    if slurm in RUNNING:
        return JobState("running", reason, job)
    return JobState("failed", "its job has ended before the run began", job)


def _begun(folder: Path) -> list[int]:
    """Return the numbers of the runs that have a folder."""
    return [
        int(each.name)
        for each in folder.glob("[0-9]*")
        if each.name.isdecimal() and ((each / JOB).is_dir() or (each / SETTINGS).exists())
    ]
