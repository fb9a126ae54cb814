"""Selection and replacement if costs are equal, almost equal, or very different."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy_islands import SELECT, words
from numpy_migration import NumpyMigration
from test_exchange import ELITE, POPULATION, SEED, archipelago_of, seen

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.migration.settings import REPLACEMENTS


@pytest.mark.parametrize("most", [2, 2**61])
def test_roulette_works_with_small_and_large_differences_of_cost(
    backend: Backend, most: int
) -> None:
    islands = archipelago_of(backend, topology="ring", selection="roulette", migrants=3)
    saved = islands.snapshot()
    drawn = np.sort(np.random.default_rng(4).integers(-most, most, (5, POPULATION)), axis=1)
    order = np.broadcast_to(np.arange(POPULATION, dtype=np.int32), (5, POPULATION))
    islands.restore({**saved, "cost": drawn, "order": order}, generation=0, migrations=0)
    reference = NumpyMigration(
        topology="ring", migrants=3, selection="roulette", replacement="worst",
        duplicates="accept", delay=0, seed=SEED, fixed=ELITE,
    )  # fmt: skip
    cost, keys = drawn.copy(), saved["genes"][:, :, :21].copy()
    reference.migrate(cost, keys, 0)
    islands.migrate()
    assert np.array_equal(seen(islands)[0], cost)
    assert np.array_equal(seen(islands)[1], keys)


def set_equal_costs(islands: Archipelago, cost: int) -> np.ndarray:
    """Give all individuals the same cost, and return their keys."""
    saved = islands.snapshot()
    equal = np.full(saved["cost"].shape, cost)
    order = np.broadcast_to(np.arange(POPULATION, dtype=np.int32), equal.shape)
    islands.restore({**saved, "cost": equal, "order": order}, generation=0, migrations=0)
    return seen(islands)[1]


@pytest.mark.parametrize("cost", [0, 7, -7])
def test_roulette_draws_equal_individuals_with_equal_probability(
    backend: Backend, cost: int
) -> None:
    count, migrants = 40, 3
    islands = archipelago_of(
        backend, islands=count, topology="ring", selection="roulette", migrants=migrants
    )
    keys = set_equal_costs(islands, cost)
    drawn = np.array([roulette_of_equals(island, migrants) for island in range(count)])
    counts = Counter(drawn.reshape(-1).tolist())
    assert all(0 < counts[each] < 15 for each in range(POPULATION))
    islands.migrate()
    # Equal individuals are replaced from the last one on: the first migrant replaces the last.
    after = seen(islands)[1]
    for island in range(count):
        expected = keys[island - 1, drawn[island - 1]]
        assert np.array_equal(after[island, ::-1][:migrants], expected)
        assert np.array_equal(after[island, :-migrants], keys[island, :-migrants])


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_an_equal_migrant_is_accepted_unless_it_has_to_be_better(
    backend: Backend, replacement: str
) -> None:
    islands = archipelago_of(backend, topology="ring", replacement=replacement)
    keys = set_equal_costs(islands, 7)
    islands.migrate()
    islands.measure()
    arrivals = islands.arrivals()
    assert arrivals is not None
    is_accepted = replacement != "if-better"
    assert arrivals.accepted.tolist() == [is_accepted] * 10
    # The first individuals count as the best, so they emigrate.
    for island, rows in enumerate(seen(islands)[1]):
        changed = np.flatnonzero((rows != keys[island]).any(axis=1))
        assert len(changed) == (2 if is_accepted else 0)
        assert sorted(map(tuple, rows[changed])) == sorted(
            map(tuple, keys[island - 1, : len(changed)])
        )


def roulette_of_equals(island: int, count: int) -> list[int]:
    """Return the drawn individuals; each of those left has the same probability."""
    left, drawn = list(range(POPULATION)), list[int]()
    for k in range(count):
        high, low = words(2, SELECT, SEED, island, 0, k).tolist()
        drawn.append(left.pop((int(high) << 32 | int(low)) * len(left) >> 64))
    return drawn
