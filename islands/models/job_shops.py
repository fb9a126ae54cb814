"""Job shops: the order in which each machine processes the operations of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.modelling.kinds import order_of
from islands.modelling.model import Model
from islands.modelling.statement import Statement
from islands.models.files import NumberFile
from islands.models.flexible_shops import FlexibleJobShop
from islands.models.numbers import amounts, chosen, labels
from islands.models.plain import Answered, Plain
from islands.models.shops import (
    MOST_MACHINES,
    OBJECTIVES,
    Rows,
    alike,
    draw_gantt,
    has_choices,
)
from islands.models.texts import text_of
from islands.problems.data import name_or, require_sum

_LARGEST = 2**29
"""Sums of times are below this: the tabu search adds two of them."""


class JobShop(Model):
    """The problem of `job_shop` without dates and choices of machine."""

    searches = True
    machines: Rows
    """The machine of each operation, a row for each job."""
    times: Rows
    """The time of each operation."""
    shop: Shop
    """The operations of all jobs."""

    def __init__(
        self,
        machines: Rows,
        times: Rows,
        *,
        name: str | None = None,
        best_known: float | None = None,
    ) -> None:
        """Take the arguments of `job_shop`."""
        self.machines, self.times = alike(machines, times)
        self.shop = shop = Shop.of(self.machines, self.times)
        name = name_or(name, "jobshop-{JOBS}x{MACHINES}".format(**self.constants()))
        statement = Statement(
            cost=text_of("job_shop"),
            state=text_of("job_shop_tabu", "job_shop_paths"),
            cooperative=True,
            name=name,
            best_known=best_known,
        )
        super().__init__(order_of(len(shop.time), None, None), statement)

    def constants(self) -> dict[str, int | bool]:
        """Return the numbers of jobs and machines."""
        return {"JOBS": len(self.shop.first) - 1, "MACHINES": int(self.shop.machine.max()) + 1}

    def data(self) -> dict[str, Any]:
        """Return the operations."""
        shop = self.shop
        return {"first": shop.first, "job": shop.job, "machine": shop.machine, "time": shop.time}

    def exact(self, orders: NDArray[Any]) -> NDArray[Any]:
        """Return the end of the last job of each order."""
        return np.array([max(end for *_, end in self.shop.schedule(order)) for order in orders])

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the schedule as a Gantt chart."""
        draw_gantt(axes, self.shop.schedule(solution))

    def _plain(self) -> Shop:
        """Return the operations of all jobs."""
        return self.shop


@explained
def job_shop(
    machines: Rows,
    times: Rows,
    *,
    release: Sequence[int] | None = None,
    due: Sequence[int] | None = None,
    weights: Sequence[int] | None = None,
    objective: str = "makespan",
    name: str | None = None,
    best_known: float | None = None,
) -> JobShop | FlexibleJobShop:
    """Return the problem of the schedule whose last job ends first, or whose jobs are late least.

    Operation k of job j takes `times[j][k]` on machine `machines[j][k]`, without interruption and
    after the operations of the job before it. A machine processes one operation at a time. If an
    operation may use one of several machines, both are lists: of machines, and of the time on each.

    Job j begins at `release[j]` or later. With the objective "tardiness" instead of "makespan", the
    cost is the sum of `weights[j]` times the time by which job j ends after `due[j]`, its weighted
    tardiness; without weights, each is 1.

    A solution is an order of all operations, numbered job by job: the k-th item of a job stands
    for its k-th operation, which begins as soon as its job and its machine are free. With lists, it
    is an order of all choices, of which the first of each operation counts.

    >>> problem = islands.models.job_shop([[0, 1], [1, 0]], [[3, 2], [4, 1]])
    >>> islands.solve(problem, generations=20).cost
    6
    """
    objective = chosen("objective", objective, OBJECTIVES)
    machines, times = alike(machines, times)
    has_dates = any(each is not None for each in (release, due, weights))
    if has_dates or objective != "makespan" or has_choices(machines):
        return FlexibleJobShop(
            machines,
            times,
            release=release,
            due=due,
            weights=weights,
            objective=objective,
            name=name,
            best_known=best_known,
        )
    return JobShop(machines, times, name=name, best_known=best_known)


@dataclass(frozen=True)
class Shop(Plain):
    """The operations of all jobs, job by job."""

    first: NDArray[np.int32]
    """The first operation of each job, and the number of all operations."""
    job: NDArray[np.int32]
    machine: NDArray[np.int32]
    time: NDArray[np.int32]

    @classmethod
    def of(cls, machines: Rows, times: Rows) -> Shop:
        """Return the operations of jobs, in rows that are `alike`; refuse what is no job shop."""
        first = np.cumsum([0, *(len(each) for each in times)]).astype(np.int32)
        job = np.repeat(np.arange(len(times), dtype=np.int32), np.diff(first))
        machine = np.concatenate(
            [labels(f"machines[{j}]", row, 1, MOST_MACHINES) for j, row in enumerate(machines)]
        )
        time = np.concatenate(
            [amounts(f"times[{j}]", row, 1, _LARGEST) for j, row in enumerate(times)]
        )
        require_sum("times", time, _LARGEST)
        return cls(first, job, machine.astype(np.int32), time.astype(np.int32))

    def schedule(self, order: Sequence[int] | NDArray[Any]) -> list[tuple[int, int, int, int]]:
        """Return job, machine, begin and end of each operation, as an order begins them."""
        ready: dict[int, int] = {}
        free: dict[int, int] = {}
        rows = []
        left = self.first[:-1].tolist()
        for j in self.job[np.asarray(order)].tolist():
            o = left[j]
            left[j] += 1
            k = int(self.machine[o])
            begin = max(ready.get(j, 0), free.get(k, 0))
            ready[j] = free[k] = begin + int(self.time[o])
            rows.append((j, k, begin, ready[j]))
        return rows

    def answer(self, begins: NDArray[Any]) -> Answered:
        """Return the order of operations that begin then, and the end of the last one."""
        # Those that take no time come before others of the same machine.
        order = np.lexsort((np.arange(len(begins)), begins + self.time, begins))
        return order.tolist(), max(end for *_, end in self.schedule(order))

    def bound(self) -> int:
        """Return a lower bound: of each job, and of each machine with the least time around it."""
        jobs = np.add.reduceat(self.time, self.first[:-1])
        before = np.concatenate([np.cumsum(each) - each for each in self._by_job()])
        after = jobs[self.job] - before - self.time
        machines = [
            int(before[own].min() + self.time[own].sum() + after[own].min())
            for k in np.unique(self.machine)
            for own in [self.machine == k]
        ]
        return max(int(jobs.max()), *machines)

    def _by_job(self) -> list[NDArray[np.int32]]:
        return np.split(self.time, self.first[1:-1])


def read(path: Path) -> Model:
    """Return the problem in a file: jobs and machines; for each job, pairs of machine and time."""
    with NumberFile.open(path) as file:
        jobs, machines = file.numbers(2, "sizes", 1, 100_000)
        file.expect(f"a shop of {jobs} jobs and {machines} machines", 2 * jobs * machines)
        rows = [file.numbers(2 * machines, f"numbers of job {j}") for j in range(jobs)]
        file.end()
        return job_shop([row[::2].tolist() for row in rows], [row[1::2].tolist() for row in rows])
