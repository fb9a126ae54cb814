"""How long a tour is that visits the cities in random order: the scale for weak tours."""

from __future__ import annotations

import numpy as np

from islands.errors import UsageError
from islands.problems.base import Problem
from islands.problems.tsp import Tsp

_PAIRS_AT_ONCE = 1 << 16


def mean_random_tour(problem: Problem) -> float:
    """Return the exact mean length of a random tour: n times the mean over all ordered pairs."""
    if not isinstance(problem, Tsp) or problem.metric != "EUC_2D":
        metric = problem.metric if isinstance(problem, Tsp) else problem.name
        raise UsageError(
            f"{problem.instance}: {metric}: random tours are known for EUC_2D alone."
            " Leave the instance out with --only"
        )
    x, y = np.ascontiguousarray(problem.arrays()[0].T.astype(np.float64))
    rows = max(1, _PAIRS_AT_ONCE // problem.size)
    total = 0
    for first in range(0, problem.size, rows):
        distances = np.square(x[first : first + rows, np.newaxis] - x)
        distances += np.square(y[first : first + rows, np.newaxis] - y)
        np.sqrt(distances, out=distances)
        distances += 0.5
        total += int(np.floor(distances, out=distances).sum())
    return total / (problem.size - 1)
