"""Permutation flow shops: the order in which all machines process the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.modelling.api import permutation
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.numbers import amounts, chosen
from islands.models.shops import draw_gantt
from islands.models.texts import text_of
from islands.problems.data import name_or

_OBJECTIVES = ("makespan", "flow_time")


@explained
def flow_shop(
    times: Sequence[Sequence[int]], *, objective: str = "makespan", name: str | None = None
) -> Model:
    """Return the problem of the best order of jobs that pass all machines one after another.

    Job j takes `times[j][k]` on machine k, and all machines process the jobs in the same order.
    `objective` is the end of the last job, "makespan", or the sum of the ends of all jobs,
    "flow_time".

    >>> problem = islands.models.flow_shop([[3, 2], [1, 4], [2, 1]])
    >>> islands.solve(problem, generations=20).cost
    8
    """
    time = amounts("times", times, 2, 2**30)
    objective = chosen("objective", objective, _OBJECTIVES)
    n, m = time.shape
    sums = objective == "flow_time"

    def costs(orders: NDArray[Any]) -> NDArray[Any]:
        ready = np.zeros((len(orders), m), np.int64)
        total = np.zeros(len(orders), np.int64)
        for jobs in orders.T:
            ready[:, 0] += time[jobs, 0]
            for k in range(1, m):
                ready[:, k] = np.maximum(ready[:, k], ready[:, k - 1]) + time[jobs, k]
            total += ready[:, -1]
        return total if sums else ready[:, -1]

    def draw(order: Any, axes: Any) -> None:
        ready, rows = [0] * m, []
        for job in np.asarray(order).tolist():
            for k in range(m):
                begin = max(ready[k], ready[k - 1] if k else 0)
                ready[k] = begin + int(time[job, k])
                rows.append((job, k, begin, ready[k]))
        draw_gantt(axes, rows)

    return permutation(
        n,
        cost=text_of("flow_shop", JOBS=n, MACHINES=m, SUMS=sums),
        state=text_of("flow_shop_state"),
        data={"time": time.astype(np.int32)},
        reference=costs,
        name=name_or(name, f"flowshop-{n}x{m}"),
        plot=draw,
    )


def bound(times: Sequence[Sequence[int]]) -> int:
    """Return a lower bound of the makespan: each machine with the least times around it."""
    time = np.asarray(times, np.int64)
    before, after = time.cumsum(axis=1) - time, time[:, ::-1].cumsum(axis=1)[:, ::-1] - time
    machines = before.min(axis=0) + time.sum(axis=0) + after.min(axis=0)
    return int(max(machines.max(), time.sum(axis=1).max()))


def read(path: Path) -> Model:
    """Return the first problem in a file of Taillard: a head, then a row for each machine."""
    with NumberFile.open(path) as file:
        file.skip_past(b":")
        n, m, *_ = file.numbers(5, "numbers of the head")
        file.expect(f"a shop of {n} jobs and {m} machines", n * m)
        file.skip_past(b":")
        rows = np.array(file.numbers(n * m, "times")).reshape(m, n)
        return flow_shop(rows.T.tolist())
