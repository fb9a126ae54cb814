"""Job shops with dates or a choice of machine, which `job_shop` returns for such arguments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from islands.modelling.api import permutation
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.shops import Dates, FlexibleShop, draw_gantt
from islands.models.texts import text_of
from islands.problems.data import name_or


def stated(shop: FlexibleShop, name: str | None, best_known: float | None) -> Model:
    """Return the problem of a shop."""
    jobs, operations, choices = len(shop.first) - 1, len(shop.job), len(shop.machine)
    machines = int(shop.machine.max()) + 1
    numbers = {"JOBS": jobs, "MACHINES": machines, "OPERATIONS": operations}
    is_makespan = shop.dates.objective == "makespan"
    kind = "jobshop" if choices == operations else "flexiblejobshop"
    return permutation(
        choices,
        cost=text_of("flexible_job_shop", **numbers, IS_MAKESPAN=is_makespan),
        state=text_of("flexible_job_shop_state"),
        data={
            "first": shop.first,
            "job": shop.job,
            "choices": shop.choices,
            "operation": shop.operation,
            "machine": shop.machine,
            "time": shop.time,
            "release": shop.dates.release,
            "due": shop.dates.due,
            "weight": shop.dates.weight,
        },
        cooperative=True,
        reference=lambda orders: np.array([shop.cost(order) for order in orders]),
        name=name_or(name, f"{kind}-{jobs}x{machines}"),
        best_known=best_known,
        plot=lambda solution, axes: draw_gantt(axes, shop.schedule(solution)),
    )


def read(path: Path) -> Model:
    """Return the problem in a file of flexible job shops.

    Its first line has the numbers of jobs and machines, and perhaps the mean number of choices. The
    line of a job has the number of its operations, and for each of them the number of its choices
    and pairs of machine and time. Machines begin at 0 if there is a machine 0, otherwise at 1.
    """
    with NumberFile.open(path) as file:
        jobs, machines = file.numbers(2, "sizes", 1, 100_000)
        file.expect(f"a shop of {jobs} jobs", 4 * jobs)
        if file.left_in_line == 1:
            file.skip()
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
                f"has the machine {max(numbers)}, but {machines} machines from {base} on. Correct"
                " the sizes"
            )
        dates = Dates.of(jobs, "makespan", None, None, None)
        found = [[[k - base for k in few] for few in row] for row in where]
        return stated(FlexibleShop.of(found, times, dates), None, None)
