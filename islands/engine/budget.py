"""Limits of evaluations: the generations after which a run must be inspected to end in time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from islands.algorithms import ALGORITHMS, KIND
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.improvers import KIND as IMPROVERS
from islands.improvers import improvers_for

_MOST_AHEAD = 1 << 62


class Budget:
    """The limit of evaluations of a run, which ends in the first generation that reaches it.

    Every generation that may reach it is inspected; the end does not depend on other inspections.
    """

    def __init__(self, resolved: Resolved) -> None:
        limit = limit_of(resolved.spec)
        self.is_limited = math.isfinite(limit)
        self.limit = int(min(limit, _MOST_AHEAD))
        self._most = most_evaluations(resolved) if self.is_limited else 0.0

    def safe(self, evaluations: Any) -> Any:
        """Return how many generations stay below the limit; for an array, an array."""
        if not self.is_limited:
            return np.full_like(evaluations, _MOST_AHEAD)
        left = np.maximum(0, self.limit - 1 - evaluations)
        return (left // max(1.0, self._most)).astype(np.int64)

    def left(self, evaluations: int) -> int | None:
        """Return the evaluations left for the next generation; None if they surely suffice."""
        return None if self.safe(evaluations) > 0 else max(1, self.limit - evaluations)


def limit_of(spec: RunSpec) -> float:
    """Return the limit of evaluations of a run; infinite without any."""
    return min((each.value for each in spec.stop if each.kind == "evaluations"), default=math.inf)


def begins_partly(spec: RunSpec) -> bool:
    """Return whether the limit may be too low for all individuals of generation 0."""
    calls = (
        each.islands * each.population * ALGORITHMS[each.algorithm].most_first_calls
        for each in spec.all_colonies
    )
    return limit_of(spec) < sum(calls)


def most_evaluations(resolved: Resolved) -> float:
    """Return an upper bound of the evaluations of a run in one generation; infinite if unknown."""
    most, problem = 0.0, resolved.problem
    for each in resolved.spec.all_colonies:
        algorithm = ALGORITHMS[each.algorithm]
        if not KIND.has_built_in(algorithm):
            return math.inf
        improver = improvers_for(problem.solution_kind)[each.improver.name]
        if not IMPROVERS.has_built_in(improver):
            return math.inf
        calls = algorithm.most_calls(each.settings, problem)
        calls += improver(each.improver, problem.size).most_calls()
        most += each.islands * each.population * each.rate * calls
    return most
