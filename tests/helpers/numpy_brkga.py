"""BRKGA written once more, in plain NumPy: what the kernels must agree with to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

START, MUTANT, PARENTS, MATE = 1, 2, 3, 4
Costs = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def philox(counters: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return the four words of each row of `counters` (Philox4x32-10)."""
    low = np.uint64(0xFFFFFFFF)
    c = [counters[:, i].astype(np.uint64) for i in range(4)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        half = np.uint64(32)
        c = [
            (b >> half) ^ c[1] ^ np.uint64(key[0]),
            b & low,
            (a >> half) ^ c[3] ^ np.uint64(key[1]),
            a & low,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=1)


def words(
    count: int,
    stream: int,
    seed: int,
    island: int,
    generation: int,
    individual: int,
    first_quad: int = 0,
) -> NDArray[np.uint64]:
    """Return `count` words of a stream for one individual, from a quad of them on."""
    beyond, generation = divmod(generation, 2**32)
    quads = first_quad + np.arange(-(-count // 4), dtype=np.uint64)
    place = [individual, generation, stream << 24 | island]
    counters = np.stack([quads, *(np.full_like(quads, value) for value in place)], axis=1)
    return philox(counters, (seed + beyond * 0x9E3779B97F4A7C15) % 2**64).reshape(-1)[:count]


def uniform(word: NDArray[np.uint64]) -> NDArray[np.float32]:
    return ((word >> np.uint64(8)) / 2**24).astype(np.float32)


class NumpyBrkga:
    """One archipelago; `bias`: cumulative probabilities of all parents but the last, as words."""

    def __init__(
        self, n: int, costs: Costs, *, population: int, elite: int, mutants: int, bias: list[int],
        elite_parents: int = 1, islands: int = 1, seed: int = 1, patience: int = 0,
    ) -> None:  # fmt: skip
        self.n, self.costs, self.population, self.elite, self.mutants = (
            n,
            costs,
            population,
            elite,
            mutants,
        )
        self.bias, self.elite_parents, self.seed, self.patience = (
            bias,
            elite_parents,
            seed,
            patience,
        )
        self.generation = 0
        self.keys = [
            np.stack([self.drawn(START, k, s) for s in range(population)]) for k in range(islands)
        ]
        self.cost = [self.decoded(keys) for keys in self.keys]
        self.best = [int(cost.min()) for cost in self.cost]
        self.since, self.restart = [0] * islands, [False] * islands

    def drawn(self, stream: int, island: int, slot: int) -> NDArray[np.float32]:
        return uniform(words(self.n, stream, self.seed, island, self.generation, slot))

    def decoded(self, keys: NDArray[np.float32]) -> NDArray[np.int64]:
        return self.costs(np.argsort(keys, axis=1, kind="stable"))

    def evolve(self, generations: int) -> None:
        for _ in range(generations):
            self.generation += 1
            for island in range(len(self.keys)):
                self.evolve_island(island)

    def evolve_island(self, island: int) -> None:
        order = np.argsort(self.cost[island], kind="stable")
        keep = 0 if self.restart[island] else self.elite
        rows = [self.keys[island][order[slot]] for slot in range(keep)]
        for slot in range(keep, self.population):
            if self.restart[island] or slot < self.elite + self.mutants:
                rows.append(self.drawn(MUTANT, island, slot))
            else:
                rows.append(self.child(island, slot, order))
        self.keys[island] = np.stack(rows)
        self.cost[island] = self.decoded(self.keys[island])
        best = int(self.cost[island].min())
        if self.restart[island] or best < self.best[island]:
            self.best[island], self.since[island], self.restart[island] = (
                best,
                self.generation,
                False,
            )
        elif self.patience:
            self.restart[island] = self.generation - self.since[island] >= self.patience

    def child(self, island: int, slot: int, order: NDArray[np.int64]) -> NDArray[np.float32]:
        place = (self.seed, island, self.generation, slot)
        count = len(self.bias) + 1
        drawn = words(count, PARENTS, *place)
        ranks: list[int] = []
        for kind, wanted in (
            (range(self.elite), self.elite_parents),
            (range(self.elite, self.population), count),
        ):
            left = list(kind)
            while len(ranks) < wanted:
                ranks.append(left.pop(int(drawn[len(ranks)]) * len(left) >> 32))
        parents = [self.keys[island][order[rank]] for rank in sorted(ranks)]
        which = np.searchsorted(
            np.array(self.bias, np.uint64), words(self.n, MATE, *place), side="right"
        )
        return np.choose(which, parents)

    def exchange(self, migrants: int) -> None:
        """Every island receives the best of every other, over its worst."""
        orders = [np.argsort(cost, kind="stable") for cost in self.cost]
        leaving = [
            [
                (int(self.cost[k][orders[k][m]]), k, m, self.keys[k][orders[k][m]].copy())
                for m in range(migrants)
            ]
            for k in range(len(self.keys))
        ]
        for k in range(len(self.keys)):
            arriving = sorted(
                (m for j, group in enumerate(leaving) if j != k for m in group), key=lambda m: m[:3]
            )
            for place, (cost, _, _, keys) in enumerate(arriving):
                row = orders[k][self.population - 1 - place]
                self.keys[k][row], self.cost[k][row] = keys, cost
            if int(self.cost[k].min()) < self.best[k]:
                self.best[k], self.since[k] = int(self.cost[k].min()), self.generation
                self.restart[k] = False
