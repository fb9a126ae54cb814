"""Which items or places of a device are equal, by the costs of random orders."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from islands.problems.base import Problem


class Seen:
    """A problem whose orders are numbered as on the device."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self.size, self.assigns = problem, problem.size, problem.assigns

    def costs(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._problem.costs(self._problem.from_device(orders))


def unequal_pairs(problem: Problem, *, of_places: bool = False) -> list[tuple[int, int]]:
    """Return the pairs of items (or places) whose exchange changes some cost."""
    n, draw, seen = problem.size, np.random.default_rng(9), Seen(problem)
    orders = np.array([draw.permutation(n) for _ in range(200)])
    costs, pairs = seen.costs(orders), []
    for i, j in combinations(range(n), 2):
        turned = np.arange(n)
        turned[[i, j]] = j, i
        others = turned[orders] if of_places else orders[:, turned]
        if (seen.costs(others) != costs).any():
            pairs.append((i, j))
    return pairs
