"""The data of shops: operations with choices and dates, schedules in Python, and Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError

Rows = Sequence[Sequence[int | Sequence[int]]]
"""For each job, a number for each operation, or one for each of its choices."""
OBJECTIVES = ("makespan", "tardiness")
_MOST = 10_000
"""The most operations: each thread has an array of them."""
_SHOWN = 60
"""The most bars of a machine that have the number of their job."""


def whole(name: str, rows: Sequence[Any]) -> NDArray[np.int64]:
    """Return the numbers of all rows; refuse others than whole ones of at least 0."""
    flat = np.concatenate([np.asarray(row) for row in rows])
    if flat.dtype.kind not in "iu" or int(flat.min()) < 0:
        raise UsageError(f"{name}: must be whole numbers of at least 0. Round them")
    return flat.astype(np.int64)


@dataclass(frozen=True)
class Dates:
    """When each job may begin and should end, and what each unit of time costs after that."""

    objective: str
    release: NDArray[np.int32]
    due: NDArray[np.int32]
    weight: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        jobs: int,
        objective: str,
        release: Sequence[int] | None,
        due: Sequence[int] | None,
        weights: Sequence[int] | None,
    ) -> Dates:
        """Return the dates of jobs; refuse wrong ones."""
        is_late = objective == "tardiness"
        for name, given in (("due", due), ("weights", weights)):
            if given is not None and not is_late:
                raise UsageError(
                    f"{name}: only belongs to objective='tardiness'. Pass it too, or leave {name}"
                    " out"
                )
        if is_late and due is None:
            raise UsageError("due: is missing. Pass when each job should end; 0 counts from 0 on")
        found = cls(
            objective,
            _each("release", release, 0, jobs).astype(np.int32),
            _each("due", due, 0, jobs).astype(np.int32),
            _each("weights", weights, 1, jobs),
        )
        if int(found.weight.sum()) >= 2**30:
            raise UsageError("weights: their sum exceeds 2**30. Divide them by a common factor")
        return found

    def cost(self, ends: NDArray[Any]) -> int:
        """Return what jobs cost that end at these times."""
        if self.objective == "makespan":
            return int(ends.max())
        return int((self.weight * np.maximum(ends - self.due.astype(np.int64), 0)).sum())


@dataclass(frozen=True)
class FlexibleShop:
    """The operations of all jobs, job by job, with the choices of each."""

    first: NDArray[np.int32]
    """The first operation of each job, and the number of all operations."""
    job: NDArray[np.int32]
    """The job of each operation."""
    choices: NDArray[np.int32]
    """The first choice of each operation, and the number of all choices."""
    machine: NDArray[np.int32]
    """The machine of each choice."""
    time: NDArray[np.int32]
    """The time of each choice."""
    dates: Dates

    @classmethod
    def of(cls, machines: Rows, times: Rows, dates: Dates) -> FlexibleShop:
        """Return the operations of these jobs; refuse what is no job shop."""
        choices: list[list[int]] = []
        lasting: list[list[int]] = []
        for j, (own, each) in enumerate(zip(machines, times, strict=True)):
            for k, (where, how_long) in enumerate(zip(own, each, strict=True)):
                few = _list(where)
                long = _list(how_long)
                if not few or len(few) != len(long):
                    raise UsageError(
                        f"operation {k} of job {j} has {len(few)} machines and {len(long)} times."
                        " Pass a time for each machine that it may use"
                    )
                if len(set(few)) != len(few):
                    raise UsageError(
                        f"operation {k} of job {j} has a machine twice: {few}. Leave one out"
                    )
                choices.append(few)
                lasting.append(long)
        first = np.cumsum([0, *(len(row) for row in machines)]).astype(np.int32)
        operations = int(first[-1])
        if operations > _MOST:
            raise UsageError(
                f"{operations} operations: with dates or a choice of machine, at most {_MOST} are"
                " allowed. Divide the problem"
            )
        machine, time = whole("machines", choices), whole("times", lasting)
        if int(machine.max()) >= 10_000:
            raise UsageError(f"machines: {machine.max()} is above 9999. Number them from 0")
        if int(time.sum()) + int(dates.release.max()) >= 2**30:
            raise UsageError("times: their sum exceeds 2**30. Use a larger unit of time")
        return cls(
            first,
            np.repeat(np.arange(len(machines), dtype=np.int32), np.diff(first)),
            np.cumsum([0, *map(len, choices)]).astype(np.int32),
            machine.astype(np.int32),
            time.astype(np.int32),
            dates,
        )

    @property
    def operation(self) -> NDArray[np.int32]:
        """The operation of each choice."""
        return np.repeat(np.arange(len(self.job), dtype=np.int32), np.diff(self.choices))

    def schedule(self, order: Sequence[int] | NDArray[Any]) -> list[tuple[int, int, int, int]]:
        """Return job, machine, begin and end of each operation, as an order of choices has them."""
        operation = self.operation.tolist()
        chosen: dict[int, int] = {}
        for choice in np.asarray(order).tolist():
            chosen.setdefault(operation[choice], choice)
        ready = self.dates.release.tolist()
        free: dict[int, int] = {}
        rows = []
        left = self.first[:-1].tolist()
        for o in chosen:
            j = int(self.job[o])
            choice = chosen[left[j]]
            left[j] += 1
            k = int(self.machine[choice])
            begin = max(ready[j], free.get(k, 0))
            ready[j] = free[k] = begin + int(self.time[choice])
            rows.append((j, k, begin, ready[j]))
        return rows

    def cost(self, order: Sequence[int] | NDArray[Any]) -> int:
        """Return the cost of an order of choices."""
        ends = np.zeros(len(self.first) - 1, np.int64)
        for job, _, _, end in self.schedule(order):
            ends[job] = end
        return self.dates.cost(ends)

    def bound(self) -> int:
        """Return a lower bound: what each job costs alone, by its fastest choices."""
        fastest = np.minimum.reduceat(self.time, self.choices[:-1]).astype(np.int64)
        return self.dates.cost(self.dates.release + np.add.reduceat(fastest, self.first[:-1]))


def has_choices(rows: Rows) -> bool:
    """Return whether some operations have lists, of several machines."""
    return any(np.ndim(entry) > 0 for row in rows for entry in row)


def _list(entry: int | Sequence[int]) -> list[int]:
    return [*np.atleast_1d(np.asarray(entry)).tolist()]


def _each(name: str, given: Sequence[int] | None, default: int, jobs: int) -> NDArray[np.int64]:
    """Return a number for each job; refuse wrong ones."""
    if given is None:
        return np.full(jobs, default, np.int64)
    found = np.asarray(given)
    if found.shape != (jobs,):
        raise UsageError(
            f"{name}: has the shape {found.shape}. Pass a number for each of {jobs} jobs"
        )
    numbers = whole(name, [given])
    if int(numbers.max()) >= 2**30:
        raise UsageError(f"{name}: {numbers.max()} exceeds 2**30. Use a larger unit")
    return numbers


def draw_gantt(axes: Any, rows: list[tuple[int, int, int, int]]) -> None:
    """Draw operations, each with job, machine, begin and end, into Matplotlib axes."""
    machines = sorted({machine for _, machine, *_ in rows})
    is_small = len(rows) <= _SHOWN * len(machines)
    for job, machine, begin, end in rows:
        axes.barh(machine, end - begin, left=begin, height=0.8, color=f"C{job % 10}")
        if is_small:
            axes.text((begin + end) / 2, machine, str(job), ha="center", va="center", fontsize=6)
    axes.set(xlabel="time", ylabel="machine", yticks=machines)
    axes.invert_yaxis()
