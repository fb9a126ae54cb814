"""Of equally good individuals, the lowest index and the earliest found are kept."""

from dataclasses import replace

import numpy as np
import pytest
from numpy_ga import DANTAS, both
from problems_for_tests import flat, knapsack

from islands.archipelago.measure import ISLAND, NONE
from islands.backends.base import Backend
from islands.problems.mkp import Mkp, MkpSettings

BEST, BEST_SINCE, ARCHIVED, SINCE = (
    ISLAND.index(name) for name in ("best", "best_generation", "archived", "archived_generation")
)


def test_the_earliest_best_is_kept(backend: Backend) -> None:
    mine, _ = both(backend, flat(9, 720), "permutation", **DANTAS | {"crossover": "pmx"})
    first = mine.snapshot()["genes"][:, 0]
    mine.advance(5)
    saved = mine.snapshot()
    assert not (saved["genes"][:, 0] == first).all()
    assert (saved["archive"] == first).all()
    assert (
        saved["island"][:, [BEST, BEST_SINCE, ARCHIVED, SINCE]].tolist() == [[720, 0, 720, 0]] * 2
    )
    assert (saved["order"] == np.arange(12)).all()


@pytest.mark.parametrize("changes", [DANTAS, {}], ids=["generational", "steady"])
def test_the_earliest_feasible_best_is_kept(backend: Backend, changes: dict[str, str]) -> None:
    file = knapsack(10, 2).file
    problem = Mkp(replace(file, profits=np.full(10, 7)), "equal").adjusted(
        MkpSettings(infeasible="linear", penalty=0.001)
    )
    # Infeasible subsets lead, so that the best of all differs from the best feasible one.
    mine, _ = both(backend, problem, **changes, population=30)
    kept: list[tuple[int, int, list[int]]] = [(NONE, 0, [])] * 2
    ties = 0
    for generation in range(9):
        saved = mine.snapshot()
        for island in range(2):
            rows = np.concatenate([saved["genes"][island], saved["offered"][island]]).tolist()
            costs = np.concatenate([saved["cost"][island], saved["offered_cost"][island]]).tolist()
            feasible = [(cost, place) for place, cost in enumerate(costs) if cost % 2 == 0]
            cost, place = min(feasible, default=(NONE, 0))
            ties += [each for each, _ in feasible].count(cost) > 1
            if cost < kept[island][0]:
                kept[island] = cost, generation, rows[place]
            record = saved["island"][island]
            found = int(record[ARCHIVED]), int(record[SINCE]), saved["archive"][island].tolist()
            assert found == kept[island]
        mine.advance(1)
    assert ties > 9
