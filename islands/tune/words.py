"""What a tuning says before its runs, and after those of a configuration on an instance."""

from __future__ import annotations

import math
from statistics import fmean

from islands.problems.base import Problem
from islands.spec.stop import time_limit
from islands.text import counted, gap
from islands.tune.cell import Cell, is_timed
from islands.tune.configurations import Search
from islands.tune.plan import Task, Tuning

_APART = (
    "Runs go one after the other, as those with a halo, or that start from known solutions, cannot"
    " go on beside another"
)


def header(tuning: Tuning) -> str:
    """Return the lines that say what is going to be run, and how."""
    search, runs = tuning.search, tuning.runs
    parts = [
        f"{counted(len(search.configurations), 'configuration')}, 0 the settings as given",
        counted(len(tuning.problems), "instance"),
        f"{counted(runs, 'run')} of each on each",
        tuning.backend.device,
    ]
    lines = [", ".join(parts)]
    if search.refused:
        lines.append(refused(search))
    if runs > 1:
        lines.append(_together(tuning) if tuning.beside else _APART)
    return "\n".join([*lines, ""])


def refused(search: Search) -> str:
    """Return the line that says how many configurations were offered that cannot be, and why."""
    return f"{search.refused} more cannot be, the last because: {search.refusal}"


def _together(tuning: Tuning) -> str:
    timed = any(is_timed(task.spec) for task in tuning.tasks)
    shared = f": the {tuning.runs} of a configuration share the seconds of --stop" if timed else ""
    return f"Runs go on side by side{shared}"


def at_work(task: Task, tuning: Tuning) -> str:
    """Return what the runs of a configuration on an instance are called while they go on."""
    first, number = task.spec.general.seed, task.configuration.number
    seeds = f", seeds {first} to {first + tuning.runs - 1}" if tuning.beside else ""
    return f"configuration {number}, {task.problem.instance}{seeds}"


def seconds_a_task(tuning: Tuning) -> float | None:
    """Return the seconds that the runs of a configuration on an instance take at most, if known."""
    limit = max(time_limit(task.spec.stop) for task in tuning.tasks)
    return limit * (1 if tuning.beside else tuning.runs) if math.isfinite(limit) else None


def line(task: Task, cell: Cell, *, was_done: bool) -> str:
    """Return the line of a configuration on an instance, and what was adjusted for it."""
    adjusted = f"\n    {task.spec.adjusted}" if task.spec.adjusted else ""
    time = "done before" if was_done else f"{cell.seconds * len(cell.costs):.2f} s"
    return (
        f"{task.problem.instance}   {task.configuration.number}: {task.configuration.words()}"
        f"   {_came_to(task.problem, cell)}, {time}{adjusted}"
    )


def _came_to(problem: Problem, cell: Cell) -> str:
    costs = [cost for cost in cell.costs if cost is not None]
    gaps = [each for cost in costs if (each := problem.gap(cost)) is not None]
    if not costs:
        return "no feasible solution"
    return f"gap {gap(fmean(gaps))}" if len(gaps) == len(costs) else f"mean {fmean(costs):.1f}"
