"""Invented results of runs, of batches and of benchmarks."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from problems_for_tests import facilities, knapsack

from islands.cells.campaign import Campaign
from islands.cells.summary import Summary
from islands.engine.repeats import Repeat
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.problems.scale import Scale
from islands.progress.result import Result
from islands.studies.bench.gpus_rows import TARGET, GpuRunRow
from islands.studies.bench.quality_runs import RunRow
from islands.studies.papers.experiment import ExperimentRequest
from islands.studies.papers.table import PaperTable

SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)

NEAR_BEST_KNOWN = [
    (200, 201, False),
    (200, 199, True),
    (2**60, 2**60 + 1, False),
    (2**60, 2**60 - 1, True),
    (0.3, 0.300000001, False),
    (95168.5, 95168.499999999, True),
]
"""A best known value, a cost that just misses it, and whether the problem is maximised."""


def result(**changes: Any) -> Result:
    values: dict[str, Any] = {
        "instance": "fake/five", "problem": "tsp", "algorithm": "brkga", "encoding": "keys",
        "preset": None, "cost": 210, "best_known": 200, "gap": 5.0, "island": 3,
        "solution": np.array([2, 0, 1]), "best_generation": 90, "generations": 100,
        "evaluations": 5000, "seconds": 1.25, "compile_seconds": 0.5, "reason": "done",
        "interrupted": False, "suspended": False, "reproducible": True, "seed": 1, "ranks": 1,
        "islands": 8, "population": 256, "backend": "cpu", "device": "CPU",
        "transport": "device", "digest": "ab", "folder": "runs/a",
    }  # fmt: skip
    return Result(**{**values, **changes})


def summary(*costs: int, known: int | None = 200, maximise: bool = False, **facts: Any) -> Summary:
    """Return the summary of runs that found these costs."""
    sign = -1 if maximise else 1
    gaps = [None if not known else sign * 100 * (cost - known) / known for cost in costs]
    runs = [
        result(cost=cost, gap=gap, best_known=known, seconds=seconds, evaluations=cost, **facts)
        for cost, gap, seconds in zip(costs, gaps, SECONDS, strict=False)
    ]
    return Summary.of(runs, Scale(maximise=maximise))


Answer = Callable[..., list[Repeat]]
"""Returns a batch for a number of runs and options."""


def ended(
    costs: Sequence[float | None],
    *,
    evaluations: int = 1000,
    generations: int = 1000,
    seconds: float = 1.0,
) -> list[Repeat]:
    """Return a batch of runs with these final costs, which took `seconds` in all.

    None stands for a run without a feasible solution.
    """
    took = {"evaluations": evaluations, "generations": generations, "seconds": seconds}
    took |= {"best_generation": 0}
    results = (result(cost=cost, seed=seed, **took) for seed, cost in enumerate(costs, 1))
    return [Repeat(each, each.cost) for each in results]


def called(name: str, known: float | None, *, maximise: bool = False) -> Problem:
    """Return a small problem with the name of a published one."""
    problem: Problem = knapsack(5, 2) if maximise else facilities(5)
    problem.instance = name
    problem.best_known = None if known is None else BestKnown(known, "optimal", "")
    return problem


def filled(
    kind: type[PaperTable],
    answer: Answer,
    *,
    generations: int | None = None,
    runs: int | None = None,
    here: Sequence[str] | None = None,
    threads: tuple[int, ...] = (),
) -> PaperTable:
    """Return the table of the instances `here`, whose runs `answer` returns."""
    asked = ExperimentRequest("cuda", "a GPU", threads, runs, generations, Campaign())
    table = kind(asked, (), here)
    table.batch = lambda _, runs, **options: answer(runs, **options)
    return table


LIMIT = 10.0
"""The time limit of these runs in seconds."""


def run_row(**changes: Any) -> RunRow:
    """Return a run that ends with `cost`, or with the last cost of its `course`."""
    values: dict[str, Any] = {
        "instance": "fake/five", "group": "fake", "size": 5, "constraints": None,
        "maximise": False, "reference": 200, "is_known": True, "backend": "cpu",
        "method": "default", "device": "CPU, 1 thread", "ranks": 1, "algorithm": "ga",
        "islands": 8, "population": 256, "seed": 1, "limit": LIMIT, "cost": 210,
        "seconds": 10.0, "other_seconds": 0.1, "generations": 100, "evaluations": 5000,
        "proved": False, "course": None,
    }  # fmt: skip
    values |= changes
    if values["course"]:
        values["cost"] = values["course"][-1][1]
    elif values["course"] is None:
        cost = values["cost"]
        values["course"] = () if cost is None else ((values["seconds"], cost),)
    return RunRow(**values)


def gpu_row(ranks: int, reached: float, **changes: Any) -> GpuRunRow:
    """Return a run that is at the best known value, 200, at a time, and 0.1 % above it sooner."""
    course = [(0.25 * reached, 202.0), (0.5 * reached, 200.2), (reached, 200.0)]
    values: dict[str, Any] = {
        "ranks": ranks,
        "course": course if np.isfinite(reached) else [(9.0, 300.0)],
        "seconds": min(reached, LIMIT + 0.1),
    }
    own: dict[str, Any] = {
        "purpose": TARGET, "settings": "s", "digest": "d", "team": ranks, "idle_ranks": 0,
        "exchange": 0.1, "migration": 0.0, "waiting": 0.2, "idle": 0.0, "start_seconds": 0.0,
        "start_evaluations": 0,
    }  # fmt: skip
    mine = {name: value for name, value in changes.items() if name in own}
    others = {name: value for name, value in changes.items() if name not in own}
    return GpuRunRow(**asdict(run_row(**(values | others))), **(own | mine))
