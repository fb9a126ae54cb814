"""Who is drawn and who enters where costs are equal, hardly differ, or are far apart."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy_migration import NumpyMigration
from numpy_streams import SELECT, words
from test_exchange import ELITE, POPULATION, SEED, archipelago_of, seen

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.migration.base import REPLACEMENTS


@pytest.mark.parametrize("most", [2, 2**61])
def test_the_wheel_knows_costs_that_hardly_differ_and_those_far_apart(
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


def of_equals(islands: Archipelago, cost: int) -> np.ndarray:
    """Let all individuals have the same cost, and return their keys."""
    saved = islands.snapshot()
    equal = np.full(saved["cost"].shape, cost)
    order = np.broadcast_to(np.arange(POPULATION, dtype=np.int32), equal.shape)
    islands.restore({**saved, "cost": equal, "order": order}, generation=0, migrations=0)
    return seen(islands)[1]


@pytest.mark.parametrize("cost", [0, 7, -7])
def test_of_equals_the_wheel_draws_all_as_likely(backend: Backend, cost: int) -> None:
    count, migrants = 40, 3
    islands = archipelago_of(
        backend, islands=count, topology="ring", selection="roulette", migrants=migrants
    )
    keys = of_equals(islands, cost)
    drawn = np.array([wheel_of_equals(island, migrants) for island in range(count)])
    seen_often = Counter(drawn.reshape(-1).tolist())
    assert all(0 < seen_often[each] < 15 for each in range(POPULATION))
    islands.migrate()
    # Of equals, the last ones are the worst: they make room, the last one for the first to come.
    after = seen(islands)[1]
    for island in range(count):
        came = keys[island - 1, drawn[island - 1]]
        assert np.array_equal(after[island, ::-1][:migrants], came)
        assert np.array_equal(after[island, :-migrants], keys[island, :-migrants])


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_migrant_as_good_enters_unless_it_has_to_be_better(
    backend: Backend, replacement: str
) -> None:
    islands = archipelago_of(backend, topology="ring", replacement=replacement)
    keys = of_equals(islands, 7)
    islands.migrate()
    islands.measure()
    came = islands.arrivals()
    assert came is not None
    enters = replacement != "if-better"
    assert came.accepted.tolist() == [enters] * 10
    # Those who leave are the first, as they count as the best.
    for island, rows in enumerate(seen(islands)[1]):
        changed = np.flatnonzero((rows != keys[island]).any(axis=1))
        assert len(changed) == (2 if enters else 0)
        assert sorted(map(tuple, rows[changed])) == sorted(
            map(tuple, keys[island - 1, : len(changed)])
        )


def wheel_of_equals(island: int, count: int) -> list[int]:
    """Return who is drawn, one after the other, each of those that are left as likely."""
    left, drawn = list(range(POPULATION)), list[int]()
    for k in range(count):
        high, low = words(2, SELECT, SEED, island, 0, k).tolist()
        drawn.append(left.pop((int(high) << 32 | int(low)) * len(left) >> 64))
    return drawn
