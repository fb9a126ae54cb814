"""Migration in plain NumPy: the kernels must give bit-identical results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_islands import REPLACE, SELECT, words

from islands.migration.topology import NOBODY, TOPOLOGIES, Scene

Islands = Sequence[NDArray[Any]]


@dataclass
class Migrant:
    cost: int
    keys: NDArray[Any]
    traits: list[NDArray[Any]]


@dataclass
class Arrival:
    source: int
    target: int
    cost: int
    accepted: bool


class NumpyMigration:
    """Costs and keys of all islands at one moment of a run, and the migrants in flight."""

    def __init__(
        self, *, topology: str, migrants: int, selection: str, replacement: str, duplicates: str,
        delay: int, seed: int, fixed: int,
    ) -> None:  # fmt: skip
        self.topology, self.migrants, self.selection = topology, migrants, selection
        self.replacement, self.duplicates, self.delay = replacement, duplicates, delay
        self.seed, self.fixed, self.number = seed, fixed, 0
        self.in_flight: list[list[Migrant]] | None = None

    def migrate(
        self, cost: Islands, keys: Islands, generation: int, traits: Sequence[Islands] = ()
    ) -> list[Arrival]:
        """Apply a migration to all islands; return the arrivals."""
        self.cost, self.keys, self.generation, self.traits = cost, keys, generation, traits
        found: list[Arrival] = []
        if self.delay == 0:
            self.send()
            found = self.receive()
        else:
            if self.in_flight is not None:
                found = self.receive()
            self.send()
        return found

    def send(self) -> None:
        self.number += 1
        self.in_flight = [
            [self.migrant(i, k) for k in self.selected(i)] for i in range(len(self.cost))
        ]

    def migrant(self, island: int, k: int) -> Migrant:
        traits = [trait[island][k].copy() for trait in self.traits]
        return Migrant(int(self.cost[island][k]), self.keys[island][k].copy(), traits)

    def order(self, island: int) -> NDArray[np.int64]:
        return np.argsort(self.cost[island], kind="stable")

    def word(self, stream: int, island: int, individual: int) -> int:
        """Return a random number of 64 bits."""
        high, low = words(2, stream, self.seed, island, self.generation, individual).tolist()
        return int(high) << 32 | int(low)

    def random_rows(self, stream: int, island: int, first: int, count: int) -> list[int]:
        """Return `count` random individuals, without the `first` best."""
        ranks = range(first, len(self.cost[island]))
        drawn = sorted(ranks, key=lambda rank: (self.word(stream, island, rank) >> 1, rank))
        return [int(self.order(island)[rank]) for rank in drawn[:count]]

    def selected(self, island: int) -> list[int]:
        order = self.order(island)
        if self.selection == "best":
            return [int(each) for each in order[: self.migrants]]
        if self.selection == "random":
            return self.random_rows(SELECT, island, 0, self.migrants)
        costs = [int(self.cost[island][each]) for each in order]
        shift = max(0, (costs[-1] - costs[0]).bit_length() - 31)
        left = {rank: ((costs[-1] - cost) >> shift) + 1 for rank, cost in enumerate(costs)}
        picked = []
        for k in range(self.migrants):
            target = self.word(SELECT, island, k) * sum(left.values()) >> 64
            for rank in sorted(left):
                target -= left[rank]
                if target < 0:
                    break
            del left[rank]
            picked.append(int(order[rank]))
        return picked

    def receive(self) -> list[Arrival]:
        scene = Scene(len(self.cost), self.seed, self.number)
        sources = TOPOLOGIES[self.topology].sources(scene, range(len(self.cost)))
        in_flight, self.in_flight = self.in_flight, None
        found = []
        for island in range(len(self.cost)):
            arriving = [(s, m) for s in sources[island] if s != NOBODY for m in in_flight[s]]
            found += self.replace(island, arriving)
        return found

    def replace(self, island: int, arriving: list[tuple[int, Migrant]]) -> list[Arrival]:
        cost, keys, order = self.cost[island], self.keys[island], self.order(island)
        arrivals = [Arrival(int(source), island, m.cost, False) for source, m in arriving]
        known = {(int(c), row.tobytes()) for c, row in zip(cost, keys, strict=True)}
        entering = []
        for number, (_, migrant) in sorted(enumerate(arriving), key=lambda each: each[1][1].cost):
            identity = (migrant.cost, migrant.keys.tobytes())
            if self.duplicates == "reject" and identity in known:
                continue
            known.add(identity)
            entering.append((number, migrant))
        places = [int(each) for each in order[::-1]]
        if self.replacement == "random":
            places = self.random_rows(REPLACE, island, self.fixed, len(cost))
        before = cost.copy()
        for place, (number, migrant) in zip(places, entering, strict=False):
            if self.replacement == "if-better" and migrant.cost >= before[place]:
                continue
            cost[place], keys[place] = migrant.cost, migrant.keys
            for trait, brought in zip(self.traits, migrant.traits, strict=True):
                trait[island][place] = brought
            arrivals[number].accepted = True
        return arrivals
