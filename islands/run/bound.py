"""Compute a lower bound after the search, if it is requested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from islands.backends.base import Backend
from islands.bounds.held_karp import ONE_TREE, Bound, lower_bound
from islands.errors import IslandsError
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.progress.result import Result
from islands.run.signals import Interruption

_SHARE, _LEAST = 0.2, 2.0
"""The time of a bound: a share of the time of the search, and at least some seconds."""


def with_bound(
    result: Result,
    problem: Problem,
    world: World,
    backend: Backend,
    interruption: Interruption,
    say: Callable[[str], None],
) -> Result:
    """Return the result with a lower bound; collective.

    Rank 0 computes it on its device. A signal ends it early. A bound that fails leaves the result
    as it is.
    """
    if result.solution is None or result.interrupted or result.suspended or result.is_partial:
        return result
    tour = np.asarray(result.solution, np.int64)
    seconds = max(_LEAST, _SHARE * result.seconds)

    def computed() -> Bound:
        assert isinstance(problem, Tsp), "only tsp has bounds"
        return lower_bound(problem, tour, backend, seconds, lambda: interruption.requested != 0)

    say("")
    say(f"computing a lower bound, for about {seconds:.0f} s")
    try:
        found = world.from_first(computed)
    except Exception as error:  # such as too little memory: the result is more important
        words = str(error) if isinstance(error, IslandsError) else repr(error)
        say(f"islands: no lower bound: {words}")
        return result
    assert result.cost is not None, "a result with a solution has a cost"
    is_proven = found.kind == ONE_TREE
    return replace(
        result,
        bound=found.value if is_proven else None,
        bound_estimate=None if is_proven else found.value,
        bound_gap=gap_to(result.cost, found.value),
        bound_kind=found.kind,
        bound_seconds=found.seconds,
    )


def gap_to(cost: float, bound: int) -> float | None:
    """Return how much a cost exceeds a bound, in per cent; None if the bound is 0."""
    if bound <= 0:
        return 0.0 if cost == bound else None
    return 100.0 * (cost - bound) / bound
