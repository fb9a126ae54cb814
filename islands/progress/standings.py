"""The progress of several runs at once: arrays with the attribute names of `Progress`."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import MEASURE, NONE, Interpreter
from islands.problems.base import Problem


class BestCost(NamedTuple):
    """The best cost of one run, for criteria on the cost; None without a solution."""

    problem: Problem
    cost: float | None

    def reached(self, value: float) -> bool:
        """Return whether the cost is at least as good as `value`."""
        return self.problem.scale.reaches(self.cost, value)

    @property
    def has_reached_best_known(self) -> bool:
        """Whether the cost is at least as good as the best known one, if there is one."""
        best = self.problem.best_known
        return best is not None and self.reached(best.value)

    @property
    def has_reached_lower_bound(self) -> bool:
        """Whether the cost is equal to the lower bound of the problem, if there is one."""
        bound = self.problem.lower_bound
        return bound is not None and self.reached(bound)

    def is_within(self, percent: float) -> bool:
        """Return whether the gap is known, and at most this many per cent."""
        gap = None if self.cost is None else self.problem.gap(self.cost)
        return gap is not None and gap <= percent


class Standings:
    """The progress of runs, as stopping criteria read it: arrays with a number for each run.

    An array is computed when a criterion reads it, as most criteria need few arrays.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        measured: NDArray[np.int64],
        problems: Mapping[int, Problem],
        generation: NDArray[np.int64],
        seconds: NDArray[np.float64],
    ) -> None:
        """Take the measures of each island of each run, and the problems of runs in progress."""
        self.generation, self.seconds = generation, seconds
        self._interpreter, self._measured, self._problems = interpreter, measured, problems

    def _measure(self, name: str) -> Any:
        """Return a measure of each island of each run."""
        return self._measured[..., MEASURE.index(name)]

    @cached_property
    def evaluations(self) -> Any:
        """The evaluations of all islands."""
        return self._measure("calls").sum(axis=1)

    @cached_property
    def has_converged(self) -> Any:
        """Whether the population of each island has converged, at least once."""
        return ((self._measure("distinct") == 1) | (self._measure("ended") > 0)).all(axis=1)

    @cached_property
    def _from_archive(self) -> Any:
        """Whether the best individual of an island is that of its archive, as in `Interpreter`."""
        return self._interpreter.scale.marks or self._measure("archived") <= self._measure("best")

    @cached_property
    def _costs(self) -> NDArray[np.int64]:
        """The best cost of each island."""
        costs: NDArray[np.int64] = np.where(
            self._from_archive, self._measure("archived"), self._measure("best")
        )
        return costs

    @cached_property
    def _best(self) -> Any:
        return self._costs.min(axis=1)

    @cached_property
    def best_generation(self) -> NDArray[np.int64]:
        """The generation in which the best cost was reached; 0 without a solution."""
        archived, current = self._measure("archived_generation"), self._measure("best_generation")
        generation = np.where(self._from_archive, archived, current)
        first = np.where(self._costs == self._best[:, np.newaxis], generation, NONE).min(axis=1)
        return np.where(self._best < self._interpreter.infeasible, first, 0)

    def reached(self, value: float) -> NDArray[np.bool_]:
        """Return whether the best cost is at least as good as `value`."""
        return self._where(lambda best: best.reached(value))

    @cached_property
    def has_reached_best_known(self) -> NDArray[np.bool_]:
        """Whether the best cost is at least as good as the best known one, if there is one."""
        return self._where(lambda best: best.has_reached_best_known)

    @cached_property
    def has_reached_lower_bound(self) -> NDArray[np.bool_]:
        """Whether the best cost is equal to the lower bound of the problem, if there is one."""
        return self._where(lambda best: best.has_reached_lower_bound)

    def is_within(self, percent: float) -> NDArray[np.bool_]:
        """Return whether the gap is known, and at most this many per cent."""
        return self._where(lambda best: best.is_within(percent))

    def _where(self, test: Callable[[BestCost], bool]) -> NDArray[np.bool_]:
        """Return whether the best cost of each run passes a test; false without a solution."""
        costs = self._best.tolist()
        results = np.zeros(len(costs), np.bool_)
        for run, problem in self._problems.items():
            if costs[run] < self._interpreter.infeasible:
                scale = problem.scale
                cost = scale.user_costs(scale.unmarked(costs[run]))
                results[run] = test(BestCost(problem, cost))
        return results
