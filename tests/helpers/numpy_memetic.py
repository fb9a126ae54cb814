"""The memetic algorithm in plain Python, one individual after another."""

from collections.abc import Callable
from typing import Any

import numpy as np
from colonies_for_tests import begun
from numpy.typing import NDArray
from numpy_islands import MATES, MUTANT, MUTATE, OPERATORS, START, NumpyIslands, below, words
from numpy_operators import crossed, random_genome

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.qap import Qap

Costs = Callable[[NDArray[np.int64]], NDArray[np.int64]]


class NumpyMemetic(NumpyIslands):
    """Islands of orders; `apart` and `near` are numbers of entries."""

    def __init__(
        self, n: int, costs: Costs, *, population: int, islands: int, seed: int, apart: int,
        near: int, fewest: int, most: int, crossover: str, reset: int = 0,
    ) -> None:  # fmt: skip
        self.n, self.costs, self.population = n, costs, population
        self.seed, self.reset = seed, reset
        self.apart, self.near, self.fewest, self.most = apart, near, fewest, most
        self.crossover, self.generation = crossover, 0
        self.kinds = {"crossed": 0, "exchanged": 0, "rejected": 0, "crowded": 0, "entered": 0}
        """How often each kind of step was taken; tests require each kind."""
        self.orders = [
            [self.random(START, island, slot) for slot in self.slots] for island in range(islands)
        ]
        self.cost = [[self.evaluate(order) for order in rows] for rows in self.orders]
        self.calls = islands * population
        self.begin_records()

    def random(self, stream: int, island: int, slot: int) -> list[int]:
        return list(random_genome(self.n, "permutation", stream, self.place(island, slot)))

    def evaluate(self, order: list[int]) -> int:
        return int(self.costs(np.array([order]))[0])

    def evolve_island(self, island: int) -> None:
        before, costs = self.orders[island], self.cost[island]
        orders, new_costs = list(before), list(costs)
        for slot in self.slots:
            self.calls += 1
            if self.restart[island]:
                orders[slot] = self.random(MUTANT, island, slot)
                new_costs[slot] = self.evaluate(orders[slot])
                continue
            child = self.child(island, slot)
            cost = self.evaluate(child)
            others = [(before[i], costs[i], i) for i in self.slots if i != slot]
            is_crowded = any(
                (other_cost, i) < (costs[slot], slot) and self.are_near(other, before[slot])
                for other, other_cost, i in others
            )
            if cost >= costs[slot] and not is_crowded:
                continue
            if any(
                other_cost <= cost and self.are_near(other, child)
                for other, other_cost, _ in others
            ):
                self.kinds["rejected"] += 1
                continue
            self.kinds["crowded" if cost >= costs[slot] else "entered"] += 1
            orders[slot], new_costs[slot] = child, cost
        self.orders[island], self.cost[island] = orders, new_costs

    def child(self, island: int, slot: int) -> list[int]:
        place = self.place(island, slot)
        word = words(4, MATES, *place)
        other = below(word[0], self.population - 1)
        one, mate = (self.orders[island][i] for i in (slot, other + (other >= slot)))
        if sum(a != b for a, b in zip(one, mate, strict=True)) >= self.apart:
            self.kinds["crossed"] += 1
            points = words(4, OPERATORS, *place)
            return list(crossed(self.crossover, "permutation", points, place, one, mate)[0])
        self.kinds["exchanged"] += 1
        child = list(one)
        count = self.fewest + below(word[1], max(0, self.most - self.fewest) + 1)
        for k in range(count):
            u, v = (below(each, self.n) for each in words(4, MUTATE, *place, first_quad=k)[:2])
            child[u], child[v] = child[v], child[u]
        return child

    def are_near(self, one: list[int], other: list[int]) -> bool:
        return sum(a != b for a, b in zip(one, other, strict=True)) < self.near


def both(
    backend: Backend, problem: Qap, population: int = 12, **settings: Any
) -> tuple[Archipelago, NumpyMemetic]:
    """Return the same run on a device and in Python."""
    mine, own, sizes = begun(
        "memetic", "permutation", settings, problem=problem, backend=backend,
        sizes={"population": population, "islands": 2, "seed": 5},
    )  # fmt: skip
    n = problem.size
    reference = NumpyMemetic(
        n, problem.costs, **sizes,
        apart=max(4, int(own.apart * n)), near=int(own.near * n), fewest=own.fewest,
        most=int(own.exchanges * n), crossover=own.crossover, reset=own.reset,
    )  # fmt: skip
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyMemetic) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost
    assert saved["genes"][:, :, : reference.n].tolist() == reference.orders
    assert sum(each.evaluations for each in mine.measure()) == reference.calls
