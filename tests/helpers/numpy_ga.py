"""The genetic algorithm in plain Python, one individual after another, and on a device."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy_genomes import NumpyGenomes, on_device
from numpy_islands import MATES, MUTANT, MUTATE, OPERATORS, Place, below, words
from numpy_mkp import evaluated
from numpy_operators import Genome, crossed, mutated

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.base import Problem
from islands.problems.mkp import Mkp

Evaluate = Callable[[Genome, Place], tuple[Genome, int]]
"""Returns the genome after its evaluation, which may change it, and its cost."""


@dataclass
class NumpyGa(NumpyGenomes):
    evaluate: Evaluate = field(kw_only=True)
    selection: str = "tournament"
    tournament: int = 2
    crossover_rate: float = 1.0
    mutation_rate: float = 1.0
    replacement: str = "steady"
    elite: int = 0
    children: int = 0
    duplicates: str = "reject"
    rejected = displaced = 0

    def with_costs(self, island: int, genomes: list[Genome]) -> tuple[list[Genome], list[int]]:
        found = [self.evaluate(each, self.place(island, s)) for s, each in enumerate(genomes)]
        return [genome for genome, _ in found], [cost for _, cost in found]

    def evaluated(self, genome: Genome, place: Place) -> tuple[Genome, int]:
        """Return a new genome after evaluation and improvement, and its cost."""
        self.calls += 1
        return self.improved(*self.evaluate(genome, place), place)

    def evolve_island(self, island: int) -> None:
        pairs = zip(*self.next_island(island), strict=True)
        self.genomes[island], self.cost[island] = map(list, pairs)

    def next_island(self, island: int) -> list[tuple[Genome, int]]:
        if self.restart[island]:
            self.restarts += 1
            return [
                self.evaluated(self.drawn(MUTANT, island, slot), self.place(island, slot))
                for slot in self.slots
            ]
        order = sorted(self.slots, key=lambda slot: self.cost[island][slot])
        ranked = [(self.genomes[island][slot], self.cost[island][slot]) for slot in order]
        if self.replacement == "generational":
            children = [
                self.evaluated(self.child(island, slot, slot - self.elite, ranked, order),
                            self.place(island, slot))
                for slot in self.slots[self.elite :]
            ]  # fmt: skip
            return ranked[: self.elite] + children
        return [self.steady(island, slot, ranked, order) for slot in self.slots]

    def steady(
        self, island: int, slot: int, ranked: list[tuple[Genome, int]], order: list[int]
    ) -> tuple[Genome, int]:
        """Return the individual that takes the place of the one of this rank, or that one."""
        holder, rejects = ranked[slot], self.duplicates == "reject"
        is_twin = rejects and holder in ranked[:slot]
        survivors = self.population - (self.children or self.population // 2)
        if slot < survivors and not is_twin:
            return holder
        child = self.evaluated(
            self.child(island, slot, 2 * slot, ranked, order), self.place(island, slot)
        )
        if rejects and child in ranked:
            self.rejected += 1
            return holder
        self.displaced += is_twin
        return child if is_twin or child[1] < holder[1] else holder

    def child(
        self,
        island: int,
        slot: int,
        number: int,
        ranked: list[tuple[Genome, int]],
        order: list[int],
    ) -> Genome:
        """Return a child; an even `number` and the next one have the same parents.

        In the steady state all numbers are even, so no two children share parents.
        """
        pair, side = divmod(number, 2)
        place = self.place(island, pair)
        mates = self.mates(place, ranked, order)
        word = words(4, OPERATORS, *place)
        made = mates
        if int(word[0]) < self.crossover_rate * 2**32:
            made = crossed(self.crossover, self.encoding, word, place, *mates)
        child = made[side]
        points = words(4 * self.strength, MUTATE, *self.place(island, slot)).reshape(-1, 4)
        if int(points[0][3]) < self.mutation_rate * 2**32:
            for point in points:
                child = mutated(self.mutation, self.encoding, child, *point[:2])
        return child

    def mates(
        self, place: Place, ranked: list[tuple[Genome, int]], order: list[int]
    ) -> tuple[Genome, Genome]:
        if self.selection == "best":
            return ranked[0][0], ranked[1][0]
        if self.selection == "proportional":
            one, other = (self.proportional(k, place, ranked, order) for k in range(2))
            return one, other
        rounds = self.tournament if self.selection == "tournament" else 1
        drawn = words(4 * rounds, MATES, *place).reshape(-1, 4)
        first = min(below(word[0], self.population) for word in drawn)
        others = ranked[:first] + ranked[first + 1 :]
        return ranked[first][0], others[min(below(word[1], len(others)) for word in drawn)][0]

    def proportional(
        self, parent: int, place: Place, ranked: list[tuple[Genome, int]], order: list[int]
    ) -> Genome:
        """Return a parent selected in proportion to its distance from the worst, by rejection."""
        worst, count = ranked[-1][1], 1
        by_slot = dict(zip(order, ranked, strict=True))
        while True:
            word = [int(each) for each in words(8 * count, MATES, *place)[8 * count - 8 :]]
            word = word[4 * parent : 4 * parent + 4]
            genome, cost = by_slot[below(word[0], self.population)]
            target = (word[2] << 32 | word[3]) * (worst - ranked[0][1] + 1) >> 64
            if target < worst - cost + 1:
                return genome
            count += 1


DANTAS = {"selection": "best", "replacement": "generational", "crossover": "one_point"}


def evaluated_as_numbered(problem: Mkp, genome: Genome, place: Place) -> tuple[Genome, int]:
    """Return a choice after evaluation, in the device's order of items, and its cost."""
    order = problem.numbering()
    choice = np.empty(problem.size, np.int64)
    choice[order] = genome
    choice, cost = evaluated(problem, choice, place[0], place[1:])
    return choice[order].tolist(), cost


def both(
    backend: Backend, problem: Problem, encoding: str = "bits", **changes: Any
) -> tuple[Archipelago, NumpyGa]:
    """Return the same run on a device and in NumPy."""
    mine, _, own = on_device("ga", backend, problem, encoding, changes)

    def evaluate(genome: Genome, place: Place) -> tuple[Genome, int]:
        if isinstance(problem, Mkp):
            return evaluated_as_numbered(problem, genome, place)
        genomes = np.array([genome])
        solutions = genomes if encoding == "bits" else mine._encodings[0].decode(genomes)
        return genome, int(problem.costs(solutions)[0])

    return mine, NumpyGa(problem.size, evaluate=evaluate, **own)
