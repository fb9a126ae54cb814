"""Differential evolution in plain NumPy, and on a device: the bits must be the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
from colonies_for_tests import begun
from numpy.typing import NDArray
from numpy_box import highest
from numpy_improvers import NumpyLocalSearch, keys_of
from numpy_islands import (
    ADAPT,
    DONORS,
    MUTANT,
    START,
    TRIAL,
    NumpyIslands,
    below,
    fraction,
    uniform,
    words,
)
from numpy_migration import NumpyMigration
from problems_for_tests import NUMBERS, cities, facilities

from islands.algorithms.de import DeSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.encodings import Encoding
from islands.problems.base import Problem

Keys = NDArray[Any]
Costs = Callable[[NDArray[np.int64]], NDArray[np.int64]]


class NumpyDe(NumpyIslands):
    def __init__(
        self, n: int, costs: Costs, settings: DeSettings, *, assigns: bool = False,
        population: int = 20, islands: int = 1, seed: int = 1,
        search: NumpyLocalSearch | None = None, bounded: Encoding | None = None,
    ) -> None:  # fmt: skip
        self.n, self.costs, self.assigns, self.population = n, costs, assigns, population
        self.seed, self.reset, self.strategy = seed, settings.reset, settings.strategy
        self.adapts, self.nearby = settings.adaptation != "none", settings.adaptation == "nearby"
        self.low, self.high = np.float32(settings.low), np.float32(settings.high)
        self.first = (np.float32(settings.F), np.float32(settings.Cr))
        self.search, self.bounded = search, bounded
        self.generation = 0
        self.rates = [[self.first] * population for _ in range(islands)]
        self.keys = [
            np.stack([self.drawn(START, k, s) for s in range(population)]) for k in range(islands)
        ]
        self.cost = [self.costs(self.decoded(keys)) for keys in self.keys]
        self.calls = [population] * islands
        self.begin_records()

    def words(self, count: int, stream: int, island: int, slot: int) -> NDArray[np.uint64]:
        return words(count, stream, *self.place(island, slot))

    def drawn(self, stream: int, island: int, slot: int) -> Keys:
        drawn = self.words(self.n, stream, island, slot)
        if self.bounded is not None:
            return fraction(drawn, self.bounded.name)
        share = uniform(drawn)
        return self.low + (self.high - self.low) * share

    def decoded(self, keys: Keys) -> NDArray[np.int64]:
        if self.bounded is not None:
            return self.bounded.decode(np.atleast_2d(keys)).reshape(keys.shape)
        order = np.argsort(keys, axis=-1, kind="stable")
        return np.argsort(order, axis=-1) if self.assigns else order

    def evolve_island(self, island: int) -> None:
        if self.restart[island]:
            slots = range(self.population)
            self.keys[island] = np.stack([self.drawn(MUTANT, island, slot) for slot in slots])
            self.cost[island] = self.costs(self.decoded(self.keys[island]))
            self.rates[island] = [self.first] * self.population
            self.calls[island] += self.population
            self.restarts += 1
        else:
            keys, cost = self.keys[island].copy(), self.cost[island].copy()
            for slot in range(self.population):
                rates = self.rates_of(island, slot)
                trial, trial_cost = self.evaluated(island, slot, self.trial(island, slot, *rates))
                if trial_cost < cost[slot]:
                    keys[slot], cost[slot], self.rates[island][slot] = trial, trial_cost, rates
            self.keys[island], self.cost[island] = keys, cost

    def rates_of(self, island: int, slot: int) -> tuple[np.float32, np.float32]:
        """Return F and Cr of a trial, adapted if this is chosen."""
        weight, crossover = self.rates[island][slot]
        if self.nearby:
            one, _, *halves = self.words(4, ADAPT, island, slot)
            far = np.float32(2) * uniform(np.array([one]))[0] - np.float32(1)
            to_end = max(np.float32(1) - abs(far), np.float32(1e-6))
            chosen = min(weight + np.float32(0.1) * far / to_end, np.float32(1))
            parts = np.float32(sum((int(each) >> 16) + (int(each) & 0xFFFF) for each in halves))
            spread = np.float32(0.1) * np.float32(1.75)
            rate = crossover + spread * (parts / np.float32(65536) - np.float32(2))
            return chosen if chosen > 0 else weight, np.clip(rate, np.float32(0), np.float32(1))
        if self.adapts:
            coin, new_weight, other_coin, new_crossover = uniform(
                self.words(4, ADAPT, island, slot)
            )
            if coin < np.float32(0.1):
                weight = np.float32(0.1) + np.float32(0.9) * new_weight
            if other_coin < np.float32(0.1):
                crossover = new_crossover
        return weight, crossover

    def trial(self, island: int, slot: int, weight: np.float32, crossover: np.float32) -> Keys:
        *draws, last = (int(word) for word in self.words(4, DONORS, island, slot))
        others = [other for other in range(self.population) if other != slot]
        keys = self.keys[island]
        first, *pair = (others.pop(below(word, len(others))) for word in draws)
        a, (b, c) = keys[first], keys[pair]
        ranked = np.argsort(self.cost[island], kind="stable")
        lead = keys[ranked[first * max(self.population // 10, 2) // self.population]]
        own, best = keys[slot], keys[np.argmin(self.cost[island])]
        with np.errstate(over="ignore", invalid="ignore"):
            base = {
                "rand/1": a,
                "best/1": best,
                "current-to-best/1": own + weight * (best - own),
                "current-to-pbest/1": own + weight * (lead - own),
            }[self.strategy]
            mutant = base + weight * (b - c)
            mutant = self.allowed(mutant, own)
        is_new = uniform(self.words(self.n, TRIAL, island, slot)) < crossover
        is_new[below(last, self.n)] = True
        return np.where(is_new, mutant, own)

    def allowed(self, mutant: Keys, own: Keys) -> Keys:
        """Return the mutant with other genes in place of those that are not allowed."""
        if self.bounded is None:
            return np.where(np.abs(mutant) <= np.float32(1e30), mutant, own)
        top = own.dtype.type(highest(self.bounded.name))
        bound = np.where(mutant < 0, own.dtype.type(0), top)
        is_inside = (mutant >= 0) & (mutant <= top)
        return np.where(is_inside, mutant, own + (bound - own) / own.dtype.type(2))

    def evaluated(self, island: int, slot: int, keys: Keys) -> tuple[Keys, int]:
        solution = self.decoded(keys)
        cost = int(self.costs(solution[np.newaxis])[0])
        self.calls[island] += 1
        place = self.place(island, slot)
        if self.search is None or not self.search.is_due(place):
            return keys, cost
        order, better, tried = self.search.improve(solution.tolist(), cost, place)
        self.calls[island] += tried
        if better == cost:
            return keys, cost
        return keys_of(keys, order, assigns=self.assigns), better

    def exchange_in_ring(self, migrants: int) -> None:
        """Replace the worst of each island by the best of the previous one, with F and Cr."""
        self.exchange_rows_in_ring(migrants, [self.keys, self.cost, self.rates])

    def migrate(self, migration: NumpyMigration) -> None:
        rates = np.array(self.rates, np.float32)
        migration.migrate(self.cost, self.keys, self.generation, traits=[rates])
        self.rates = [[(weight, crossover) for weight, crossover in island] for island in rates]
        self.update_best_after_migration()


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "tsp": cities,
    "qap": lambda n: facilities(n, symmetric="neither", diagonal=True),
}


def both(
    backend: Backend,
    problem: Problem,
    *,
    topology: str = "none",
    migrants: int = 2,
    search: NumpyLocalSearch | None = None,
    warm_start: Any = tuple,
    **changes: Any,
) -> tuple[Archipelago, NumpyDe]:
    encoding = problem.solution_kind if problem.solution_kind in NUMBERS else "keys"
    improver = {"name": search.name, "rate": search.rate, "steps": 1} if search else {}
    mine, settings, rest = begun(
        "de", encoding, changes, sizes={"population": 20, "islands": 3, "seed": 5},
        problem=problem, backend=backend, search=improver, warm_start=warm_start,
        migration={"topology": topology, "migrants": migrants},
    )  # fmt: skip
    reference = NumpyDe(
        problem.size, problem.costs, settings, assigns=problem.layout.assigns, search=search,
        bounded=mine._encodings[0] if mine._encodings[0].bounded else None, **rest,
    )  # fmt: skip
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyDe) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == [cost.tolist() for cost in reference.cost]
    assert (saved["genes"][:, :, : reference.n] == np.stack(reference.keys)).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls
    if reference.adapts:
        rates = np.array(reference.rates, np.float32)
        assert (np.stack([saved["weight"], saved["crossover"]], axis=2) == rates).all()
