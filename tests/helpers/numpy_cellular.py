"""The cellular algorithm written once more, one individual after another, as textbooks have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_brkga import uniform, words
from numpy_improvers import NumpyLocalSearch

START, MUTANT, NEIGHBOUR, OPERATORS, CROSS, MUTATE = 1, 2, 7, 8, 9, 10
Genome = list[Any]
Costs = Callable[[NDArray[Any]], NDArray[np.int64]]


def below(word: int, bound: int) -> int:
    return int(word) * bound >> 32


def random_genome(n: int, encoding: str, stream: int, place: tuple[int, ...]) -> Genome:
    """Return a genome as the encoding draws it."""
    if encoding == "bits":
        drawn = words(-(-n // 32), stream, *place)
        return [int(drawn[i // 32]) >> i % 32 & 1 for i in range(n)]
    drawn = words(n, stream, *place)
    if encoding == "keys":
        return [float(key) for key in uniform(drawn)]
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        other = below(drawn[i], i + 1)
        order[i], order[other] = order[other], order[i]
    return order


def segment(word: NDArray[np.uint64], n: int) -> range:
    one, other = sorted((below(word[2], n), below(word[3], n)))
    return range(one, other + 1)


def pmx(kept: range, one: Genome, other: Genome) -> Genome:
    child: Genome = [None] * len(one)
    for i in kept:
        child[i] = one[i]
    for i in range(len(one)):
        if i not in kept:
            item = other[i]
            while item in child[kept.start : kept.stop]:
                item = other[one.index(item)]
            child[i] = item
    return child


def order(kept: range, one: Genome, other: Genome) -> Genome:
    n, behind = len(one), kept.stop
    inside = one[kept.start : kept.stop]
    lacking = [item for item in other[behind:] + other[:behind] if item not in inside]
    return lacking[n - behind :] + inside + lacking[: n - behind]


def cycle(one: Genome, other: Genome) -> Genome:
    child: Genome = [None] * len(one)
    giver, taker = one, other
    for start in range(len(one)):
        if child[start] is None:
            i = start
            while child[i] is None:
                child[i] = giver[i]
                i = one.index(other[i])
            giver, taker = taker, giver
    return child


def uniform_order(coins: list[int], lots: list[int], one: Genome, other: Genome) -> Genome:
    n = len(one)
    child: Genome = [None] * n
    for i in range(n):
        item = one[i] if coins[i] else other[i]
        if item not in child:
            child[i] = item
    left = [item for item in range(n) if item not in child]
    empty = sorted((lots[i] >> 1, i) for i in range(n) if child[i] is None)
    for item, (_, i) in zip(left, empty, strict=True):
        child[i] = item
    return child


def crossed(
    kind: str, encoding: str, word: NDArray[np.uint64], place: tuple[int, ...], a: Genome, b: Genome
) -> tuple[Genome, Genome]:
    """Return both children of two mates."""
    n = len(a)
    if kind == "pmx":
        return pmx(segment(word, n), a, b), pmx(segment(word, n), b, a)
    if kind == "order":
        return order(segment(word, n), a, b), order(segment(word, n), b, a)
    if kind == "cycle":
        return cycle(a, b), cycle(b, a)
    if kind == "one_point":
        coins = [int(i < 1 + below(word[2], n - 1)) for i in range(n)]
    elif kind == "two_point":
        coins = [int(i in segment(word, n)) for i in range(n)]
    else:
        drawn = words(-(-n // 32), CROSS, *place)
        coins = [int(drawn[i // 32]) >> i % 32 & 1 for i in range(n)]
        if encoding == "permutation":
            lots = [
                [int(word) for word in words(n, CROSS, *place, first_quad=child << 28)]
                for child in (1, 2)
            ]
            return uniform_order(coins, lots[0], a, b), uniform_order(coins, lots[1], b, a)
    pairs = list(zip(coins, a, b, strict=True))
    return [x if coin else y for coin, x, y in pairs], [y if coin else x for coin, x, y in pairs]


def mutated(kind: str, encoding: str, genome: Genome, one: int, other: int) -> Genome:
    n = len(genome)
    child, u, v = list(genome), below(one, n), below(other, n)
    if kind == "swap":
        child[u], child[v] = child[v], child[u]
    elif kind == "insertion":
        child.insert(v, child.pop(u))
    elif kind == "flip":
        child[u] = 1 - child[u]
    else:
        child[u] = (int(other) >> 8) / 2**24 if encoding == "keys" else int(other) >> 31
    return child


def steps(grid: str, shape: str, size: int) -> list[tuple[int, int]]:
    """Return how far down and across each neighbour is; `size`: half a ring's, or a radius."""
    reach = range(-size, size + 1)
    if grid == "ring":
        return [(0, dx) for dx in reach if dx]
    cells = [(dy, dx) for dy in reach for dx in reach if (dy, dx) != (0, 0)]
    if shape == "von_neumann":
        return [(dy, dx) for dy, dx in cells if abs(dy) + abs(dx) <= size]
    return cells


@dataclass
class NumpyCellular:
    """Islands with their genomes and costs; `width` is that of a torus."""

    n: int
    costs: Costs
    encoding: str = "permutation"
    population: int = 12
    islands: int = 2
    seed: int = 5
    grid: str = "ring"
    neighbours: int = 4
    shape: str = "von_neumann"
    radius: int = 1
    width: int = 0
    selection: str = "proportional"
    crossover: str = "pmx"
    mutation: str = "swap"
    crossover_rate: float = 0.9
    mutation_rate: float = 0.1
    strength: int = 1
    group: int = 64
    replacement: str = "generational"
    reset: int = 0
    halo: bool = False
    given: tuple[Genome, ...] = ()
    search: NumpyLocalSearch | None = None

    def __post_init__(self) -> None:
        self.generation, self.calls, self.restarts = 0, self.islands * self.population, 0
        self.genomes = [
            [random_genome(self.n, self.encoding, START, self.place(k, s)) for s in self.slots]
            for k in range(self.islands)
        ]
        for number, genome in enumerate(self.given):
            self.genomes[number % self.islands][number // self.islands] = list(genome)
        self.cost = [self.evaluated(genomes) for genomes in self.genomes]
        self.best = [min(cost) for cost in self.cost]
        self.ever = list(self.best)
        self.since, self.restart = [0] * self.islands, [False] * self.islands

    @property
    def slots(self) -> range:
        return range(self.population)

    def place(self, island: int, individual: int) -> tuple[int, int, int, int]:
        return self.seed, island, self.generation, individual

    def evaluated(self, genomes: list[Genome]) -> list[int]:
        return [int(cost) for cost in self.costs(np.array(genomes))]

    def evolve(self, generations: int) -> None:
        for _ in range(generations):
            self.generation += 1
            new = [self.next_island(k) for k in range(self.islands)]
            self.genomes = [genomes for genomes, _ in new]
            self.cost = [cost for _, cost in new]
            for k in range(self.islands):
                self.follow(k)

    def next_island(self, island: int) -> tuple[list[Genome], list[int]]:
        if self.restart[island]:
            places = [self.place(island, slot) for slot in self.slots]
            fresh = [random_genome(self.n, self.encoding, MUTANT, place) for place in places]
            self.calls += len(fresh)
            self.restarts += 1
            improved = [
                self.improved(genome, cost, place)
                for genome, cost, place in zip(fresh, self.evaluated(fresh), places, strict=True)
            ]
            return [genome for genome, _ in improved], [cost for _, cost in improved]
        pairs = [self.children(island, slot) for slot in self.slots]
        costs = self.evaluated([child for pair in pairs for child in pair])
        self.calls += len(costs)
        genomes, kept = [], []
        for slot, pair in zip(self.slots, pairs, strict=True):
            better = 1 if costs[2 * slot + 1] < costs[2 * slot] else 0
            cost = costs[2 * slot + better]
            genome, cost = self.improved(pair[better], cost, self.place(island, slot))
            if self.replacement == "elitist" and cost >= self.cost[island][slot]:
                genome, cost = self.genomes[island][slot], self.cost[island][slot]
            genomes.append(genome)
            kept.append(cost)
        return genomes, kept

    def improved(
        self, genome: Genome, cost: int, place: tuple[int, int, int, int]
    ) -> tuple[Genome, int]:
        if self.search is None or not self.search.is_due(place):
            return genome, cost
        genome, cost, tried = self.search.improve(genome, cost, place)
        self.calls += tried
        return genome, cost

    def children(self, island: int, slot: int) -> tuple[Genome, Genome]:
        place = self.place(island, slot)
        mates = self.genomes[island][slot], self.mate(island, slot)
        word = words(4, OPERATORS, *self.place(island, slot // self.group))
        made = mates
        if int(word[0]) < self.crossover_rate * 2**32:
            made = crossed(self.crossover, self.encoding, word, place, *mates)
        if int(word[1]) < self.mutation_rate * 2**32:
            points = words(4 * self.strength, MUTATE, *place).reshape(-1, 4)
            for point in points:
                kind = self.mutation, self.encoding
                made = mutated(*kind, made[0], *point[:2]), mutated(*kind, made[1], *point[2:])
        return made

    def mate(self, island: int, slot: int) -> Genome:
        seen = self.seen(island, slot)
        costs = [self.cost[k][s] for k, s in seen]
        word = [int(each) for each in words(2, NEIGHBOUR, *self.place(island, slot))]
        if self.selection == "random":
            chosen = below(word[0], len(seen))
        elif self.selection == "best":
            chosen = int(np.argmin(costs))
        elif self.selection == "proportional":
            fit = [1.0 / (1.0 + cost) if cost >= 0 else 1.0 - cost for cost in map(float, costs)]
            total, through, chosen = 0.0, 0.0, 0
            for each in fit:
                total += each
            ball = ((word[0] << 32 | word[1]) >> 11) * 2.0**-53 * total
            for each in fit[:-1]:
                through += each
                chosen += through <= ball
        else:
            weights = [max(costs) - cost + 1 for cost in costs]
            ball, chosen = (word[0] << 32 | word[1]) * sum(weights) >> 64, 0
            while ball >= sum(weights[: chosen + 1]):
                chosen += 1
        k, s = seen[chosen]
        return self.genomes[k][s]

    def seen(self, island: int, slot: int) -> list[tuple[int, int]]:
        """Return island and slot of each neighbour."""
        width = self.width if self.grid == "torus" else self.population
        size = self.radius if self.grid == "torus" else self.neighbours // 2
        if self.grid == "ring" and self.halo:
            width *= self.islands
        whole = self.islands * self.population if self.halo else self.population
        first = 0 if self.halo else island
        line = (island * self.population if self.halo else 0) + slot
        y, x = divmod(line, width)
        lines = [
            (y + dy) % (whole // width) * width + (x + dx) % width
            for dy, dx in steps(self.grid, self.shape, size)
        ]
        return [(first + each // self.population, each % self.population) for each in lines]

    def follow(self, island: int) -> None:
        best = min(self.cost[island])
        if self.restart[island] or best < self.best[island]:
            self.best[island], self.since[island] = best, self.generation
            self.restart[island] = False
        elif self.reset:
            self.restart[island] = self.generation - self.since[island] >= self.reset
        self.ever[island] = min(self.ever[island], best)
