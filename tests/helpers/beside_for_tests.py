"""Runs side by side whose ends are made up, for the tables that are filled from such."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from problems_for_tests import facilities, knapsack

from islands.archipelago.measure import Candidate
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.reproduce.experiment import Experiment
from islands.reproduce.table import PaperTable
from islands.run.batch import Batch, BatchRun

Answer = Callable[..., Batch]
"""Takes the number of runs and the options."""


def ended(
    costs: Sequence[float | None],
    *,
    evaluations: int = 1000,
    generations: int = 1000,
    seconds: float = 1.0,
) -> Batch:
    """Return runs that ended at these costs, or at none, after so many seconds all together."""
    runs = []
    for seed, cost in enumerate(costs, 1):
        progress = Progress(generations, evaluations, seconds, cost, 0, 0, 0.0)
        if cost is None:
            runs.append(BatchRun(seed, progress, None, "", "", None))
            continue
        best = Candidate(int(cost), 0, np.arange(5), np.arange(5))
        runs.append(BatchRun(seed, progress, best, "", "", cost))
    return Batch(tuple(runs), seconds)


def called(name: str, known: float | None, *, maximise: bool = False) -> Problem:
    """Return a small problem that goes by the name of a published one."""
    problem: Problem = knapsack(5, 2) if maximise else facilities(5)
    problem.instance = name
    problem.best_known = None if known is None else BestKnown(known, "optimal", "")
    return problem


@dataclass(frozen=True)
class _Answered(Experiment):
    answer: Answer

    def batch(self, problem: Problem, runs: int, **options: Any) -> Batch:
        return self.answer(runs, **options)


def filled(
    kind: type[PaperTable],
    answer: Answer,
    *,
    generations: int | None = None,
    runs: int | None = None,
    here: Sequence[str] | None = None,
    threads: tuple[int, ...] = (),
) -> PaperTable:
    """Return a table whose runs end as `answer` says, of the instances `here`."""
    passed = generations or kind.generations
    experiment = _Answered(
        kind.preset, kind.generations, passed, "cuda", "a GPU", threads, runs, World(), answer
    )
    return kind(experiment, (), here)
