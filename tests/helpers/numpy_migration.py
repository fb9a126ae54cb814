"""Migration written once more, in plain NumPy: what the kernels must agree with to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_brkga import words

from islands.migration.topology import NOBODY, TOPOLOGIES, Scene

SELECT, REPLACE = 5, 6
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
    """All islands' costs and keys at one moment of a run, and those who are on their way."""

    def __init__(
        self, *, topology: str, migrants: int, selection: str, replacement: str, duplicates: str,
        delay: int, seed: int, fixed: int,
    ) -> None:  # fmt: skip
        self.topology, self.migrants, self.selection = topology, migrants, selection
        self.replacement, self.duplicates, self.delay = replacement, duplicates, delay
        self.seed, self.fixed, self.epoch = seed, fixed, 0
        self.away: list[list[Migrant]] | None = None

    def migrate(
        self, cost: Islands, keys: Islands, generation: int, traits: Sequence[Islands] = ()
    ) -> list[Arrival]:
        """Change all islands as a migration does; return who arrived."""
        self.cost, self.keys, self.generation, self.traits = cost, keys, generation, traits
        found: list[Arrival] = []
        if self.delay == 0:
            self.leave()
            found = self.take_in()
        else:
            if self.away is not None:
                found = self.take_in()
            self.leave()
        return found

    def leave(self) -> None:
        self.epoch += 1
        self.away = [[self.migrant(i, k) for k in self.chosen(i)] for i in range(len(self.cost))]

    def migrant(self, island: int, k: int) -> Migrant:
        traits = [trait[island][k].copy() for trait in self.traits]
        return Migrant(int(self.cost[island][k]), self.keys[island][k].copy(), traits)

    def order(self, island: int) -> NDArray[np.int64]:
        return np.argsort(self.cost[island], kind="stable")

    def word(self, stream: int, island: int, individual: int) -> int:
        """Return a number of 64 bits."""
        high, low = words(2, stream, self.seed, island, self.generation, individual).tolist()
        return int(high) << 32 | int(low)

    def lots(self, stream: int, island: int, first: int, count: int) -> list[int]:
        ranks = range(first, len(self.cost[island]))
        drawn = sorted(ranks, key=lambda rank: (self.word(stream, island, rank) >> 1, rank))
        return [int(self.order(island)[rank]) for rank in drawn[:count]]

    def chosen(self, island: int) -> list[int]:
        order = self.order(island)
        if self.selection == "best":
            return [int(each) for each in order[: self.migrants]]
        if self.selection == "random":
            return self.lots(SELECT, island, 0, self.migrants)
        costs = [int(self.cost[island][each]) for each in order]
        shift = max(0, (costs[-1] - costs[0]).bit_length() - 31)
        left = {rank: ((costs[-1] - cost) >> shift) + 1 for rank, cost in enumerate(costs)}
        picked = []
        for k in range(self.migrants):
            ball = self.word(SELECT, island, k) * sum(left.values()) >> 64
            for rank in sorted(left):
                ball -= left[rank]
                if ball < 0:
                    break
            del left[rank]
            picked.append(int(order[rank]))
        return picked

    def take_in(self) -> list[Arrival]:
        assert self.away is not None
        scene = Scene(len(self.cost), self.seed, self.epoch)
        sources = TOPOLOGIES[self.topology].sources(scene, range(len(self.cost)))
        away, self.away = self.away, None
        found = []
        for island in range(len(self.cost)):
            came = [(s, m) for s in sources[island] if s != NOBODY for m in away[s]]
            found += self.received(island, came)
        return found

    def received(self, island: int, came: list[tuple[int, Migrant]]) -> list[Arrival]:
        cost, keys, order = self.cost[island], self.keys[island], self.order(island)
        arrivals = [Arrival(int(source), island, m.cost, False) for source, m in came]
        known = {(int(c), row.tobytes()) for c, row in zip(cost, keys, strict=True)}
        entering = []
        for number, (_, migrant) in sorted(enumerate(came), key=lambda each: each[1][1].cost):
            identity = (migrant.cost, migrant.keys.tobytes())
            if self.duplicates == "refuse" and identity in known:
                continue
            known.add(identity)
            entering.append((number, migrant))
        places = [int(each) for each in order[::-1]]
        if self.replacement == "random":
            places = self.lots(REPLACE, island, self.fixed, len(cost))
        before = cost.copy()
        for place, (number, migrant) in zip(places, entering, strict=False):
            if self.replacement == "if-better" and migrant.cost >= before[place]:
                continue
            cost[place], keys[place] = migrant.cost, migrant.keys
            for trait, brought in zip(self.traits, migrant.traits, strict=True):
                trait[island][place] = brought
            arrivals[number].accepted = True
        return arrivals
