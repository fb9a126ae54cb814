"""The generations in which no run of a batch can end, so that the host need not measure them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from islands.algorithms import ALGORITHMS, KIND
from islands.configuration.spec import RunSpec
from islands.improvers import KIND as IMPROVERS
from islands.improvers import improvers_for
from islands.problems.base import Problem

_MOST = 1024
"""Generations between two measurements if no run can end.

A GPU is idle while the host measures.
"""


def most_evaluations(spec: RunSpec, problem: Problem) -> float:
    """Return an upper bound of the evaluations of a run in one generation; infinite if unknown."""
    most = 0.0
    for each in spec.all_colonies:
        algorithm = ALGORITHMS[each.algorithm]
        if not algorithm.improves or not KIND.has_built_in(algorithm):
            return math.inf
        improver = improvers_for(problem.solution_kind)[each.improver.name]
        if not IMPROVERS.has_built_in(improver):
            return math.inf
        calls = algorithm.children + improver(each.improver, problem.size).most_calls()
        most += each.islands * each.population * each.rate * calls
    return most


def last_unmeasured(spec: RunSpec, generation: int, most: float, evaluations: Iterable[int]) -> int:
    """Return a generation up to which no run can end; 0 if this is unknown.

    `evaluations` are those of the runs at `generation`, and `most` those of a run in a generation.
    """
    if any(each.kind not in ("generations", "evaluations") for each in spec.stop):
        return 0
    limits = [each.value for each in spec.stop if each.kind == "evaluations"]
    left = min(limits, default=math.inf) - 1 - max(evaluations, default=0)
    certain = left // most if math.isfinite(left) else math.inf
    # The next measurement is one generation later: a GPU stores a graph for each length of a step,
    # so that powers of two are best.
    step = _MOST if certain >= _MOST else 1 << (int(max(0, certain)) + 1).bit_length() - 1
    return generation + step - 1
