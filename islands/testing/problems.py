"""The contract of a problem: all ways to evaluate it agree, including plain Python."""

from collections.abc import Iterator
from itertools import permutations, product
from math import factorial
from typing import Any, ClassVar

import numpy as np
import pytest

import islands
from islands.errors import IslandsError
from islands.problems.base import Problem

_MOST = 50_000
"""Maximum number of solutions to enumerate."""


def solutions_of(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Yield all solutions of a small problem of orders or subsets."""
    if problem.solution_kind == "order" and factorial(problem.size) <= _MOST:
        return iter(permutations(range(problem.size)))
    if problem.solution_kind == "subset" and 2**problem.size <= _MOST:
        return product((0, 1), repeat=problem.size)
    pytest.skip(f"{problem.instance} has too many solutions to enumerate")


class ProblemContract:
    """The contract of a problem of any kind, tested on a usual and a small instance.

    A subclass defines `problem`, `small` and `cost`.
    """

    settings: ClassVar[dict[str, Any]] = {}
    """Settings for the small instance, in addition to the defaults."""
    generations: ClassVar[int] = 60
    samples: ClassVar[int] = 100

    def problem(self) -> Problem:
        """Return a problem of a usual size."""
        raise NotImplementedError

    def small(self) -> Problem:
        """Return an instance whose solutions can all be enumerated."""
        raise NotImplementedError

    def cost(self, problem: Problem, solution: list[Any]) -> float | None:
        """Return the cost of a solution in plain Python; None if it is infeasible."""
        raise NotImplementedError

    def test_all_ways_to_evaluate_it_agree(self) -> None:
        assert islands.check_problem(self.problem(), samples=self.samples).works

    def test_costs_are_those_of_plain_python(self) -> None:
        problem = self.problem()
        for solution in problem.kind.drawn(self.samples, seed=5):
            exact = self.cost(problem, solution.tolist())
            if exact is None:
                with pytest.raises(IslandsError):
                    problem.cost(solution)
            else:
                assert problem.cost(solution) == pytest.approx(exact, rel=1e-9)

    def test_the_optimum_of_a_small_one_is_found(self) -> None:
        problem = self.small()
        costs = [self.cost(problem, list(solution)) for solution in solutions_of(problem)]
        feasible = [cost for cost in costs if cost is not None]
        optimum = max(feasible) if problem.maximise else min(feasible)
        settings = {"generations": self.generations, "backend": "cpu", **self.settings}
        result = islands.solve(problem, **settings)
        assert result.cost == pytest.approx(optimum, rel=1e-9)
        assert self.cost(problem, np.asarray(result.solution).tolist()) == pytest.approx(optimum)

    def test_what_is_no_solution_is_rejected(self) -> None:
        problem = self.problem()
        wrong = np.full(problem.size + 1, problem.size + 7)
        invalid: list[Any] = [wrong, wrong[:-1], [None] * problem.size, [[0], [0, 1]]]
        for solution in invalid:
            with pytest.raises(IslandsError):
                problem.cost(solution)
