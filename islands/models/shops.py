"""Job shops as arrays: operations, choices of machine, dates, schedules and Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.models import messages
from islands.models.numbers import amounts, item_numbers, rows_of, typed_array
from islands.models.plain import Answered, Plain
from islands.problems.arguments import integers, read_array, require_shape, require_sum

Rows = Sequence[Sequence[int | Sequence[int]]]
"""For each job, a number for each operation, or a list with one for each of its choices."""
OBJECTIVES = ("makespan", "tardiness")
MOST_MACHINES = 10_000
_LARGEST = 2**30
"""Limit of dates and of sums of times and weights: ends fit into 32 bits, costs into 64."""
_MOST = 10_000
"""Maximum number of operations with dates or choices: each thread has an array of them."""


def matching_rows(machines: Any, times: Any) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the machines and the times of all operations; reject rows of different lengths."""
    rows = _rows("machines", machines), _rows("times", times)
    jobs, others = map(len, rows)
    if jobs != others:
        raise messages.different_jobs(machines=jobs, times=others)
    for j, (machine, time) in enumerate(zip(*rows, strict=True)):
        if len(machine) != len(time) or not machine:
            raise messages.different_operations(job=j, machines=len(machine), times=len(time))
    return rows


@dataclass(frozen=True)
class Dates:
    """When each job may begin and should end, and the cost of a unit of time after its due date."""

    objective: str
    release: NDArray[np.int32]
    due: NDArray[np.int32]
    weight: NDArray[np.int64]

    @classmethod
    def of(cls, jobs: int, objective: str, release: Any, due: Any, weights: Any) -> Dates:
        """Return the dates of a number of jobs; reject invalid ones."""
        is_late = objective == "tardiness"
        for name, given in (("due", due), ("weights", weights)):
            if given is not None and not is_late:
                raise UsageError(
                    f"{name}: only has an effect with objective='tardiness'. Pass that objective,"
                    f" or leave {name} out"
                )
        if is_late and due is None:
            raise UsageError("due: is missing. Pass the time when each job should end, such as 0")
        weight = _per_job("weights", weights, 1, jobs)
        require_sum("weights", weight, _LARGEST)
        return cls(
            objective,
            _per_job("release", release, 0, jobs).astype(np.int32),
            _per_job("due", due, 0, jobs).astype(np.int32),
            weight,
        )

    def cost(self, ends: NDArray[Any]) -> int:
        """Return the cost of jobs that end at these times."""
        if self.objective == "makespan":
            return int(ends.max())
        return int((self.weight * np.maximum(ends - self.due.astype(np.int64), 0)).sum())


@dataclass(frozen=True)
class Shop(Plain):
    """The operations of all jobs, job by job, with the machines that each may use."""

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
    def of(cls, machines: Rows, times: Rows) -> Shop:
        """Return a shop without dates in which each operation has one machine."""
        machine = [
            item_numbers(f"machines[{j}]", row, 1, MOST_MACHINES) for j, row in enumerate(machines)
        ]
        time = [amounts(f"times[{j}]", row, 1, _LARGEST // 2) for j, row in enumerate(times)]
        # Half of the usual limit, as the tabu search adds two sums.
        require_sum("times", np.concatenate(time), _LARGEST // 2)
        dates = Dates.of(len(times), "makespan", None, None, None)
        return cls._of(machines, np.ones(sum(map(len, time)), int), machine, time, dates)

    @classmethod
    def flexible(cls, machines: Rows, times: Rows, dates: Dates) -> Shop:
        """Return a shop in which operations may have several machines."""
        choices: list[NDArray[np.int64]] = []
        lengths: list[NDArray[np.int64]] = []
        for j, rows in enumerate(zip(machines, times, strict=True)):
            for k, (allowed, given) in enumerate(zip(*rows, strict=True)):
                machine = item_numbers(f"machines[{j}][{k}]", _list(allowed), 1, MOST_MACHINES)
                time = amounts(f"times[{j}][{k}]", _list(given), 1, _LARGEST)
                if len(machine) != len(time):
                    raise messages.different_choices(
                        job=j, operation=k, machines=len(machine), times=len(time)
                    )
                if len({*machine.tolist()}) != len(machine):
                    raise messages.repeated_machine(job=j, operation=k, machines=machine.tolist())
                choices.append(machine)
                lengths.append(time)
        if len(choices) > _MOST:
            raise messages.too_many_operations(count=len(choices), most=_MOST)
        last = [*np.concatenate(lengths).tolist(), int(dates.release.max())]
        require_sum("times, and the last release", np.array(last), _LARGEST)
        return cls._of(machines, [*map(len, choices)], choices, lengths, dates)

    @classmethod
    def _of(
        cls,
        jobs: Rows,
        counts: Sequence[int] | NDArray[Any],
        machines: Sequence[NDArray[np.int64]],
        times: Sequence[NDArray[np.int64]],
        dates: Dates,
    ) -> Shop:
        """Return a shop, given the number of choices of each operation."""
        lengths = [*map(len, jobs)]
        return cls(
            np.cumsum([0, *lengths]).astype(np.int32),
            np.repeat(np.arange(len(jobs), dtype=np.int32), lengths),
            np.cumsum([0, *counts]).astype(np.int32),
            np.concatenate(machines).astype(np.int32),
            np.concatenate(times).astype(np.int32),
            dates,
        )

    @cached_property
    def operation(self) -> NDArray[np.int32]:
        """The operation of each choice."""
        return np.repeat(np.arange(len(self.job), dtype=np.int32), np.diff(self.choices))

    def begins(self, order: Sequence[int] | NDArray[Any]) -> list[tuple[int, int, int]]:
        """Return the number, choice and start of each operation for an order of choices.

        Only the first choice of each operation counts. The k-th such entry of a job stands for the
        k-th operation of the job, which starts as soon as the job and its machine are free.
        """
        operation, chosen = self.operation.tolist(), dict[int, int]()
        for choice in np.asarray(order).tolist():
            chosen.setdefault(operation[choice], choice)
        machine, time = self.machine.tolist(), self.time.tolist()
        ready, free = self.dates.release.tolist(), dict[int, int]()
        following, begins = self.first[:-1].tolist(), list[tuple[int, int, int]]()
        for job in self.job[[*chosen]].tolist():
            o = following[job]
            following[job] += 1
            choice = chosen[o]
            begin = max(ready[job], free.get(machine[choice], 0))
            ready[job] = free[machine[choice]] = begin + time[choice]
            begins.append((o, choice, begin))
        return begins

    def schedule(self, order: Sequence[int] | NDArray[Any]) -> list[tuple[int, int, int, int]]:
        """Return the job, machine, start and end of each operation for an order of choices."""
        operation, choice, begin = np.array(self.begins(order)).T
        columns = self.job[operation], self.machine[choice], begin, begin + self.time[choice]
        return [*zip(*(column.tolist() for column in columns), strict=True)]

    def cost(self, order: Sequence[int] | NDArray[Any]) -> int:
        """Return the cost of an order of choices."""
        operation, choice, begin = np.array(self.begins(order)).T
        ends = np.zeros(len(self.first) - 1, np.int64)
        np.maximum.at(ends, self.job[operation], begin + self.time[choice])
        return self.dates.cost(ends)

    def answer(self, begins: NDArray[Any]) -> Answered:
        """Return the order of operations that begin at these times, and its cost.

        Each operation has one choice.
        """
        # Operations that take no time come before others on the same machine.
        order = np.lexsort((np.arange(len(begins)), begins + self.time, begins))
        return order.tolist(), self.cost(order)

    def bound(self) -> int:
        """Return a lower bound on the cost, from the shortest time of each operation.

        A job takes at least the sum of its times. A machine takes at least the sum over operations
        without another choice, plus the least times before and after them in their jobs.
        """
        fastest = np.minimum.reduceat(self.time, self.choices[:-1]).astype(np.int64)
        ends = self.dates.release + np.add.reduceat(fastest, self.first[:-1])
        if self.dates.objective != "makespan":
            return self.dates.cost(ends)
        passed = np.cumsum(fastest) - fastest
        before = self.dates.release[self.job] + passed - passed[self.first[self.job]]
        after = ends[self.job] - before - fastest
        fixed = np.flatnonzero(np.diff(self.choices) == 1)
        machine = self.machine[self.choices[fixed]]
        operations = [fixed[machine == k] for k in np.unique(machine)]
        loads = [int(before[o].min() + fastest[o].sum() + after[o].min()) for o in operations]
        return max([int(ends.max()), *loads])


def has_choices(rows: Rows) -> bool:
    """Return whether an operation has a list of machines."""
    return any(_is_list(entry) for row in rows for entry in row)


def _is_list(entry: Any) -> bool:
    return isinstance(entry, list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim > 0)


def _list(entry: Any) -> Any:
    return entry if _is_list(entry) else [entry]


def _rows(name: str, values: Any) -> list[list[Any]]:
    """Return a list for each job."""
    return [
        [*(row if isinstance(row, list | tuple) else typed_array(f"{name}[{j}]", row, 1))]
        for j, row in enumerate(rows_of(name, values))
    ]


def _per_job(name: str, given: Any, default: int, jobs: int) -> NDArray[np.int64]:
    """Return a number for each job, or the default; reject invalid ones."""
    if given is None:
        return np.full(jobs, default, np.int64)
    numbers = integers(name, read_array(name, given, 1), _LARGEST - 1)
    require_shape(name, numbers, (jobs,), "a number for each job")
    return numbers
