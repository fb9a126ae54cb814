"""The progress of several runs at once, in arrays, with the names that `Progress` has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import MEASURE, NONE, Meaning
from islands.problems.base import Problem


class Standing(NamedTuple):
    """The best cost of one run, as criteria on the cost read it; None without a solution."""

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
        """Return whether the gap is known, and at most this."""
        gap = None if self.cost is None else self.problem.gap(self.cost)
        return gap is not None and gap <= percent


class Standings:
    """What stopping criteria read: an array with a number for each run."""

    def __init__(
        self,
        meaning: Meaning,
        measured: NDArray[np.int64],
        problems: Sequence[Problem | None],
        generation: NDArray[np.int64],
        seconds: NDArray[np.float64],
    ) -> None:
        """Take the measures of each island of each run, and its problem if there is one."""
        self.generation, self.seconds, self._problems = generation, seconds, problems
        of = {name: measured[..., place] for place, name in enumerate(MEASURE)}
        self.evaluations = of["calls"].sum(axis=1)
        self.has_converged = ((of["distinct"] == 1) | (of["ended"] > 0)).all(axis=1)
        # As in `IslandMeasure`.
        from_archive = meaning.scale.marks | (of["archived"] <= of["best"])
        costs = np.where(from_archive, of["archived"], of["best"])
        found = np.where(from_archive, of["archived_generation"], of["best_generation"])
        self._best = costs.min(axis=1)
        self._has_solution = self._best < meaning.infeasible
        first = np.where(costs == self._best[:, np.newaxis], found, NONE).min(axis=1)
        self.best_generation = np.where(self._has_solution, first, 0)

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
        """Return whether the gap is known, and at most this."""
        return self._where(lambda best: best.is_within(percent))

    def _where(self, test: Callable[[Standing], bool]) -> NDArray[np.bool_]:
        """Return the result of a test of the best cost of each run, false without a solution."""
        found = np.zeros(len(self._best), np.bool_)
        for run in np.flatnonzero(self._has_solution).tolist():
            problem = self._problems[run]
            if problem is not None:
                scale = problem.scale
                cost = scale.own_sense(scale.unmarked(int(self._best[run])))
                found[run] = test(Standing(problem, cost))
        return found
