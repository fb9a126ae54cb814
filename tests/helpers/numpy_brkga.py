"""BRKGA in plain NumPy, and its comparison with runs on a device: the bits must be the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
from colonies_for_tests import one_colony
from numpy.typing import NDArray
from numpy_islands import MATE, MUTANT, PARENTS, START, NumpyIslands, below, fraction, words
from problems_for_tests import NUMBERS

from islands.algorithms.brkga import BrkgaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.encodings import Encoding
from islands.migration import MigrationSettings
from islands.problems.base import Problem

Costs = Callable[[NDArray[np.int64]], NDArray[np.int64]]


class NumpyBrkga(NumpyIslands):
    """An archipelago; `bias`: cumulative probabilities of all parents but the last, as words."""

    def __init__(
        self, n: int, costs: Costs, *, population: int, elite: int, mutants: int, bias: list[int],
        elite_parents: int = 1, islands: int = 1, seed: int = 1, patience: int = 0,
        encoding: Encoding | None = None,
    ) -> None:  # fmt: skip
        self.n, self.costs, self.population = n, costs, population
        self.elite, self.mutants, self.bias = elite, mutants, bias
        self.elite_parents, self.seed, self.reset = elite_parents, seed, patience
        self.generation, self.encoding = 0, encoding
        self.keys = [
            np.stack([self.drawn(START, k, s) for s in range(population)]) for k in range(islands)
        ]
        self.cost = [self.decoded(keys) for keys in self.keys]
        self.begin_records()

    def drawn(self, stream: int, island: int, slot: int) -> NDArray[Any]:
        drawn = words(self.n, stream, self.seed, island, self.generation, slot)
        return fraction(drawn, self.encoding.name if self.encoding else "keys")

    def decoded(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        if self.encoding is not None:
            return self.costs(self.encoding.decode(keys))
        return self.costs(np.argsort(keys, axis=1, kind="stable"))

    def evolve_island(self, island: int) -> None:
        order = np.argsort(self.cost[island], kind="stable")
        keep = 0 if self.restart[island] else self.elite
        self.restarts += self.restart[island]
        rows = [self.keys[island][order[slot]] for slot in range(keep)]
        for slot in range(keep, self.population):
            if self.restart[island] or slot < self.elite + self.mutants:
                rows.append(self.drawn(MUTANT, island, slot))
            else:
                rows.append(self.child(island, slot, order))
        self.keys[island] = np.stack(rows)
        self.cost[island] = self.decoded(self.keys[island])

    def child(self, island: int, slot: int, order: NDArray[np.int64]) -> NDArray[Any]:
        place = self.place(island, slot)
        count = len(self.bias) + 1
        drawn = words(count, PARENTS, *place)
        ranks: list[int] = []
        for kind, wanted in (
            (range(self.elite), self.elite_parents),
            (range(self.elite, self.population), count),
        ):
            left = list(kind)
            while len(ranks) < wanted:
                ranks.append(left.pop(below(drawn[len(ranks)], len(left))))
        parents = [self.keys[island][order[rank]] for rank in sorted(ranks)]
        which = np.searchsorted(
            np.array(self.bias, np.uint64), words(self.n, MATE, *place), side="right"
        )
        return np.choose(which, parents)

    def exchange(self, migrants: int) -> None:
        """Replace the worst of each island by the best of every other island."""
        orders = [np.argsort(cost, kind="stable") for cost in self.cost]
        sent = [
            [
                (int(self.cost[k][orders[k][m]]), k, m, self.keys[k][orders[k][m]].copy())
                for m in range(migrants)
            ]
            for k in range(len(self.keys))
        ]
        for k in range(len(self.keys)):
            received = sorted(
                (m for j, group in enumerate(sent) if j != k for m in group), key=lambda m: m[:3]
            )
            for place, (cost, _, _, keys) in enumerate(received):
                row = orders[k][self.population - 1 - place]
                self.keys[k][row], self.cost[k][row] = keys, cost
        self.update_best_after_migration()


def archipelago(backend: Backend, problem: Problem, **changes: Any) -> Archipelago:
    rest = {"population": 20, "islands": 3, "seed": 5, "warm_start": tuple, "decoding": ""}
    rest |= {name: changes.pop(name) for name in list(changes) if name in rest}
    migration = {name: changes.pop(name) for name in ("topology", "migrants") if name in changes}
    return one_colony(
        problem=problem, algorithm="brkga",
        encoding=problem.solution_kind if problem.solution_kind in NUMBERS else "keys",
        settings=BrkgaSettings.build({"elite": 0.2, **changes}),
        migration=MigrationSettings.build(migration), backend=backend, **rest,
    )  # fmt: skip


def genes_and_costs(mine: Archipelago) -> list[tuple[np.ndarray, np.ndarray]]:
    saved = mine.snapshot()
    keys = saved["genes"][:, :, : mine._encodings[0].size]
    return list(zip(keys, saved["cost"], strict=True))


def assert_same(mine: Archipelago, reference: NumpyBrkga) -> None:
    for (keys, costs), expected_keys, expected_costs in zip(
        genes_and_costs(mine), reference.keys, reference.cost, strict=True
    ):
        assert costs.tolist() == expected_costs.tolist()
        assert (keys == expected_keys).all()


def both(
    backend: Backend, problem: Problem, shares: tuple[float, ...] = (0.7,), **changes: Any
) -> tuple[Archipelago, NumpyBrkga]:
    """Return a run on a device and its NumPy reference; `shares` are the parents' probabilities."""
    changes = {"migrants": 2, "islands": 3, **changes}
    mine = archipelago(backend, problem, **changes)
    reference = NumpyBrkga(
        problem.size, problem.costs, population=20, elite=4, mutants=2, seed=5,
        bias=[round(share * 2**32) for share in shares], islands=changes["islands"],
        elite_parents=changes.get("elite_parents", 1), patience=changes.get("reset", 0),
        encoding=mine._encodings[0] if problem.solution_kind in NUMBERS else None,
    )  # fmt: skip
    mine.start()
    return mine, reference
