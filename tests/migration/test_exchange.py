"""Migrations of all kinds compared with NumPy, also of costs that are equal or very different."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import in_teams, one_colony
from numpy_islands import SELECT, words
from numpy_migration import NumpyMigration
from starts_for_tests import FAR, shift
from synthetic import uniform_tsp

from islands.algorithms.brkga import BrkgaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.migration import TOPOLOGIES, MigrationSettings
from islands.migration.settings import DUPLICATES, REPLACEMENTS, SELECTIONS
from islands.parallel import World
from islands.problems.tsp import Tsp

POPULATION, ELITE, SEED = 24, 4, 6
SENDING = [name for name in TOPOLOGIES if name != "none"]


def archipelago_of(
    backend: Backend,
    *,
    islands: int = 5,
    cities: int = 21,
    ranks: World | None = None,
    population: int = POPULATION,
    asynchronous: bool = False,
    side: int = 1_000_000,
    **migration: Any,
) -> Archipelago:
    ranks = ranks or World()
    made = one_colony(
        problem=Tsp(uniform_tsp(cities, seed=1, side=side)), algorithm="brkga", encoding="keys",
        settings=BrkgaSettings.build({"elite": ELITE / population}), population=population,
        islands=islands, seed=SEED, migration=MigrationSettings.build({"migrants": 2, **migration}),
        backend=backend, ranks=in_teams(ranks, backend, islands, asynchronous=asynchronous),
    )  # fmt: skip
    made.start()
    return made


def seen(archipelago: Archipelago) -> tuple[np.ndarray, np.ndarray]:
    saved = archipelago.snapshot()
    return saved["cost"], saved["genes"][:, :, : archipelago._encodings[0].size]


CHOICES = [
    *itertools.product(SENDING, ["best"], ["worst"], ["accept"], [0]),
    *itertools.product(["ring", "random"], ["best"], ["worst"], DUPLICATES, [1]),
    *itertools.product(["elite"], SELECTIONS, REPLACEMENTS, DUPLICATES, [0]),
    *itertools.product(["torus"], ["roulette"], ["random"], ["reject"], [1]),
]


def assert_migrates(
    backend: Backend, settings: dict[str, Any], late: int = 0, side: int = 1_000_000
) -> int:
    """Compare migrations with NumPy after `late` generations; return the number rejected."""
    islands = archipelago_of(backend, side=side, **settings)
    shift(islands, late)
    # The second and third migrations follow at once, and bring individuals that exist already.
    reference = NumpyMigration(migrants=2, seed=SEED, fixed=ELITE, **settings)
    reference.number, delay = late, settings["delay"]
    rejected = 0
    for generations in (3, 0, 0, 4):
        islands.advance(generations)
        cost, keys = seen(islands)
        expected = reference.migrate(cost, keys, islands.generation)
        islands.migrate()
        after = seen(islands)
        assert np.array_equal(after[0], cost)
        assert np.array_equal(after[1], keys)
        islands.measure()
        arrivals = islands.arrivals()
        rows = [(each.source, each.target, each.cost, each.accepted) for each in expected]
        if arrivals is None:
            assert rows == []
            continue
        columns = (arrivals.source, arrivals.target, arrivals.cost, arrivals.accepted)
        found = zip(*columns, strict=True)
        assert [tuple(np.array(row).tolist()) for row in found] == [
            tuple(np.array(row).tolist()) for row in rows
        ]
        assert arrivals.number == reference.number - delay
        rejected += sum(not row[3] for row in rows)
    assert islands.migrations == late + 4
    return rejected


@pytest.mark.parametrize(
    ("topology", "selection", "replacement", "duplicates", "delay"), dict.fromkeys(CHOICES)
)
def test_migration_equals_the_numpy_reference(
    backend: Backend, topology: str, selection: str, replacement: str, duplicates: str, delay: int
) -> None:
    settings = {"topology": topology, "selection": selection, "replacement": replacement}
    settings |= {"duplicates": duplicates, "delay": delay}
    rejected = assert_migrates(backend, settings)
    if replacement != "if-better":
        assert (rejected > 0) == (duplicates == "reject")


@pytest.mark.parametrize("selection", ["random", "roulette"])
def test_migration_equals_the_reference_after_2_32_generations(
    backend: Backend, selection: str
) -> None:
    settings = {"topology": "random", "selection": selection, "replacement": "random"}
    for late in (FAR - 4, 3 * FAR):
        assert_migrates(backend, {**settings, "duplicates": "accept", "delay": 0}, late)


def test_islands_are_sorted_after_a_migration(backend: Backend) -> None:
    islands = archipelago_of(backend, topology="ring", replacement="random")
    islands.migrate()
    saved = islands.snapshot()
    for order, cost in zip(saved["order"], saved["cost"], strict=True):
        assert order.tolist() == np.argsort(cost, kind="stable").tolist()
    assert [measure.best for measure in islands.measure()] == saved["cost"].min(axis=1).tolist()


def test_one_island_or_no_topology_means_no_migration(backend: Backend) -> None:
    for settings in ({"islands": 1, "topology": "ring"}, {"islands": 3, "topology": "none"}):
        islands = archipelago_of(backend, **settings)
        before = islands.digests()
        islands.migrate()
        assert islands.digests() == before
        assert islands.transport == "none"
        assert islands.arrivals() is None


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
