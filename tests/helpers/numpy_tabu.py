"""Robust tabu search in plain Python, which evaluates every neighbour from scratch."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from numpy_improvers import Seen
from numpy_islands import TENURE, Place, words

from islands.problems.base import Problem

Order = list[int]


@dataclass
class NumpyTabu:
    """The settings of a search, and the search itself; tenures in steps."""

    problem: Problem | Seen
    steps: int
    tenure_low: int
    tenure_high: int
    aspiration: int = 0
    pairs: list[tuple[int, int]] | None = None
    """The pairs to exchange; None: all."""
    kinds: dict[str, int] = field(default_factory=dict)
    """How often each kind of step was taken; tests require each kind."""

    def is_due(self, place: Place) -> bool:
        return True

    def tenures(self, place: Place) -> list[int]:
        drawn = words(2 * self.steps, TENURE, *place)
        count = self.tenure_high - self.tenure_low + 1
        return [self.tenure_low + (int(word) * count >> 32) for word in drawn]

    def improve(self, order: Order, cost: int, place: Place) -> tuple[Order, int, int]:
        """Return the best order found, its cost, and the number of neighbours evaluated."""
        n = len(order)
        pairs = list(combinations(range(n), 2)) if self.pairs is None else self.pairs
        if not pairs:
            return order, cost, 0
        tenures = self.tenures(place)
        # The step until which an item must not return to a place that it left.
        forbidden: dict[tuple[int, int], int] = {}
        best, best_order = cost, order
        current = np.array(order, np.int64)
        for step in range(self.steps):
            costs = self.problem.costs(self.neighbours(current, pairs))
            choices = []
            for (i, j), after in zip(pairs, costs.tolist(), strict=True):
                until = [forbidden.get((i, current[j]), 0), forbidden.get((j, current[i]), 0)]
                is_tabu = min(until) > step
                leads_below = after < best
                is_old = 0 < self.aspiration <= step - max(until)
                if self.aspiration > 0:
                    preferred = leads_below or is_old
                    kind = "old" if is_old else "below" if leads_below else "free"
                else:
                    preferred = False
                    kind = "below" if is_tabu and leads_below else "free"
                if preferred or leads_below or not is_tabu:
                    choices.append((not preferred, after, i, j, kind))
            if not choices:
                self.note("none")
                continue
            _, after, i, j, kind = min(choices)
            self.note(kind)
            forbidden[i, current[i]] = step + tenures[2 * step]
            forbidden[j, current[j]] = step + tenures[2 * step + 1]
            current[[i, j]] = current[[j, i]]
            if after < best:
                best, best_order = after, current.tolist()
        return best_order, best, self.steps * len(pairs)

    def note(self, kind: str) -> None:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    @staticmethod
    def neighbours(order: NDArray[np.int64], pairs: list[tuple[int, int]]) -> NDArray[np.int64]:
        found = np.tile(order, (len(pairs), 1))
        i, j = np.array(pairs).T
        rows = np.arange(len(pairs))
        found[rows, i], found[rows, j] = order[j], order[i]
        return found
