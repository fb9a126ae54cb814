"""Job shops of job_shop_lib and PyJobShop: an instance goes in, a schedule of theirs comes out.

    schedule = islands.shops.solve(instance, time_limit=1.0)

Neither library is needed before one of its instances is passed, which is known by its attributes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import islands
from islands.calls import is_whole, seconds_of

_LINKS = "end_before_start"
"""The constraints of PyJobShop that state the order of the tasks of a job."""
_SIZES = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000)
"""Numbers of jobs and machines for which programs are compiled."""


class Choice(NamedTuple):
    """A machine that may process an operation, and its time there."""

    machine: int
    time: int


class Step(NamedTuple):
    """A scheduled operation: which one of a job, and when it is where."""

    job: int
    operation: int
    choice: int
    begin: int
    end: int


@dataclass(frozen=True)
class Shop:
    """The operations of jobs, each with the machines that may process it."""

    jobs: Sequence[Sequence[Sequence[Choice]]]
    release: Sequence[int]
    due: Sequence[int] | None = None
    """If given, the weighted tardiness counts instead of the end of all jobs."""
    weights: Sequence[int] | None = None

    def solved(self, seconds: float, seed: int) -> tuple[list[Step], islands.Result]:
        """Return the steps of a good schedule, each machine's in order, and how it was found."""
        added = 0
        machines: Any = [[[each.machine for each in some] for some in job] for job in self.jobs]
        times: Any = [[[each.time for each in some] for some in job] for job in self.jobs]
        dates: dict[str, Any] = {"release": self.release} if any(self.release) else {}
        if self.due is not None:
            # Jobs end at 0 or later, so that an earlier due date adds the same to all schedules.
            due, added = [max(0, each) for each in self.due], self._tardiness([0] * len(self.due))
            dates |= {"due": due, "weights": self.weights, "objective": "tardiness"}
        if all(len(some) == 1 for job in self.jobs for some in job):
            machines, times = (
                [[some[0] for some in job] for job in each] for each in (machines, times)
            )
            if not dates:
                machines, times = _filled_up(machines, times)
        problem = islands.models.job_shop(machines, times, **dates)
        stop = [f"seconds={seconds}", f"target={self.bound() - added}"]
        # Each generation ends with a look at the clock.
        result = islands.solve(problem, stop=stop, seed=seed, record={"every": 1})
        return self.steps(result.solution), result

    def steps(self, order: Any) -> list[Step]:
        """Return the schedule for an order of choices, of which the first of an operation counts.

        The k-th operation in the order that belongs to a job stands for the k-th one of the job;
        those of jobs that were added are left out.
        """
        flat = [
            (job, number, choice)
            for job, operations in enumerate(self.jobs)
            for number, some in enumerate(operations)
            for choice in range(len(some))
        ]
        chosen: dict[tuple[int, int], int] = {}
        for item in (each for each in order if each < len(flat)):
            job, number, choice = flat[int(item)]
            chosen.setdefault((job, number), choice)
        ready, free, found = [*self.release], dict[int, int](), list[Step]()
        following = [0] * len(self.jobs)
        for job, _ in chosen:
            number = following[job]
            following[job] += 1
            choice = chosen[job, number]
            machine, length = self.jobs[job][number][choice]
            begin = max(ready[job], free.get(machine, 0))
            ready[job] = free[machine] = begin + length
            found.append(Step(job, number, choice, begin, begin + length))
        return found

    def bound(self) -> int:
        """Return what no schedule is below."""
        ends = [
            begin + sum(min(each.time for each in some) for some in job)
            for begin, job in zip(self.release, self.jobs, strict=True)
        ]
        if self.due is not None:
            return self._tardiness(ends)
        loads: dict[int, int] = {}
        for some in (some for job in self.jobs for some in job if len(some) == 1):
            loads[some[0].machine] = loads.get(some[0].machine, 0) + some[0].time
        return max([*ends, *loads.values()])

    def _tardiness(self, ends: Sequence[int]) -> int:
        """Return the weighted tardiness of jobs that end at these times."""
        due, weights = self.due or [0] * len(ends), self.weights or [1] * len(ends)
        jobs = zip(ends, due, weights, strict=True)
        return sum(weight * max(0, end - date) for end, date, weight in jobs)


def _filled_up(
    machines: list[list[int]], times: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return a shop with one of few numbers of jobs and machines, which programs are compiled for.

    The jobs that are added have an operation that takes no time on a machine of their own.
    """
    used = 1 + max(machine for job in machines for machine in job)
    jobs, last = _size(len(machines)) + 1, _size(used)
    added = jobs - len(machines)
    return [*machines, *[[last]] * added], [*times, *[[0]] * added]


def _size(count: int) -> int:
    """Return the first of some sizes that is not below a number."""
    return next((each for each in _SIZES if each >= count), count)


def solve(instance: Any, time_limit: float = 1.0, seed: int = 1) -> Any:
    """Return a schedule of few time units for an instance of job_shop_lib or PyJobShop.

    A `JobShopInstance` gives a `Schedule`, and a `ProblemData` or `Model` a `Result`. The call
    takes `time_limit` seconds, or less if the schedule is proven to be optimal.
    """
    seconds = seconds_of(time_limit)
    if hasattr(instance, "data") and callable(instance.data):
        instance = instance.data()  # a Model of PyJobShop
    for attributes, solved in _KINDS.items():
        if all(hasattr(instance, name) for name in attributes):
            return solved(instance, seconds, seed)
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
    for operation in (each for job in instance.jobs for each in job):
        if getattr(operation, "deadline", None) is not None:
            raise NotImplementedError("the instance has deadlines, which islands does not take")
        if operation.position_in_job and getattr(operation, "release_date", 0):
            raise NotImplementedError("only the first operation of a job may have a release date")
    shop = Shop(
        [
            [[Choice(m, each.duration) for m in each.machines] for each in job]
            for job in instance.jobs
        ],
        [getattr(job[0], "release_date", 0) for job in instance.jobs],
    )
    machines: list[list[Any]] = [[] for _ in range(instance.num_machines)]
    steps, _ = shop.solved(seconds, seed)
    for step in steps:
        operation = instance.jobs[step.job][step.operation]
        machine = operation.machines[step.choice]
        machines[machine].append(ScheduledOperation(operation, step.begin, machine))
    return Schedule(instance, machines, solved_by="islands")


def _require_whole(words: str, value: Any) -> None:
    """Refuse times that are no whole numbers."""
    if not is_whole(value) or value < 0:
        raise ValueError(
            f"{words} {value!r}, which is no whole number of at least 0. Choose a smaller unit, and"
            " round"
        )


def _of_pyjobshop(data: Any, seconds: float, seed: int) -> Any:
    """Return a `Result` of PyJobShop."""
    from pyjobshop import Result, Solution, SolveStatus
    from pyjobshop.Solution import ScheduledTask

    began = time.perf_counter()
    if not data.jobs:
        raise ValueError("the model has no jobs")
    chains = _chains(data)
    shortest: list[dict[Any, int]] = [{} for _ in data.tasks]  # the mode on each machine
    for number, mode in enumerate(data.modes):
        if len(mode.resources) != 1 or not hasattr(data.resources[mode.resources[0]], "no_idle"):
            raise NotImplementedError(f"mode {number} does not use exactly one machine")
        own, machine = shortest[mode.task], mode.resources[0]
        if machine not in own or mode.duration < data.modes[own[machine]].duration:
            own[machine] = number
    modes = [[*each.values()] for each in shortest]
    shop = Shop(
        [
            [
                [Choice(data.modes[m].resources[0], data.modes[m].duration) for m in modes[t]]
                for t in chain
            ]
            for chain in chains
        ],
        [job.release_date for job in data.jobs],
        *_goal(data),
    )
    tasks: list[Any] = [None] * len(data.tasks)
    steps, found = shop.solved(seconds, seed)
    for step in steps:
        task = chains[step.job][step.operation]
        mode = modes[task][step.choice]
        tasks[task] = ScheduledTask(mode, data.modes[mode].resources, step.begin, step.end)
    best, bound = Solution(data, tasks), shop.bound()
    status = SolveStatus.OPTIMAL if best.objective == bound else SolveStatus.FEASIBLE
    runtime = time.perf_counter() - began - found.compile_seconds
    return Result(best.objective, bound, status, runtime, best)


def _goal(data: Any) -> tuple[Sequence[int] | None, Sequence[int] | None]:
    """Return due dates and weights, or None for the makespan; refuse other objectives by name."""
    weights = {name: value for name, value in vars(data.objective).items() if value}
    if weights == {"weight_makespan": 1}:
        return None, None
    if weights == {"weight_total_tardiness": 1} and all(
        job.due_date is not None for job in data.jobs
    ):
        return [job.due_date for job in data.jobs], [job.weight for job in data.jobs]
    raise NotImplementedError(
        f"the objective {weights} is not taken: islands minimises the makespan, or the total"
        " tardiness of jobs that all have due dates, with the weight 1"
    )


def _chains(data: Any) -> list[list[int]]:
    """Return the tasks of each job in their order; refuse what is no job shop, by name."""
    for name, some in vars(data.constraints).items():
        if some and name != _LINKS:
            raise NotImplementedError(f"constraints {name} are not taken, only {_LINKS}")
    for number, resource in enumerate(data.resources):
        if getattr(resource, "breaks", None) or getattr(resource, "no_idle", False):
            raise NotImplementedError(
                f"resource {number} has breaks or no_idle, which is not taken"
            )
    for number, job in enumerate(data.jobs):
        if job.deadline < _end_of_time():
            raise NotImplementedError(f"job {number} has a deadline, which is not taken")
    after: dict[int, int] = {}
    for link in data.constraints.end_before_start:
        jobs = {data.tasks[link.task1].job, data.tasks[link.task2].job}
        if link.delay or len(jobs) > 1 or link.task1 in after:
            raise NotImplementedError(
                f"the constraint {link} is not taken: only tasks of a job follow one another,"
                " without delay"
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
    """Return the tasks of a job one after another."""
    first = {*tasks} - {*after.values()}
    found = [*first][:1]
    while found and found[-1] in after:
        found.append(after[found[-1]])
    if len(first) != 1 or len(found) != len(tasks):
        raise NotImplementedError(
            f"the tasks of job {number} are not one after another. Add end_before_start constraints"
        )
    return found


_KINDS: dict[tuple[str, ...], Callable[[Any, float, int], Any]] = {
    ("jobs", "tasks", "modes", "resources"): _of_pyjobshop,
    ("jobs", "num_operations"): _of_job_shop_lib,
}
"""What solves an instance with these attributes."""
