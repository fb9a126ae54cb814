"""HiGHS, through SciPy, on knapsacks and on models that are integer programs."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np

from islands.errors import RunError
from islands.models.plain import Covering, Medians
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.studies.bench.rivals.base import Answer, Rival


class Highs(Rival):
    """HiGHS, an integer programming solver, as SciPy starts it: until no gap is left.

    It solves knapsacks, coverings and p-medians. Only the end of a run tells its cost.
    """

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "scipy"
    module: ClassVar[str] = "scipy"
    is_seeded: ClassVar[bool] = False
    statements = (Covering, Medians)
    solves = "knapsacks, coverings and p-medians"

    def given(self, problem: Problem) -> Any:
        """Return a knapsack, or the numbers of another problem."""
        return problem if isinstance(problem, Mkp) else super().given(problem)

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run HiGHS once."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if isinstance(problem, Mkp):
            file = problem.file
            price = -file.profits.astype(float)
            rules = [LinearConstraint(file.weights, -np.inf, file.capacities)]
        else:
            price, rules = problem.program()
        began = time.perf_counter()
        end = milp(
            price,
            integrality=np.ones(len(price)),
            bounds=Bounds(0, 1),
            constraints=rules,
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        taken = time.perf_counter() - began
        if end.x is None:
            return Answer((), None, taken)
        items = np.rint(end.x).astype(np.int64)
        if isinstance(problem, Mkp):
            try:
                solution, cost = items.tolist(), problem.cost(items)
            except RunError:  # the solution may exceed a capacity within HiGHS's tolerance
                return Answer((), None, taken)
        else:
            solution, cost = problem.answer(items)
        return Answer([(taken, cost)], solution, taken, proved=end.status == 0)
