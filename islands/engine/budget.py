"""The limit of evaluations of a run, and when to inspect the run so that it ends at the limit."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from islands.algorithms import ALGORITHMS, KIND
from islands.archipelago.colonies import ColonySpec
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.configuration.stop import last_generation
from islands.improvers import KIND as IMPROVERS
from islands.improvers import improvers_for

_MAX_LIMIT = 1 << 62


class Budget:
    """The limit of evaluations of a run; the first generation that reaches it ends the run.

    Every generation that may reach it is inspected; other inspections do not affect the end.
    """

    def __init__(self, resolved: Resolved) -> None:
        spec, limit = resolved.spec, limit_of(resolved.spec)
        self.limit = int(min(limit, _MAX_LIMIT))
        self._most = max(1.0, most_evaluations(resolved)) if math.isfinite(limit) else math.inf
        last = last_generation(spec.stop)
        total = math.inf if last is None else _first_evaluations(spec) + (last + 1) * self._most
        self.is_limited = math.isfinite(limit) and total >= limit
        """Whether the run may reach the limit before its last generation."""

    def safe(self, evaluations: Any) -> Any:
        """Return how many generations certainly do not reach the limit.

        `evaluations` is the number of evaluations so far, or an array of such numbers.
        """
        assert self.is_limited
        left = np.maximum(0, self.limit - 1 - evaluations)
        return (left // self._most).astype(np.int64)

    def left(self, evaluations: int) -> int | None:
        """Return the evaluations left; None if the next generation cannot reach the limit."""
        return None if self.safe(evaluations) > 0 else max(1, self.limit - evaluations)


def limit_of(spec: RunSpec) -> float:
    """Return the limit of evaluations of a run; infinite if there is none."""
    return min((stop.value for stop in spec.stop if stop.kind == "evaluations"), default=math.inf)


def begins_partly(spec: RunSpec) -> bool:
    """Return whether the limit may be too low to evaluate all of generation 0."""
    return limit_of(spec) < _first_evaluations(spec)


def _first_evaluations(spec: RunSpec) -> int:
    """Return an upper bound on the evaluations of generation 0."""
    return sum(
        colony.islands * colony.population * ALGORITHMS[colony.algorithm].most_first_calls
        for colony in spec.all_colonies
    )


def colonies_of(resolved: Resolved) -> tuple[ColonySpec, ...]:
    """Return the colonies of a run; their kernels check a limit of evaluations if necessary."""
    limited = Budget(resolved).is_limited
    return tuple(replace(colony, limited=limited) for colony in resolved.spec.all_colonies)


def most_evaluations(resolved: Resolved) -> float:
    """Return an upper bound on the evaluations of a run in one generation; infinite if unknown."""
    most, problem = 0.0, resolved.problem
    for colony in resolved.spec.all_colonies:
        algorithm = ALGORITHMS[colony.algorithm]
        improver = improvers_for(problem.solution_kind)[colony.improver.name]
        if not (KIND.has_built_in(algorithm) and IMPROVERS.has_built_in(improver)):
            return math.inf
        calls = algorithm.most_calls(colony.settings, problem)
        calls += improver(colony.improver, problem.size).most_calls()
        most += colony.islands * colony.population * colony.rate * calls
    return most
