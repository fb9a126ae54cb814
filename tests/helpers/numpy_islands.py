"""What the references of all algorithms have in common: random streams, restarts, a ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago


class NumpyIslands:
    """Islands with their costs; a derived class adds genomes and the algorithm."""

    seed: int
    population: int
    reset: int
    """Generations without improvement before an island restarts; 0: never."""
    generation: int
    cost: Sequence[Any]
    best: list[int]
    """The best cost of each island since its last restart."""
    since: list[int]
    """The generation in which each island found its best."""
    restart: list[bool]
    """Which islands restart in the next generation."""
    restarts = 0

    def begin_records(self) -> None:
        self.best = [int(min(cost)) for cost in self.cost]
        self.since, self.restart = [0] * len(self.best), [False] * len(self.best)

    @property
    def slots(self) -> range:
        return range(self.population)

    def place(self, island: int, individual: int) -> Place:
        return self.seed, island, self.generation, individual

    def evolve(self, generations: int) -> None:
        for _ in range(generations):
            self.generation += 1
            self.evolve_all()

    def evolve_all(self) -> None:
        for island in range(len(self.cost)):
            self.evolve_island(island)
            self.update_best(island)

    def evolve_island(self, island: int) -> None:
        raise NotImplementedError

    def update_best(self, island: int) -> None:
        """Record an improvement after a generation, or decide to restart without one."""
        best = int(min(self.cost[island]))
        if self.restart[island] or best < self.best[island]:
            self.best[island], self.since[island] = best, self.generation
            self.restart[island] = False
        elif self.reset:
            self.restart[island] = self.generation - self.since[island] >= self.reset

    def update_best_after_migration(self) -> None:
        """Record improvements that migrants brought; these islands do not restart."""
        for island, cost in enumerate(self.cost):
            if int(min(cost)) < self.best[island]:
                self.best[island], self.since[island] = int(min(cost)), self.generation
                self.restart[island] = False

    def exchange_rows_in_ring(self, migrants: int, fields: Sequence[Any]) -> None:
        """Replace the worst of each island by the best of the previous island.

        `fields` are the arrays that migrants carry, also costs, by island and individual.
        """
        orders = [np.argsort(cost, kind="stable") for cost in self.cost]
        sent = [
            [[deepcopy(field[k][i]) for field in fields] for i in orders[k][:migrants]]
            for k in range(len(orders))
        ]
        for k, order in enumerate(orders):
            for rank, migrant in enumerate(sent[k - 1]):
                row = order[self.population - 1 - rank]
                for field, value in zip(fields, migrant, strict=True):
                    field[k][row] = value
        self.update_best_after_migration()


def evolve_together(
    mine: Archipelago, reference: Any, generations: int, assert_same: Callable[[Any, Any], None]
) -> None:
    """Compare a run on a device and its reference after each generation."""
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)


START, MUTANT, PARENTS, MATE, SELECT, REPLACE, NEIGHBOUR, OPERATORS, CROSS, MUTATE = range(1, 11)
DONORS, TRIAL, ADAPT, IMPROVE, POSITION, TENURE, DROP, VELOCITY, SIGMOID, MATES = range(11, 21)
FILL = 22

Place = tuple[int, int, int, int]
"""Seed, island, generation and individual."""


_FEW = 16
"""For so few rows, integers of Python are several times faster than arrays."""


def philox(counters: NDArray[np.uint64], seed: int, rounds: int = 10) -> NDArray[np.uint64]:
    """Return the four words of each row of `counters` (Philox4x32, by default with 10 rounds)."""
    if len(counters) <= _FEW:
        rows = [_mixed(row, seed, rounds) for row in counters.tolist()]
        return np.array(rows, np.uint64).reshape(-1, 4)
    return np.stack(_mixed(list(counters.astype(np.uint64).T), seed, rounds), axis=1)


def _mixed(c: list[Any], seed: int, rounds: int) -> list[Any]:
    """Return the words of a counter of four integers, or of four arrays of integers."""
    low = 0xFFFFFFFF
    one, other = seed & low, seed >> 32
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ one, b & low, (a >> 32) ^ c[3] ^ other, a & low]
        one, other = (one + 0x9E3779B9) & low, (other + 0xBB67AE85) & low
    return c


def words(
    count: int,
    stream: int,
    seed: int,
    island: int,
    generation: int,
    individual: int,
    first_quad: int = 0,
    *,
    rounds: int = 10,
) -> NDArray[np.uint64]:
    """Return `count` words of a stream for one individual, from the quad `first_quad`."""
    beyond, generation = divmod(generation, 2**32)
    quads = first_quad + np.arange(-(-count // 4), dtype=np.uint64)
    place = [individual, generation, stream << 24 | island]
    counters = np.stack([quads, *(np.full_like(quads, value) for value in place)], axis=1)
    key = (seed + beyond * 0x9E3779B97F4A7C15) % 2**64
    return philox(counters, key, rounds).reshape(-1)[:count]


def uniform(word: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return words as numbers from 0 to below 1."""
    return ((word >> np.uint64(8)) / 2**24).astype(np.float32)


def fraction(word: NDArray[np.uint64], encoding: str) -> NDArray[Any]:
    """Return words as random genes from 0 to below 1: keys, or coordinates of vectors."""
    return word / 2**32 if encoding == "vector" else uniform(word)


def below(word: int, bound: int) -> int:
    """Return a word as an integer from 0 to below `bound`."""
    return int(word) * bound >> 32
