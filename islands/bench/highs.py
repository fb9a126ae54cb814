"""HiGHS, an integer programming solver, on a knapsack: a reference for `quality`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.pool import Pool

import numpy as np

from islands.errors import RunError
from islands.problems.mkp import Mkp


@dataclass(frozen=True)
class HighsResult:
    """The result of HiGHS on one instance."""

    profit: float | None
    """The exact profit of the best solution; None if no feasible solution was found."""
    seconds: float
    proved: bool
    """Whether HiGHS proved the solution optimal."""


def highs(problem: Mkp, seconds: float) -> HighsResult:
    """Run HiGHS for at most the given seconds, until no gap is left."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    file = problem.file
    began = time.perf_counter()
    end = milp(
        -file.profits.astype(float),
        integrality=np.ones(problem.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(file.weights, -np.inf, file.capacities),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    taken = time.perf_counter() - began
    if end.x is None:
        return HighsResult(None, taken, proved=False)
    try:
        profit = problem.cost(np.rint(end.x).astype(np.int64))
    except RunError:  # the solution may exceed a capacity within HiGHS's tolerance
        return HighsResult(None, taken, proved=False)
    return HighsResult(profit, taken, proved=end.status == 0)


def silent_processes(count: int) -> Pool:
    """Return a pool of processes without output, as HiGHS prints even if its output is disabled.

    The processes end with the block that uses the pool, even if they are busy.
    """
    spawned = multiprocessing.get_context("spawn")  # a CUDA context does not survive a fork
    return spawned.Pool(count, initializer=_discard_output)


def _discard_output() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
