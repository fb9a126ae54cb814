"""Selection and replacement if costs are equal, almost equal, or very different."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy_islands import SELECT, words
from numpy_migration import NumpyMigration
from test_exchange import ELITE, POPULATION, SEED, archipelago_of, assert_migrates, seen

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.migration.settings import REPLACEMENTS

ROULETTE = {"topology": "ring", "selection": "roulette", "replacement": "worst"}
ROULETTE |= {"duplicates": "accept"}


@pytest.mark.parametrize("side", [1, 2, 10**9])
def test_a_roulette_wheel_of_equal_or_very_different_costs_equals_the_reference(
    backend: Backend, side: int
) -> None:
    costs = seen(archipelago_of(backend, side=side, **ROULETTE))[0]
    assert (np.ptp(costs, axis=1) > 1 << 31).all() == (side == 10**9)
    assert (np.ptp(costs) == 0) == (side == 1)
    assert_migrates(backend, {**ROULETTE, "delay": 0}, side=side)


def test_the_weights_of_the_largest_costs_do_not_overflow(backend: Backend) -> None:
    islands = archipelago_of(backend, **ROULETTE)
    saved = islands.snapshot()
    # All but the worst are far better than that, so that the sum of the advantages has 67 bits.
    saved["cost"] = np.random.default_rng(1).integers(-(2**62), -(2**61), saved["cost"].shape)
    saved["cost"][:, 0] = 2**62
    saved["order"] = np.argsort(saved["cost"], axis=1, kind="stable").astype(np.int32)
    islands.restore(saved, generation=0, migrations=0)
    reference = NumpyMigration(migrants=2, seed=SEED, fixed=ELITE, delay=0, **ROULETTE)
    cost, keys = seen(islands)
    reference.migrate(cost, keys, 0)
    islands.migrate()
    after = seen(islands)
    assert np.array_equal(after[0], cost)
    assert np.array_equal(after[1], keys)


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
