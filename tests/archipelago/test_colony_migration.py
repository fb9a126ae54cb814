"""Migration between colonies of different algorithms and encodings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import FREE, KEYS, ORDERS, made, require_exact
from eax_for_tests import weights
from problems_for_tests import facilities, knapsack

from islands.backends.base import Backend
from islands.errors import UsageError
from islands.parallel import World
from islands.problems.base import Problem
from islands.testing.ranks import on_ranks

PAIRS: dict[str, tuple[Callable[[], Problem], tuple[str, ...]]] = {
    "keys, permutation": (lambda: facilities(9), (KEYS, ORDERS)),
    "permutation, keys": (lambda: facilities(9), (ORDERS, KEYS)),
    "limited and free keys": (lambda: facilities(9), (KEYS, FREE)),
    "three colonies": (lambda: facilities(9), (FREE, ORDERS, KEYS)),
    "bits, keys of a subset": (
        lambda: knapsack(40, 3),
        (
            "islands=2 algorithm=ga encoding=bits population=16",
            "islands=3 algorithm=pso encoding=keys population=12",
        ),
    ),
}
MIXES: dict[str, tuple[Callable[[], Problem], tuple[str, ...]]] = {
    "assignment": (
        lambda: facilities(9),
        (
            "islands=2 algorithm=tempering population=8 sweeps=4",
            "islands=2 algorithm=memetic population=12",
            "islands=3 algorithm=cellular encoding=permutation population=9 rate=3",
        ),
    ),
    "subset": (
        lambda: knapsack(40, 3),
        (
            "islands=2 algorithm=pso encoding=bits population=12",
            "islands=2 algorithm=cellular encoding=bits population=9",
            "islands=3 algorithm=brkga population=20",
        ),
    ),
    "tour": (
        lambda: weights(12),
        (
            "islands=2 algorithm=eax population=10",
            "islands=2 algorithm=memetic population=12",
            "islands=3 algorithm=de population=12",
        ),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("topology", ["ring", "elite", "random"])
def test_migrants_keep_their_cost_in_another_encoding(
    backend: Backend, pair: str, topology: str
) -> None:
    make, colonies = PAIRS[pair]
    problem = make()
    islands = made(problem, *colonies, backend=backend, migration=topology, migrants=1)
    islands.start()
    crossed = 0
    for _ in range(5):
        islands.advance(2)
        bests = {each.island: each.cost for each in islands.elite(10_000)[::-1]}
        islands.migrate()
        assert require_exact(islands, problem) > 0
        islands.measure()
        arrivals = islands.arrivals()
        assert arrivals is not None
        # The best of each island emigrates.
        marked = 2 if problem.scale.marks else 1
        sent = [bests[source] * marked for source in arrivals.source.tolist()]
        assert arrivals.cost.tolist() == sent
        crosses = arrivals.colonies(arrivals.source) != arrivals.colonies(arrivals.target)
        crossed += int((crosses & arrivals.accepted).sum())
    assert crossed > 0


def test_individuals_keep_fields_that_a_migrant_of_another_colony_lacks(
    backend: Backend,
) -> None:
    problem = facilities(9)
    islands = made(problem, FREE, "islands=1 algorithm=pso population=12", backend=backend)
    islands.start()
    islands.advance(3)
    before = islands.snapshot()
    for seed, name in enumerate(("0.weight", "0.crossover")):
        drawn = np.random.default_rng(seed).random(before[name].shape)
        before[name] = drawn.astype(np.float32)
    islands.restore(before, generation=3, migrations=0)
    islands.migrate()
    after = islands.snapshot()
    # Island 0 receives from the swarm: its worst individuals are replaced, but not their rates.
    replaced = before["0.cost"][0] != after["0.cost"][0]
    assert replaced.any()
    for name in ("0.weight", "0.crossover"):
        assert np.array_equal(before[name][0], after[name][0])
        # Island 1 receives from island 0 of its own colony, with the rates.
        moved = before[name][1] != after[name][1]
        assert moved.any()
        assert set(after[name][1][moved]) <= set(before[name][0])


@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize("topology", ["ring", "torus", "broadcast"])
def test_ranks_with_parts_of_colonies_give_the_same_result(topology: str, delay: int) -> None:
    options = {"migration": topology, "migration.delay": delay, "migration.duplicates": "refuse"}
    require_same_on_ranks(facilities(9), (KEYS, f"{ORDERS} rate=2"), options)


@pytest.mark.parametrize("mix", MIXES)
def test_all_algorithms_may_be_mixed(mix: str) -> None:
    make, colonies = MIXES[mix]
    require_same_on_ranks(make(), colonies, {"migration": "random", "migration.delay": 1})


def require_same_on_ranks(
    problem: Problem, colonies: Sequence[str], options: dict[str, Any]
) -> None:
    """Compare digests and arrivals of several ranks with those of one; require exact costs."""

    def one(ranks: World) -> tuple[list[tuple[int, str]], list[list[int]]]:
        islands = made(problem, *colonies, ranks=ranks, **options)
        islands.start()
        rows: list[list[int]] = []
        for _ in range(4):
            islands.advance(2)
            islands.migrate()
            islands.measure()
            assert require_exact(islands, problem) > 0
            if (arrivals := islands.arrivals()) is not None:
                columns = (arrivals.source, arrivals.target, arrivals.cost, arrivals.accepted)
                rows += np.stack(columns, axis=1).tolist()
        return islands.digests(), rows

    def together(size: int) -> tuple[list[tuple[int, str]], list[list[int]]]:
        found = on_ranks(size, one)
        rows = sorted(row for _, own in found for row in own)
        return [pair for own, _ in found for pair in own], rows

    alone = together(1)
    assert alone[1], "nobody migrated"
    for size in (2, 3, 5):
        assert together(size) == alone


def test_a_population_too_small_for_the_migrants_is_refused_with_its_colony() -> None:
    message = "^colony 1: migration elite brings up to 4 migrants to one of 5 islands"
    with pytest.raises(UsageError, match=message):
        made(
            facilities(9), KEYS, "islands=3 algorithm=ga population=4",
            migration="elite", migrants=1,
        )  # fmt: skip


def test_random_replacement_spares_the_elite_of_each_colony(backend: Backend) -> None:
    problem = facilities(9)
    sends = "islands=1 algorithm=ga encoding=permutation population=20"
    options = {"migration.replacement": "random", "migrants": 16}
    islands = made(problem, KEYS, sends, backend=backend, **options)
    islands.start()
    for _ in range(6):
        islands.advance(1)
        before = np.sort(islands.snapshot()["0.cost"][0])[:4]
        islands.migrate()
        after = np.sort(islands.snapshot()["0.cost"][0])
        # Island 0 receives 16 migrants for its 20 individuals, of which 4 are elite.
        assert set(before) <= set(after)
