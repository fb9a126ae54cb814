"""The data of shops: operations with choices and dates, schedules in Python, and Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.models.numbers import amounts, checked, labels, listed
from islands.problems.data import integers, read_array, require_shape, require_sum

Rows = Sequence[Sequence[int | Sequence[int]]]
"""For each job, a number for each operation, or one for each of its choices."""
OBJECTIVES = ("makespan", "tardiness")
MOST_MACHINES = 10_000
_LARGEST = 2**30
"""Sums of times, of weights, and all dates are below this: ends fit into 32 bits, costs into 64."""
_MOST = 10_000
"""The most operations: each thread has an array of them."""
_SHOWN = 60
"""The most bars of a machine that have the number of their job."""


def alike(machines: Any, times: Any) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the machines and the times of all operations; refuse rows of different lengths."""
    where, lasting = _rows("machines", machines), _rows("times", times)
    if len(where) != len(lasting):
        raise UsageError(
            f"machines has {len(where)} rows and times {len(lasting)}. Pass a row for each job in"
            " both"
        )
    for j, (own, each) in enumerate(zip(where, lasting, strict=True)):
        if len(own) != len(each) or not own:
            raise UsageError(
                f"job {j} has {len(own)} machines and {len(each)} times. Pass a machine and a time"
                " for each operation"
            )
    return where, lasting


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
        release: Any,
        due: Any,
        weights: Any,
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
        weight = _each("weights", weights, 1, jobs)
        require_sum("weights", weight, _LARGEST)
        return cls(
            objective,
            _each("release", release, 0, jobs).astype(np.int32),
            _each("due", due, 0, jobs).astype(np.int32),
            weight,
        )

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
        """Return the operations of jobs, in rows that are `alike`; refuse what is no job shop."""
        choices: list[NDArray[np.int64]] = []
        lasting: list[NDArray[np.int64]] = []
        for j, (own, each) in enumerate(zip(machines, times, strict=True)):
            for k, (where, how_long) in enumerate(zip(own, each, strict=True)):
                few = labels(f"machines[{j}][{k}]", _list(where), 1, MOST_MACHINES)
                long = amounts(f"times[{j}][{k}]", _list(how_long), 1, _LARGEST)
                if len(few) != len(long):
                    raise UsageError(
                        f"operation {k} of job {j} has {len(few)} machines and {len(long)} times."
                        " Pass a time for each machine that it may use"
                    )
                if len({*few.tolist()}) != len(few):
                    raise UsageError(
                        f"operation {k} of job {j} has a machine twice: {few.tolist()}. Leave one"
                        " out"
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
        machine, time = np.concatenate(choices), np.concatenate(lasting)
        last = [*time.tolist(), int(dates.release.max())]
        require_sum("times, and the last release", np.array(last), _LARGEST)
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
    return any(_is_list(entry) for row in rows for entry in row)


def _is_list(entry: Any) -> bool:
    return isinstance(entry, list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim > 0)


def _list(entry: Any) -> Any:
    return entry if _is_list(entry) else [entry]


def _rows(name: str, values: Any) -> list[list[Any]]:
    """Return the rows of all jobs."""
    return [
        [*(row if isinstance(row, list | tuple) else checked(f"{name}[{j}]", row, 1))]
        for j, row in enumerate(listed(name, values))
    ]


def _each(name: str, given: Any, default: int, jobs: int) -> NDArray[np.int64]:
    """Return a number for each job; refuse wrong ones."""
    if given is None:
        return np.full(jobs, default, np.int64)
    numbers = integers(name, read_array(name, given, 1), _LARGEST - 1)
    require_shape(name, numbers, (jobs,), "a number for each job")
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
