"""The cellular algorithm in plain Python, one individual after another, as textbooks define it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_genomes import NumpyGenomes, on_device
from numpy_islands import MUTANT, MUTATE, NEIGHBOUR, OPERATORS, below, words
from numpy_operators import Genome, crossed, mutated

from islands.algorithms.cellular import Cellular
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.base import Problem

Costs = Callable[[NDArray[Any]], NDArray[np.int64]]


def steps(grid: str, shape: str, size: int) -> list[tuple[int, int]]:
    """Return the offsets (down, across) of all neighbours.

    `size` is half the number of neighbours on a ring, or the radius on a torus.
    """
    reach = range(-size, size + 1)
    if grid == "ring":
        return [(0, dx) for dx in reach if dx]
    cells = [(dy, dx) for dy in reach for dx in reach if (dy, dx) != (0, 0)]
    if shape == "von_neumann":
        return [(dy, dx) for dy, dx in cells if abs(dy) + abs(dx) <= size]
    return cells


@dataclass
class NumpyCellular(NumpyGenomes):
    """Islands with their genomes and costs; `width` is the width of a torus."""

    costs: Costs = field(kw_only=True)
    grid: str = "ring"
    neighbours: int = 4
    shape: str = "von_neumann"
    radius: int = 1
    width: int = 0
    selection: str = "proportional"
    crossover_rate: float = 0.9
    mutation_rate: float = 0.1
    group: int = 64
    replacement: str = "generational"
    halo: bool = False

    def with_costs(self, island: int, genomes: list[Genome]) -> tuple[list[Genome], list[int]]:
        return genomes, self.evaluated(genomes)

    def evaluated(self, genomes: list[Genome]) -> list[int]:
        return [int(cost) for cost in self.costs(np.array(genomes))]

    def evolve_all(self) -> None:
        # With a halo, islands read each other's previous generation.
        new = [self.next_island(k) for k in range(self.islands)]
        self.genomes = [genomes for genomes, _ in new]
        self.cost = [cost for _, cost in new]
        for k in range(self.islands):
            self.update_best(k)

    def next_island(self, island: int) -> tuple[list[Genome], list[int]]:
        if self.restart[island]:
            fresh = [self.drawn(MUTANT, island, slot) for slot in self.slots]
            self.calls += len(fresh)
            self.restarts += 1
            improved = [
                self.improved(genome, cost, self.place(island, slot))
                for slot, (genome, cost) in enumerate(
                    zip(fresh, self.evaluated(fresh), strict=True)
                )
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
        seen = self.neighbourhood(island, slot)
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
            target = ((word[0] << 32 | word[1]) >> 11) * 2.0**-53 * total
            for each in fit[:-1]:
                through += each
                chosen += through <= target
        else:
            weights = [max(costs) - cost + 1 for cost in costs]
            target, chosen = (word[0] << 32 | word[1]) * sum(weights) >> 64, 0
            while target >= sum(weights[: chosen + 1]):
                chosen += 1
        k, s = seen[chosen]
        return self.genomes[k][s]

    def neighbourhood(self, island: int, slot: int) -> list[tuple[int, int]]:
        """Return the island and the slot of each neighbour."""
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


def both(
    backend: Backend, problem: Problem, encoding: str = "permutation", **changes: Any
) -> tuple[Archipelago, NumpyCellular]:
    """Return the same run on a device and in NumPy."""
    mine, settings, own = on_device("cellular", backend, problem, encoding, changes)

    def costs(genomes: np.ndarray) -> np.ndarray:
        return problem.costs(problem.layout.from_device(mine._encodings[0].decode(genomes)))

    own["width"] = Cellular(settings, own["population"], encoding).width
    return mine, NumpyCellular(problem.size, costs=costs, **own)
