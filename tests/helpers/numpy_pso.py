"""The particle swarm written once more, in plain NumPy: what kernels must agree with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_brkga import uniform, words
from numpy_cellular import random_genome

from islands.algorithms.pso import PsoSettings

START, MUTANT, VELOCITY, SIGMOID = 1, 2, 18, 19
FASTEST = 1e30
Floats = NDArray[np.float32]
Judge = Callable[[NDArray[Any], tuple[int, int, int, int]], tuple[NDArray[Any], int, int]]
"""What becomes of a position at such a place: itself or another, its cost, and the calls."""


def exponential(x: Floats) -> Floats:
    """Return powers of e as the kernels find them, for x from -87 to 87."""
    f = np.float32
    power = np.rint(x * f(1.44269504))
    rest = x - power * f(0.693115234375) - power * f(3.19461849e-5)
    total = np.full_like(x, f(1) / f(720))
    for term in (f(1) / f(120), f(1) / f(24), f(1) / f(6), f(0.5), f(1), f(1)):
        total = total * rest + term
    return np.ldexp(total, power.astype(np.int32))


def sigmoid(x: Floats) -> Floats:
    return np.float32(1) / (np.float32(1) + exponential(-np.clip(x, np.float32(-87), 87)))


class NumpyPso:
    """One archipelago; genomes are keys, or 0 and 1 for each item."""

    def __init__(
        self, n: int, judge: Judge, settings: PsoSettings, *, encoding: str = "keys",
        population: int = 20, islands: int = 1, seed: int = 1,
    ) -> None:  # fmt: skip
        self.n, self.judge, self.settings, self.encoding = n, judge, settings, encoding
        self.population, self.islands, self.seed = population, islands, seed
        self.generation, self.restarts = 0, 0
        self.calls, self.since, self.began = [0] * islands, [0] * islands, [0] * islands
        self.restart = [False] * islands
        shape = (islands, population, n)
        kind = np.int64 if encoding == "bits" else np.float32
        self.here, self.genomes = np.zeros(shape, kind), np.zeros(shape, kind)
        self.velocity = np.zeros(shape, np.float32)
        self.cost_here = np.zeros(shape[:2], np.int64)
        self.cost = np.zeros(shape[:2], np.int64)
        for island in range(islands):
            self.begin(island, START)
        self.best = [int(cost.min()) for cost in self.cost]

    def begin(self, island: int, stream: int) -> None:
        self.velocity[island] = 0
        self.began[island] = self.generation
        for slot in range(self.population):
            self.settle(island, slot, self.drawn(stream, island, slot), None)

    def drawn(self, stream: int, island: int, slot: int) -> NDArray[Any]:
        place = (self.seed, island, self.generation, slot)
        if self.encoding == "bits":
            return np.array(random_genome(self.n, "bits", stream, place), np.int64)
        low, high = np.float32(self.settings.low), np.float32(self.settings.high)
        return low + (high - low) * uniform(words(self.n, stream, *place))

    def settle(self, island: int, slot: int, genome: NDArray[Any], standing: int | None) -> None:
        place = (self.seed, island, self.generation, slot)
        genome, cost, calls = self.judge(genome, place)
        self.calls[island] += calls
        self.here[island, slot], self.cost_here[island, slot] = genome, cost
        if standing is None or cost < standing:
            self.genomes[island, slot], self.cost[island, slot] = genome, cost

    def evolve(self, generations: int) -> None:
        for _ in range(generations):
            self.generation += 1
            for island in range(self.islands):
                if self.restart[island]:
                    self.begin(island, MUTANT)
                    self.restarts += 1
                else:
                    self.fly(island)
                self.follow(island)

    def fly(self, island: int) -> None:
        before, costs = self.genomes[island].copy(), self.cost[island].copy()
        inertia = self.inertia(self.generation - 1 - self.began[island])
        chi = np.float64(1)
        if self.settings.constriction:
            phi = self.settings.c1 + self.settings.c2
            chi = 2 / abs(2 - phi - np.sqrt(phi * phi - 4 * phi))
            inertia = np.float32(chi)
        c1, c2 = np.float32(chi * self.settings.c1), np.float32(chi * self.settings.c2)
        most = np.float32(self.settings.velocity or FASTEST)
        for slot in range(self.population):
            place = (self.seed, island, self.generation, slot)
            pulls = words(self.n, VELOCITY, *place).astype(np.uint32)
            one = (pulls >> 16).astype(np.float32) / np.float32(65536)
            other = (pulls & 0xFFFF).astype(np.float32) / np.float32(65536)
            here = self.here[island, slot].astype(np.float32)
            best, lead = (
                before[k].astype(np.float32) for k in (slot, self.leader(costs.tolist(), slot))
            )
            velocity = inertia * self.velocity[island, slot] + c1 * one * (best - here)
            velocity = np.clip(velocity + c2 * other * (lead - here), -most, most)
            self.velocity[island, slot] = velocity
            if self.encoding == "bits":
                lots = uniform(words(self.n, SIGMOID, *place))
                there = (lots < sigmoid(velocity)).astype(np.int64)
            else:
                there = np.clip(here + velocity, -np.float32(FASTEST), np.float32(FASTEST))
            self.settle(island, slot, there, int(costs[slot]))

    def inertia(self, passed: int) -> np.float32:
        usual = 1 if self.encoding == "bits" else 0.7298
        first = np.float32(self.settings.inertia or usual)
        final = np.float32(self.settings.inertia_end)
        if self.settings.schedule == "constant":
            return first
        gone = min(np.float32(passed) / np.float32(self.settings.horizon), np.float32(1))
        left = np.float32(1) - gone
        fallen = {
            "linear": gone,
            "early": np.float32(1) - (left * left) * (left * left),
            "late": (gone * gone) * (gone * gone),
        }[self.settings.schedule]
        return np.float32(first + fallen * (final - first))

    def leader(self, costs: list[int], slot: int) -> int:
        seen = list(range(self.population))
        if self.settings.neighbourhood == "ring":
            half = self.settings.neighbours // 2
            seen = [(slot + k) % self.population for k in range(-half, half + 1)]
        return min((costs[k], k) for k in seen)[1]

    def follow(self, island: int) -> None:
        best = int(self.cost[island].min())
        if self.restart[island] or best < self.best[island]:
            self.best[island], self.since[island] = best, self.generation
            self.restart[island] = False
        elif self.settings.reset:
            self.restart[island] = self.generation - self.since[island] >= self.settings.reset

    def exchange_in_ring(self, migrants: int) -> None:
        """Every island receives the best of the one before it, over its worst."""
        orders = [np.argsort(cost, kind="stable") for cost in self.cost]
        leaving = [
            [(self.genomes[k][i].copy(), int(self.cost[k][i])) for i in orders[k][:migrants]]
            for k in range(self.islands)
        ]
        for k in range(self.islands):
            for place, (genome, cost) in enumerate(leaving[k - 1]):
                row = orders[k][self.population - 1 - place]
                self.genomes[k][row], self.cost[k][row] = genome, cost
            if int(self.cost[k].min()) < self.best[k]:
                self.best[k], self.since[k] = int(self.cost[k].min()), self.generation
                self.restart[k] = False
