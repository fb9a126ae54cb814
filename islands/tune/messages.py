"""The messages of a tuning before its runs and after each task."""

from __future__ import annotations

import math

from islands import statistics
from islands.configuration.stop import time_limit
from islands.problems.base import Problem
from islands.text import counted, gap, rounded
from islands.tune.configurations import Candidates
from islands.tune.plan import Task, Tuning
from islands.tune.runs import TaskResult, is_timed

_SEQUENTIAL = (
    "Runs are sequential, as runs with a halo or with given start solutions cannot form a batch"
)


def header(tuning: Tuning) -> str:
    """Return the lines that describe the planned runs."""
    candidates, runs = tuning.candidates, tuning.runs
    number = len(candidates.configurations)
    parts = [
        f"{counted(number, 'configuration')} (number 0: the given settings)",
        counted(len(tuning.problems), "instance"),
        f"{counted(runs, 'run')} per configuration and instance",
        tuning.backend.device,
    ]
    lines = [", ".join(parts)]
    if candidates.refused:
        lines.append(refused(candidates))
    if runs > 1:
        lines.append(_batch(tuning) if tuning.batched else _SEQUENTIAL)
    return "\n".join([*lines, ""])


def refused(candidates: Candidates) -> str:
    """Return a line with the number of invalid configurations and the last error."""
    return f"{candidates.refused} others are invalid; the last one: {candidates.refusal}"


def _batch(tuning: Tuning) -> str:
    timed = any(is_timed(task.spec) for task in tuning.tasks)
    shared = ", which shares the seconds of --stop" if timed else ""
    return f"The {tuning.runs} runs of a configuration form a batch{shared}"


def at_work(task: Task, tuning: Tuning) -> str:
    """Return the description of a running task."""
    first, number = task.spec.general.seed, task.configuration.number
    seeds = f", seeds {first} to {first + tuning.runs - 1}" if tuning.batched else ""
    return f"configuration {number}, {task.problem.instance}{seeds}"


def seconds_a_task(tuning: Tuning) -> float | None:
    """Return the maximum seconds of a task, if known."""
    limit = max(time_limit(task.spec.stop) for task in tuning.tasks)
    return limit * (1 if tuning.batched else tuning.runs) if math.isfinite(limit) else None


def line(task: Task, result: TaskResult, *, was_done: bool) -> str:
    """Return the line of a finished task, with adjusted settings."""
    adjusted = f"\n    {task.spec.adjusted}" if task.spec.adjusted else ""
    time = "done before" if was_done else f"{result.seconds * len(result.costs):.2f} s"
    return (
        f"{task.problem.instance}   {task.configuration.number}: {task.configuration.words()}"
        f"   {_outcome(task.problem, result)}, {time}{adjusted}"
    )


def _outcome(problem: Problem, result: TaskResult) -> str:
    costs = [cost for cost in result.costs if cost is not None]
    gaps = [each for cost in costs if (each := problem.gap(cost)) is not None]
    if not costs:
        return "no feasible solution"
    if len(gaps) == len(costs):
        return f"gap {gap(statistics.mean(gaps))}"
    return f"mean {rounded(statistics.mean(costs), 1)}"
