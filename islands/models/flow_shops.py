"""Permutation flow shops: the order in which all machines process the jobs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.modelling.kinds import orders_of
from islands.modelling.texts import Text
from islands.models.base import ReadyModel, function_of, text_of
from islands.models.drawing import draw_gantt
from islands.models.files import NumberFile
from islands.models.numbers import amounts, one_of
from islands.problems.arguments import name_or

_OBJECTIVES = ("makespan", "flow_time")


class FlowShop(ReadyModel):
    """Find the best order of jobs that pass all machines one after another.

    Job j takes `times[j][k]` on machine k, and all machines process the jobs in the same order.
    `objective` is "makespan", the end of the last job, or "flow_time", the sum of the ends of all
    jobs.

    >>> problem = islands.models.flow_shop([[3, 2], [1, 4], [2, 1]])
    >>> islands.solve(problem, generations=20).cost
    8
    """

    _cost_file, _state_files = "flow_shop", ("flow_shop_state",)
    hooks: ClassVar[Mapping[str, Text]] = {"setup": text_of("flow_shop_setup")}
    times: NDArray[np.int64]
    """The time of each job on each machine."""
    objective: str
    """`makespan` or `flow_time`."""

    def __init__(
        self,
        times: Sequence[Sequence[int]],
        *,
        objective: str = "makespan",
        name: str | None = None,
    ) -> None:
        self.times = amounts("times", times, 2, 2**30)
        self.objective = one_of("objective", objective, _OBJECTIVES)
        n, m = self.times.shape
        super().__init__(orders_of(n, None, None), name_or(name, f"flowshop-{n}x{m}"))

    def constants(self) -> dict[str, int | bool]:
        """Return the numbers of jobs and machines, and whether the cost is a sum of ends."""
        jobs, machines = self.times.shape
        is_sum = self.objective == "flow_time"
        return {"JOBS": jobs, "MACHINES": machines, "SUMS": is_sum, "NONE": -1}

    def data(self) -> dict[str, Any]:
        """Return the times."""
        return {"time": self.times.astype(np.int32)}

    def exact(self, orders: NDArray[Any]) -> NDArray[Any]:
        """Return the makespan or the flow time of each order."""
        m = self.times.shape[1]
        ready = np.zeros((len(orders), m), np.int64)
        total = np.zeros(len(orders), np.int64)
        for jobs in orders.T:
            ready[:, 0] += self.times[jobs, 0]
            for k in range(1, m):
                ready[:, k] = np.maximum(ready[:, k], ready[:, k - 1]) + self.times[jobs, k]
            total += ready[:, -1]
        return total if self.objective == "flow_time" else ready[:, -1]

    def draw(self, order: Any, axes: Any) -> None:
        """Draw the schedule as a Gantt chart."""
        m = self.times.shape[1]
        ready, rows = [0] * m, []
        for job in np.asarray(order).tolist():
            for k in range(m):
                begin = max(ready[k], ready[k - 1] if k else 0)
                ready[k] = begin + int(self.times[job, k])
                rows.append((job, k, begin, ready[k]))
        draw_gantt(axes, rows)


flow_shop = function_of(FlowShop, "flow_shop")


def bound(times: Sequence[Sequence[int]]) -> int:
    """Return a lower bound on the makespan, from the loads of machines and the times of jobs."""
    time = np.asarray(times, np.int64)
    before, after = time.cumsum(axis=1) - time, time[:, ::-1].cumsum(axis=1)[:, ::-1] - time
    machines = before.min(axis=0) + time.sum(axis=0) + after.min(axis=0)
    return int(max(machines.max(), time.sum(axis=1).max()))


def read(path: Path) -> FlowShop:
    """Return the first problem in a file by Taillard: a header, then a row for each machine."""
    with NumberFile.open(path) as file:
        file.skip_past(b":")
        n, m, *_ = file.numbers(5, "numbers of the head")
        file.expect(f"a shop of {n} jobs and {m} machines", n * m)
        file.skip_past(b":")
        rows = np.array(file.numbers(n * m, "times")).reshape(m, n)
        return flow_shop(rows.T.tolist())
