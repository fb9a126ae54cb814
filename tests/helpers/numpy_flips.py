"""Tempering of a sparse quadratic model in plain Python: one flip after another."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_chains import NumpyChains
from numpy_exact import pow
from numpy_islands import Place, words
from numpy_tempering import PROPOSALS, RENEWAL, Replica, is_accepted

from islands.modelling.model import Model

HEATS = 4


class NumpyFlips(NumpyChains):
    """Replicas that cool down together, and are reheated as children."""

    end_shares = 1e-4, 0.06
    reheating = 2

    def __init__(self, model: Model, **settings: Any) -> None:
        flips = model.flips
        self.flips, self.kinds = flips, Counter[str]()
        n = model.size
        self.pairs: list[dict[int, int]] = [{} for _ in range(n)]
        for i in range(n):
            for e in range(flips.first[i], flips.first[i + 1]):
                self.pairs[i][int(flips.other[e])] = int(flips.both[e])
        self.items = sorted(range(n), key=lambda i: (flips.classes[i], i))
        super().__init__(self.value, "subset", n, moves=(4,), **settings)
        self.calls = [[1] * self.population for _ in self.replicas]

    def value(self, state: list[int]) -> int:
        chosen = [i for i, each in enumerate(state) if each]
        pairs = sum(both for i in chosen for j, both in self.pairs[i].items() if state[j])
        return int(self.flips.single[chosen].sum()) + pairs // 2

    def change(self, state: list[int], i: int) -> int:
        field = int(self.flips.single[i]) + sum(b for j, b in self.pairs[i].items() if state[j])
        return -field if state[i] else field

    def roughness(self, state: list[Any], energy: Any, place: Place) -> float:
        return sum(abs(self.change(state, i)) for i in range(self.n)) / self.n

    def run(self, replica: Replica, temperature: float, place: Place) -> int:
        quads, state, climbs, number = -(-self.n // 64) * 16, list(replica.order), 0, 0
        proposals = max(self.proposals, self.n)
        while number < proposals:
            drawn = words(4 * quads, PROPOSALS, *place, number // self.n * quads, rounds=7)
            for p in range(min(self.n, proposals - number)):
                i = self.items[p]
                raised, number = self.change(state, i), number + 1
                if raised > 0 and not is_accepted(raised, temperature, int(drawn[p])):
                    continue
                climbs += raised > 0
                replica.energy += raised
                state[i] = 1 - state[i]
            if replica.energy < replica.cost:
                replica.best, replica.cost = list(state), replica.energy
        replica.order = state
        replica.best = self.child(replica.best, state, place)
        self.kinds["parts"] += (cost := self.value(replica.best)) < replica.cost
        replica.cost = cost
        self.climbs[place[1]][place[3]], self.tried[place[1]][place[3]] = climbs, number
        return number

    def child(self, mine: list[Any], other: list[Any], place: Place) -> list[Any]:
        """Return the first solution with the parts of the other one that lower its cost."""
        differing = {i for i in range(self.n) if mine[i] != other[i]}
        if self.flips.is_symmetric and 2 * len(differing) > self.n:
            differing = set(range(self.n)) - differing
        child = list(mine)
        while differing:
            part, ends = set[int](), [min(differing)]
            while ends:
                i = ends.pop()
                if i in differing:
                    differing.remove(i)
                    part.add(i)
                    ends += self.pairs[i]
            changed = [1 - each if i in part else each for i, each in enumerate(mine)]
            if self.value(changed) < self.value(mine):
                child = [changed[i] if i in part else each for i, each in enumerate(child)]
        return child

    def end(self, island: int, number: int, first: int) -> None:
        super().end(island, number, first)
        at, _, doublings = self.annealing()
        if self.generation > self.tuning + 1 and at == 0 and doublings >= 0:
            self.kinds["reheated"] += 1
            rows = self.replicas[island][first : first + self.rungs]
            mine = first + min(range(self.rungs), key=lambda i: rows[i].cost)
            place = self.place(island, first)
            for i, row in enumerate(rows):
                word = int(words(4, RENEWAL, *place, i)[0])
                other = word * (self.population - 1) >> 32
                row.mate = other + (other >= mine)

    def annealing(self) -> tuple[int, int, int]:
        """Return the current generation of an annealing, its length and its doublings."""
        at, number = self.generation - self.tuning - 1, 0
        if at < self.cycle:
            return at, self.cycle, -1
        at -= self.cycle
        while True:
            number += 1
            doublings = _doublings(number)
            length = self.reheating << doublings
            if at < length:
                return at, length, doublings
            at -= length

    def anneal(self, island: int, number: int) -> None:
        at, length, doublings = self.annealing()
        cold, hot = self.range[island][number]
        part = at / max(length - 1, 1)
        for rung in range(self.rungs):
            first = 0.0
            if doublings >= 0:
                self.kinds[f"doublings {doublings}"] += 1
                first = max(HEATS - 1 - doublings - rung, 0) / (2 * HEATS)
            now = hot * pow(cold / hot, first + (1 - first) * part)
            self.temperature[island][number][rung] = now


def _doublings(number: int) -> int:
    """Return a number of the sequence 0, 0, 1, 0, 0, 1, 2 and so on, counted from 1."""
    most = (number + 1).bit_length() - 1
    if number + 1 == 1 << most:
        return most - 1
    return _doublings(number + 1 - (1 << most))


def sparse_pairs(n: int, pairs: int, seed: int = 1) -> NDArray[np.int64]:
    """Return random pairs of different items, each once, without regard to their order."""
    drawn = np.random.default_rng(seed).integers(0, n, (2 * pairs, 2))
    drawn = np.sort(drawn[drawn[:, 0] != drawn[:, 1]])
    return np.unique(drawn, axis=0)[:pairs]
