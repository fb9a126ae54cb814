"""Job shops with dates or a choice of machine, which `job_shop` returns for such arguments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.modelling.kinds import orders_of
from islands.models.base import ReadyModel
from islands.models.drawing import draw_gantt
from islands.models.files import NumberFile
from islands.models.numbers import one_of
from islands.models.shops import OBJECTIVES, Dates, Rows, Shop, matching_rows
from islands.problems.arguments import name_or


class FlexibleJobShop(ReadyModel):
    """The problem of `job_shop` with dates or choices of machine."""

    _cost_file, _state_files = "flexible_job_shop", ("flexible_job_shop_state",)
    _is_cooperative = True
    machines: Rows
    """The machines that each operation may use, a row for each job."""
    times: Rows
    """The time of each operation on each of these machines."""
    shop: Shop
    """The operations of all jobs, their choices and their dates."""
    objective: str
    """`makespan` or `tardiness`."""

    def __init__(
        self,
        machines: Rows,
        times: Rows,
        *,
        release: Sequence[int] | None = None,
        due: Sequence[int] | None = None,
        weights: Sequence[int] | None = None,
        objective: str = "makespan",
        name: str | None = None,
        best_known: float | None = None,
    ) -> None:
        self.objective = objective = one_of("objective", objective, OBJECTIVES)
        self.machines, self.times = machines, times = matching_rows(machines, times)
        dates = Dates.of(len(times), objective, release, due, weights)
        self.shop = shop = Shop.flexible(machines, times, dates)
        choices = len(shop.machine)
        form = "jobshop" if choices == len(shop.job) else "flexiblejobshop"
        default = f"{form}-{{JOBS}}x{{MACHINES}}".format(**self.constants())
        kind = orders_of(choices, None, None)
        super().__init__(kind, name_or(name, default), best_known=best_known)

    def constants(self) -> dict[str, int | bool]:
        """Return the numbers of jobs, machines and operations, and the objective."""
        return {
            "JOBS": len(self.shop.first) - 1,
            "MACHINES": int(self.shop.machine.max()) + 1,
            "OPERATIONS": len(self.shop.job),
            "IS_MAKESPAN": self.objective == "makespan",
        }

    def data(self) -> dict[str, Any]:
        """Return the operations, their choices and the dates of jobs."""
        shop = self.shop
        return {
            "first": shop.first,
            "job": shop.job,
            "choices": shop.choices,
            "operation": shop.operation,
            "machine": shop.machine,
            "time": shop.time,
            "release": shop.dates.release,
            "due": shop.dates.due,
            "weight": shop.dates.weight,
        }

    def exact(self, orders: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each order."""
        return np.array([self.shop.cost(order) for order in orders])

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the schedule as a Gantt chart."""
        draw_gantt(axes, self.shop.schedule(solution))


def read(path: Path) -> FlexibleJobShop:
    """Return the problem in a file of flexible job shops.

    The first line has the numbers of jobs and machines, and possibly the mean number of choices.
    The line of a job has the number of its operations, and for each operation the number of
    choices, then a machine and a time for each. Machines are numbered from 1 unless one is 0.
    """
    with NumberFile.open(path) as file:
        jobs, machines = file.numbers(2, "sizes", 1, 100_000)
        file.expect(f"a shop of {jobs} jobs", 4 * jobs)
        if file.left_in_line == 1:
            file.word()
        where: list[list[list[int]]] = []
        times: list[list[list[int]]] = []
        for j in range(jobs):
            where.append([])
            times.append([])
            (count,) = file.numbers(1, f"numbers of operations of job {j}", 1, 100_000)
            file.expect(f"job {j} of {count} operations", 3 * count)
            for k in range(count):
                what = f"numbers of operation {k} of job {j}"
                (choices,) = file.numbers(1, what, 1, machines)
                file.expect(f"operation {k} of job {j}", 2 * choices)
                pairs = file.numbers(2 * choices, what).tolist()
                where[-1].append(pairs[::2])
                times[-1].append(pairs[1::2])
        file.end()
        numbers = [k for row in where for few in row for k in few]
        base = min([1, *numbers])
        if max(numbers) - base >= machines:
            raise file.error(
                f"has the machine {max(numbers)}, but {machines} machines, numbered from"
                f" {base}. Correct the sizes"
            )
        where = [[[k - base for k in few] for few in row] for row in where]
        return FlexibleJobShop(where, times)
