"""The states of all runs of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from islands.record.folder import SETTINGS
from islands.slurm.parts import Parts
from islands.slurm.queue import RUNNING, WAITING, state_in_queue
from islands.slurm.state import State, state_of
from islands.slurm.submit import submitted
from islands.slurm.sweep import LIST, read_list


def is_sweep(folder: Path) -> bool:
    """Return whether a folder holds the runs of a job array."""
    job = submitted(folder)
    if job is not None:
        return job.elements is not None
    return bool(_begun(folder))


def states_of(folder: Path) -> dict[int, State]:
    """Return the state of each run by its number, including runs that have not begun."""
    job = submitted(folder)
    numbers = set(_begun(folder))
    if job is not None and job.elements is not None:
        numbers |= set(range(1, job.elements + 1))
    if (folder / LIST).exists():
        numbers |= set(range(1, len(read_list(folder / LIST)) + 1))
    return {number: _state(folder, number, job.job if job else None) for number in sorted(numbers)}


def counted_states(states: Mapping[int, State]) -> str:
    """Return how many runs are in each state, such as `3 done, 1 running`."""
    counts = Counter(state.word for state in states.values())
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


def _state(folder: Path, number: int, array: str | None) -> State:
    place = folder / str(number)
    if Parts(place).all() or (place / SETTINGS).exists():
        return state_of(place)
    job = f"{array}_{number}" if array is not None else None
    name, reason = state_in_queue(job) if job is not None else ("", "")
    if name in WAITING:
        return State("queued", reason, job)
    if name in RUNNING:
        return State("running", reason, job)
    return State("failed", "it has never begun, and its job has ended", job)


def _begun(folder: Path) -> list[int]:
    return [int(each.name) for each in folder.glob("[0-9]*") if each.name.isdigit()]
