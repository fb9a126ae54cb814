"""Local search in plain Python, which evaluates every solution from scratch, and equal items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_brkga import NumpyBrkga
from numpy_islands import IMPROVE, POSITION, Place, below, words

from islands.archipelago.archipelago import Archipelago
from islands.problems.base import Problem

ALL_INDIVIDUALS = 0xFFFFFFFF

Order = list[int]


def swapped(order: Order, u: int, v: int) -> Order:
    order = order.copy()
    order[u], order[v] = order[v], order[u]
    return order


def reversed_between(order: Order, u: int, v: int) -> Order:
    return order[:u] + order[u : v + 1][::-1] + order[v + 1 :]


def reinserted(order: Order, u: int, v: int) -> Order:
    order = order.copy()
    order.insert(v, order.pop(u))
    return order


MOVES = {"swap": swapped, "two_opt": reversed_between, "reinsert": reinserted}


@dataclass
class NumpyLocalSearch:
    """The settings of a local search, and the search itself."""

    problem: Problem | Seen
    name: str
    strategy: str = "first"
    scope: str = "all"
    steps: int = 0
    rate: float = 1.0
    every: int = 1

    def is_due(self, place: Place) -> bool:
        """Return whether the individual at a place is improved."""
        if place[2] % self.every:
            return False
        return self.rate == 1 or int(words(1, IMPROVE, *place)[0]) < round(self.rate * 2**32)

    def pairs(self, place: Place) -> list[tuple[int, int]]:
        """Return the pairs of positions to try, in order."""
        n = self.problem.size
        if self.scope == "all":
            return [(u, v) for u in range(n - 1) for v in range(u + 1, n)]
        x = below(words(1, POSITION, *place[:3], ALL_INDIVIDUALS)[0], n)
        return [(min(x, y), max(x, y)) for y in range(n) if y != x]

    def improve(self, order: Order, cost: int, place: Place) -> tuple[Order, int, int]:
        """Return the improved solution, its cost, and the number of evaluations."""
        pairs, calls, taken = self.pairs(place), 0, 0
        while pairs and (taken < self.steps or self.steps == 0):
            tried = [MOVES[self.name](order, u, v) for u, v in pairs]
            costs = self.problem.costs(np.array(tried, np.int64)).tolist()
            if self.strategy == "best":
                calls += len(pairs)
                chosen = costs.index(min(costs))
            else:
                chosen = next((k for k, each in enumerate(costs) if each < cost), len(pairs) - 1)
                calls += chosen + 1
                # The next scan starts after this move and is cyclic.
                pairs = pairs[chosen + 1 :] + pairs[: chosen + 1]
            if costs[chosen] >= cost:
                break
            order, cost, taken = tried[chosen], costs[chosen], taken + 1
        return order, cost, calls


def distinct(keys: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return sorted keys, each raised to the next float if it is not greater than the previous."""
    keys = np.sort(keys)
    for i in range(1, len(keys)):
        keys[i] = max(keys[i], np.nextafter(keys[i - 1], np.float32(np.inf)))
    return keys


def keys_of(keys: NDArray[Any], order: Order, *, assigns: bool) -> NDArray[Any]:
    """Return the same keys in the order of a solution, or of its inverse if it assigns."""
    improved = np.empty_like(keys)
    improved[np.argsort(order) if assigns else order] = distinct(keys)
    return improved


class ImprovedBrkga(NumpyBrkga):
    """BRKGA whose children and mutants are improved; without exchange and restarts."""

    def __init__(self, search: NumpyLocalSearch, **settings: Any) -> None:
        self.search = search
        problem = search.problem
        super().__init__(problem.size, problem.costs, **settings)
        self.calls = [[1] * self.population for _ in self.keys]

    def solutions(self, keys: NDArray[np.float32]) -> NDArray[np.int64]:
        orders = np.argsort(keys, axis=1, kind="stable")
        return np.argsort(orders, axis=1) if self.search.problem.layout.assigns else orders

    def decoded(self, keys: NDArray[np.float32]) -> NDArray[np.int64]:
        return self.costs(self.solutions(keys))

    def evolve_island(self, island: int) -> None:
        super().evolve_island(island)
        keys, cost, calls = self.keys[island], self.cost[island], self.calls[island]
        solutions = self.solutions(keys).tolist()
        for slot in range(self.elite, self.population):
            calls[slot] += 1
            place = self.place(island, slot)
            if self.search.is_due(place):
                order, better, tried = self.search.improve(solutions[slot], int(cost[slot]), place)
                calls[slot] += tried
                if better < int(cost[slot]):
                    assigns = self.search.problem.layout.assigns
                    keys[slot] = keys_of(keys[slot], order, assigns=assigns)
                cost[slot] = better


def assert_same(mine: Archipelago, reference: ImprovedBrkga) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == [cost.tolist() for cost in reference.cost]
    assert saved["calls"].tolist() == reference.calls
    assert (saved["genes"][:, :, : reference.n] == np.stack(reference.keys)).all()


class Seen:
    """A problem whose orders are numbered as on the device."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self.size, self.layout = problem, problem.size, problem.layout

    def costs(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._problem.costs(self._problem.layout.from_device(orders))


def unequal_pairs(problem: Problem, *, of_places: bool = False) -> list[tuple[int, int]]:
    """Return the pairs of items (or places) whose exchange changes some cost."""
    n, draw, seen = problem.size, np.random.default_rng(9), Seen(problem)
    orders = np.array([draw.permutation(n) for _ in range(200)])
    costs, pairs = seen.costs(orders), []
    for i, j in combinations(range(n), 2):
        turned = np.arange(n)
        turned[[i, j]] = j, i
        others = turned[orders] if of_places else orders[:, turned]
        few = slice(10)  # which nearly always suffice
        if any((seen.costs(others[k]) != costs[k]).any() for k in (few, slice(10, None))):
            pairs.append((i, j))
    return pairs
