"""HiGHS, an integer programming solver, on knapsacks, through SciPy."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from islands.bench.rivals.base import Answer, Rival
from islands.errors import RunError
from islands.problems.base import Problem
from islands.problems.mkp import Mkp


class Highs(Rival):
    """HiGHS as SciPy starts it: until no gap is left; only the end of a run tells its cost."""

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "scipy"
    module: ClassVar[str] = "scipy"
    is_seeded: ClassVar[bool] = False

    def refusal(self, problem: Problem) -> str | None:
        """Refuse everything but knapsacks."""
        return None if isinstance(problem, Mkp) else "solves knapsacks only"

    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        """Run HiGHS once."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        assert isinstance(problem, Mkp)
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
            return Answer((), None, taken)
        items = np.rint(end.x).astype(np.int64)
        try:
            profit = problem.cost(items)
        except RunError:  # the solution may exceed a capacity within HiGHS's tolerance
            return Answer((), None, taken)
        return Answer([(taken, profit)], items.tolist(), taken, proved=end.status == 0)
