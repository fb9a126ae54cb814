"""Batches of concurrent runs with given results, to test the tables made from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from problems_for_tests import facilities, knapsack

from islands.archipelago.measure import Candidate
from islands.campaign.engine import Campaign
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.reproduce.experiment import Experiment
from islands.reproduce.table import PaperTable
from islands.run.concurrent import ConcurrentRun, ConcurrentRuns

Answer = Callable[..., ConcurrentRuns]
"""Returns a batch for a number of runs and options."""


def ended(
    costs: Sequence[float | None],
    *,
    evaluations: int = 1000,
    generations: int = 1000,
    seconds: float = 1.0,
) -> ConcurrentRuns:
    """Return a batch of runs with these final costs, which took `seconds` in all.

    None stands for a run without a feasible solution.
    """
    runs = []
    for seed, cost in enumerate(costs, 1):
        progress = Progress(generations, evaluations, seconds, cost, 0, 0, 0.0)
        if cost is None:
            runs.append(ConcurrentRun(seed, progress, None, "", "", None))
            continue
        best = Candidate(int(cost), 0, np.arange(5), np.arange(5))
        runs.append(ConcurrentRun(seed, progress, best, "", "", cost))
    return ConcurrentRuns(tuple(runs), seconds)


def called(name: str, known: float | None, *, maximise: bool = False) -> Problem:
    """Return a small problem with the name of a published one."""
    problem: Problem = knapsack(5, 2) if maximise else facilities(5)
    problem.instance = name
    problem.best_known = None if known is None else BestKnown(known, "optimal", "")
    return problem


@dataclass(frozen=True)
class _Answered(Experiment):
    answer: Answer

    def batch(self, problem: Problem, runs: int, **options: Any) -> ConcurrentRuns:
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
    """Return the table of the instances `here`, whose runs `answer` returns."""
    passed = generations or kind.generations
    experiment = _Answered(
        kind.preset, kind.generations, passed, "cuda", "a GPU", threads, runs, Campaign(), answer
    )
    return kind(experiment, (), here)
