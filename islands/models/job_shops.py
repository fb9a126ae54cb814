"""Job shops: the order in which each machine processes the operations of jobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.modelling.kinds import orders_of
from islands.models.base import ReadyModel
from islands.models.drawing import draw_gantt
from islands.models.files import NumberFile
from islands.models.flexible_shops import FlexibleJobShop
from islands.models.numbers import one_of
from islands.models.shops import OBJECTIVES, Rows, Shop, has_choices, matching_rows
from islands.problems.arguments import name_or


class JobShop(ReadyModel):
    """The problem of `job_shop` without dates or choices of machine."""

    _cost_file, _state_files, _is_cooperative = (
        "job_shop",
        ("job_shop_tabu", "job_shop_paths"),
        True,
    )
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
        self.machines, self.times = matching_rows(machines, times)
        self.shop = Shop.of(self.machines, self.times)
        default = "jobshop-{JOBS}x{MACHINES}".format(**self.constants())
        kind = orders_of(len(self.shop.time), None, None)
        super().__init__(kind, name_or(name, default), best_known=best_known)

    def constants(self) -> dict[str, int | bool]:
        """Return the numbers of jobs and machines."""
        return {"JOBS": len(self.shop.first) - 1, "MACHINES": int(self.shop.machine.max()) + 1}

    def data(self) -> dict[str, Any]:
        """Return the operations."""
        shop = self.shop
        return {"first": shop.first, "job": shop.job, "machine": shop.machine, "time": shop.time}

    def exact(self, orders: NDArray[Any]) -> NDArray[Any]:
        """Return the makespan of each order."""
        return np.array([self.shop.cost(order) for order in orders])

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
    """Return the problem of finding the schedule with the earliest end, or least tardiness.

    Operation k of job j takes `times[j][k]` on machine `machines[j][k]`, without interruption and
    after the operations of the job before it. A machine processes one operation at a time. If an
    operation may use one of several machines, both are lists: of machines, and of the time on each.

    Job j begins at `release[j]` or later. With `objective="tardiness"` instead of "makespan", the
    cost is the weighted tardiness: the sum of `weights[j]`, by default 1, times the time by which
    job j ends after `due[j]`.

    A solution is an order of all operations, numbered job by job: the k-th item of a job stands
    for its k-th operation, which begins as soon as its job and its machine are free. With choices
    of machine, it is an order of all choices; the first one of each operation counts.

    >>> problem = islands.models.job_shop([[0, 1], [1, 0]], [[3, 2], [4, 1]])
    >>> islands.solve(problem, generations=20).cost
    6
    """
    objective = one_of("objective", objective, OBJECTIVES)
    machines, times = matching_rows(machines, times)
    has_dates = any(dates is not None for dates in (release, due, weights))
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


def read(path: Path) -> JobShop | FlexibleJobShop:
    """Return the problem in a file: jobs and machines; for each job, pairs of machine and time."""
    with NumberFile.open(path) as file:
        jobs, machines = file.numbers(2, "sizes", 1, 100_000)
        file.expect(f"a shop of {jobs} jobs and {machines} machines", 2 * jobs * machines)
        rows = [file.numbers(2 * machines, f"numbers of job {j}") for j in range(jobs)]
        file.end()
        return job_shop([row[::2].tolist() for row in rows], [row[1::2].tolist() for row in rows])
