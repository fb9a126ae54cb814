"""Equal individuals are ordered by island, then by place."""

from __future__ import annotations

import numpy as np
import pytest
from colonies_for_tests import one_colony
from problems_for_tests import flat

from islands.algorithms.cellular import CellularSettings
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND, NONE
from islands.backends.base import Backend
from islands.migration import MigrationSettings
from islands.parallel import World

COSTS = [[5, 3, 3, 9], [3, 7, 3, 5], [3, 3, 6, 2]]
ARCHIVED = [3, NONE, 2]


def archipelago(backend: Backend, runs: int = 1) -> Archipelago:
    islands = one_colony(
        problem=flat(9, 720),
        algorithm="cellular",
        encoding="permutation",
        settings=CellularSettings.build({"neighbours": 2}),
        population=4,
        islands=3,
        runs=runs,
        seed=1,
        migration=MigrationSettings.build({"topology": "none"}),
        backend=backend,
        world=World(),
    )
    islands.start()
    return islands


@pytest.mark.parametrize(
    ("archived", "best", "generation"), [(2, 2, 4), (3, 3, 4), (4, 3, 9), (NONE, 3, 9)]
)
def test_the_best_of_an_island_is_as_old_as_the_first_with_its_cost(
    backend: Backend, archived: int, best: int, generation: int
) -> None:
    islands = archipelago(backend)
    saved = islands.snapshot()
    saved["cost"] = np.array([[5, 3, 3, 9]] * 3)
    saved["order"] = np.array([[1, 2, 0, 3]] * 3, np.int32)
    records = {"archived": archived, "archived_generation": 4, "best": 3, "best_generation": 9}
    for name, value in records.items():
        saved["island"][:, ISLAND.index(name)] = value
    islands.restore(saved, generation=0, migrations=0)
    found = [(each.best, each.best_generation) for each in islands.measure()]
    assert found == [(best, generation)] * 3


@pytest.mark.parametrize("run", [None, 0, 1])
def test_elite_orders_equal_individuals_by_island_and_place(
    backend: Backend, run: int | None
) -> None:
    runs = 1 if run is None else 2
    islands = archipelago(backend, runs)
    saved = islands.snapshot()
    saved["cost"] = np.array(COSTS * runs)
    saved["island"][:, ISLAND.index("archived")] = ARCHIVED * runs
    saved["archive"][:, :9] = [np.roll(np.arange(9), place) for place in range(3 * runs)]
    islands.restore(saved, generation=0, migrations=0)
    first = 3 * (run or 0)
    # Archives follow their island's population.
    everyone = sorted(
        (cost, first + island, place)
        for island, costs in enumerate(COSTS)
        for place, cost in enumerate([*costs, ARCHIVED[island]])
        if cost != NONE
    )
    for count in (1, 5, 100):
        found = islands.elite(count, run)
        assert [(each.cost, each.island) for each in found] == [
            (cost, island) for cost, island, _ in everyone[:count]
        ]
        for each, (_, island, place) in zip(found, everyone, strict=False):
            rows = [*saved["genes"][island], saved["archive"][island]]
            assert each.genome.tolist() == each.solution.tolist() == rows[place][:9].tolist()
