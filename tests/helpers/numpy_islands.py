"""The base class of the algorithms' references: restarts after stagnation, migration in a ring."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy_streams import Place


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
        """Evolve all islands by one generation."""
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

        `fields` are what migrants bring, cost included: each is indexed by island and individual.
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
