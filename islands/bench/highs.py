"""HiGHS, a solver of linear programs in integers, on a knapsack: what there is to compare with."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from islands.errors import RunError
from islands.problems.mkp import Mkp


@dataclass(frozen=True)
class HighsEnd:
    """What it came to."""

    profit: float | None
    """Of its best choice, computed exactly; None where it has found none."""
    seconds: float
    proved: bool
    """Whether it has proved that there is none better."""


def highs(problem: Mkp, seconds: float) -> HighsEnd:
    """Let HiGHS work for so many seconds at most, until no gap is left."""
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
        return HighsEnd(None, taken, proved=False)
    try:
        profit = problem.cost(np.rint(end.x).astype(np.int64))
    except RunError:  # within its tolerance, a capacity may be exceeded
        return HighsEnd(None, taken, proved=False)
    return HighsEnd(profit, taken, proved=end.status == 0)
