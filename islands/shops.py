"""Job shops of job_shop_lib and PyJobShop: solve an instance, return a schedule of the library.

    schedule = islands.shops.solve(instance, time_limit=1.0)

Instances are recognised by their attributes, so neither library is needed for those of the other.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import islands
from islands.calls import is_whole, seconds_of

_LINKS = "end_before_start"
"""The constraints of PyJobShop for the order of the tasks of a job."""
_SIZES = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000)
"""Numbers of jobs and machines for which programs are compiled."""


class Mode(NamedTuple):
    """A machine that may process an operation, and the processing time on it."""

    machine: int
    time: int


class Scheduled(NamedTuple):
    """A scheduled operation: its job, its index in the job, its mode and its times."""

    job: int
    operation: int
    mode: int
    begin: int
    end: int


@dataclass(frozen=True)
class Jobs:
    """The jobs of an instance: the modes of each operation, and dates."""

    operations: Sequence[Sequence[Sequence[Mode]]]
    release: Sequence[int]
    due: Sequence[int] | None = None
    """If given, the objective is the weighted tardiness instead of the makespan."""
    weights: Sequence[int] | None = None

    def schedule(self, seconds: float, seed: int) -> tuple[list[Scheduled], int, islands.Result]:
        """Return a good schedule, a lower bound on the objective, and the result of the run.

        Operations on a machine are in the order of the schedule.
        """
        problem = self._problem()
        shop, scheduled = problem.shop, list[Scheduled]()
        bound = shop.bound()
        stop = [f"seconds={seconds}", f"target={bound}"]
        # Check the time after every generation.
        result = islands.solve(problem, stop=stop, seed=seed, record={"every": 1})
        for o, choice, begin in shop.begins(result.solution):
            job = int(shop.job[o])
            if job < len(self.operations):  # other jobs were added to fill up the shop
                place = o - int(shop.first[job]), choice - int(shop.choices[o])
                scheduled.append(Scheduled(job, *place, begin, begin + int(shop.time[choice])))
        # As jobs end at 0 or later, a negative due date adds the same tardiness to any schedule.
        early = zip(self.due or (), self.weights or (), strict=True)
        return scheduled, bound + sum(weight * max(0, -due) for due, weight in early), result

    def _problem(self) -> Any:
        """Return the problem, possibly with added jobs."""
        machines: Any = [[[m.machine for m in modes] for modes in job] for job in self.operations]
        times: Any = [[[m.time for m in modes] for modes in job] for job in self.operations]
        dates: dict[str, Any] = {"release": self.release} if any(self.release) else {}
        if self.due is not None:
            due = [max(0, date) for date in self.due]
            dates |= {"due": due, "weights": self.weights, "objective": "tardiness"}
        if all(len(modes) == 1 for job in self.operations for modes in job):
            machines, times = (
                [[modes[0] for modes in job] for job in values] for values in (machines, times)
            )
            if not dates:
                machines, times = _filled_up(machines, times)
        return islands.models.job_shop(machines, times, **dates)


def _filled_up(
    machines: list[list[int]], times: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return an equivalent shop whose numbers of jobs and machines are among `_SIZES`.

    Shops of similar sizes then share a compiled program. Each added job has an operation without
    duration on an additional machine.
    """
    used = 1 + max(machine for job in machines for machine in job)
    jobs, last = _size(len(machines)) + 1, _size(used)
    added = jobs - len(machines)
    return [*machines, *[[last]] * added], [*times, *[[0]] * added]


def _size(count: int) -> int:
    """Return the smallest of `_SIZES` that is at least `count`, or else `count` itself."""
    return next((size for size in _SIZES if size >= count), count)


def solve(instance: Any, time_limit: float = 1.0, seed: int = 1) -> Any:
    """Return a good schedule for an instance of job_shop_lib or PyJobShop.

    A `JobShopInstance` gives a `Schedule`, and a `ProblemData` or `Model` a `Result`. The call
    takes `time_limit` seconds, or less if the schedule is proven to be optimal.
    """
    seconds = seconds_of(time_limit)
    if hasattr(instance, "data") and callable(instance.data):
        instance = instance.data()  # a Model of PyJobShop
    for attributes, solve_kind in _KINDS.items():
        if all(hasattr(instance, name) for name in attributes):
            return solve_kind(instance, seconds, seed)
    raise TypeError(
        f"{type(instance).__name__} is neither a JobShopInstance of job_shop_lib nor a ProblemData"
        " or Model of PyJobShop"
    )


def _of_job_shop_lib(instance: Any, seconds: float, seed: int) -> Any:
    """Return a `Schedule` of job_shop_lib."""
    from job_shop_lib import Schedule, ScheduledOperation

    if not instance.jobs:
        raise ValueError("the instance has no jobs")
    for number, job in enumerate(instance.jobs):
        if not job:
            raise ValueError(f"job {number} of the instance has no operations. Leave it out")
        for operation in job:
            _require_whole(f"an operation of job {number} has the duration", operation.duration)
            release = getattr(operation, "release_date", 0)
            _require_whole(f"an operation of job {number} has the release date", release)
    for operation in chain.from_iterable(instance.jobs):
        if getattr(operation, "deadline", None) is not None:
            raise NotImplementedError("the instance has deadlines, which are not supported")
        if operation.position_in_job and getattr(operation, "release_date", 0):
            raise NotImplementedError("only the first operation of a job may have a release date")
    jobs = Jobs(
        [
            [[Mode(m, operation.duration) for m in operation.machines] for operation in job]
            for job in instance.jobs
        ],
        [getattr(job[0], "release_date", 0) for job in instance.jobs],
    )
    machines: list[list[Any]] = [[] for _ in range(instance.num_machines)]
    scheduled, *_ = jobs.schedule(seconds, seed)
    for job, number, mode, begin, _ in scheduled:
        operation = instance.jobs[job][number]
        machine = operation.machines[mode]
        machines[machine].append(ScheduledOperation(operation, begin, machine))
    return Schedule(instance, machines, solved_by="islands")


def _require_whole(words: str, value: Any) -> None:
    """Require times to be non-negative integers."""
    if not is_whole(value) or value < 0:
        raise ValueError(
            f"{words} {value!r}, which is not a whole number of at least 0. Choose a smaller unit,"
            " and round"
        )


def _of_pyjobshop(data: Any, seconds: float, seed: int) -> Any:
    """Return a `Result` of PyJobShop."""
    from pyjobshop import Result, Solution, SolveStatus
    from pyjobshop.Solution import ScheduledTask

    began = time.perf_counter()
    if not data.jobs:
        raise ValueError("the model has no jobs")
    chains = _chains(data)
    shortest: list[dict[Any, int]] = [{} for _ in data.tasks]  # the shortest mode by machine
    for number, mode in enumerate(data.modes):
        if len(mode.resources) != 1 or not hasattr(data.resources[mode.resources[0]], "no_idle"):
            raise NotImplementedError(f"mode {number} does not use exactly one machine")
        by_machine, machine = shortest[mode.task], mode.resources[0]
        if machine not in by_machine or mode.duration < data.modes[by_machine[machine]].duration:
            by_machine[machine] = number
    modes = [[*numbers.values()] for numbers in shortest]
    jobs = Jobs(
        [
            [
                [Mode(data.modes[m].resources[0], data.modes[m].duration) for m in modes[t]]
                for t in tasks_of_job
            ]
            for tasks_of_job in chains
        ],
        [job.release_date for job in data.jobs],
        *_goal(data),
    )
    tasks: list[Any] = [None] * len(data.tasks)
    scheduled, bound, result = jobs.schedule(seconds, seed)
    for job, number, k, begin, end in scheduled:
        task = chains[job][number]
        mode = modes[task][k]
        tasks[task] = ScheduledTask(mode, data.modes[mode].resources, begin, end)
    best = Solution(data, tasks)
    status = SolveStatus.OPTIMAL if best.objective == bound else SolveStatus.FEASIBLE
    runtime = time.perf_counter() - began - result.compile_seconds
    return Result(best.objective, bound, status, runtime, best)


def _goal(data: Any) -> tuple[Sequence[int] | None, Sequence[int] | None]:
    """Return due dates and weights, or None for the makespan; reject other objectives."""
    weights = {name: value for name, value in vars(data.objective).items() if value}
    if weights == {"weight_makespan": 1}:
        return None, None
    if weights == {"weight_total_tardiness": 1} and all(
        job.due_date is not None for job in data.jobs
    ):
        return [job.due_date for job in data.jobs], [job.weight for job in data.jobs]
    raise NotImplementedError(
        f"the objective {weights} is not supported: islands minimises the makespan, or the total"
        " tardiness of jobs that all have due dates, with the weight 1"
    )


def _chains(data: Any) -> list[list[int]]:
    """Return the tasks of each job in order; reject what `job_shop` does not support."""
    for name, constraints in vars(data.constraints).items():
        if constraints and name != _LINKS:
            raise NotImplementedError(f"constraints {name} are not supported, only {_LINKS}")
    for number, resource in enumerate(data.resources):
        if getattr(resource, "breaks", None) or getattr(resource, "no_idle", False):
            raise NotImplementedError(
                f"resource {number} has breaks or no_idle, which is not supported"
            )
    for number, job in enumerate(data.jobs):
        if job.deadline < _end_of_time():
            raise NotImplementedError(f"job {number} has a deadline, which is not supported")
    after: dict[int, int] = {}
    for link in data.constraints.end_before_start:
        jobs = {data.tasks[link.task1].job, data.tasks[link.task2].job}
        if link.delay or len(jobs) > 1 or link.task1 in after:
            raise NotImplementedError(
                f"the constraint {link} is not supported: only tasks of the same job may follow one"
                " another, without delay"
            )
        after[link.task1] = link.task2
    for number, task in enumerate(data.tasks):
        is_free = not (task.earliest_start or task.earliest_end or task.optional)
        is_free &= task.latest_start == task.latest_end == _end_of_time() and task.job is not None
        if not is_free:
            raise NotImplementedError(f"task {number} has a time window, no job, or is optional")
    return [_chain(number, job.tasks, after) for number, job in enumerate(data.jobs)]


def _end_of_time() -> int:
    from pyjobshop.constants import MAX_VALUE

    return int(MAX_VALUE)


def _chain(number: int, tasks: Sequence[int], after: dict[int, int]) -> list[int]:
    """Return the tasks of a job in order."""
    first = {*tasks} - {*after.values()}
    order = [*first][:1]
    while order and order[-1] in after:
        order.append(after[order[-1]])
    if len(first) != 1 or len(order) != len(tasks):
        raise NotImplementedError(
            f"the tasks of job {number} do not form a single sequence. Add end_before_start"
            " constraints"
        )
    return order


_KINDS: dict[tuple[str, ...], Callable[[Any, float, int], Any]] = {
    ("jobs", "tasks", "modes", "resources"): _of_pyjobshop,
    ("jobs", "num_operations"): _of_job_shop_lib,
}
"""The functions that solve an instance, by the attributes that identify its library."""
