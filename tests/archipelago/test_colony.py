"""Colonies of one archipelago: evolution, checkpoints, and migration between encodings."""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import FREE, KEYS, ORDERS, evolved, made, require_exact, resolved_of
from eax_for_tests import weights
from problems_for_tests import cities, facilities, knapsack

from islands.backends import choose
from islands.backends.base import Backend
from islands.engine.build import islands_of
from islands.parallel import World
from islands.problems.base import Problem


@pytest.mark.parametrize(
    "migration",
    [
        {"migration.delay": 1, "migration.duplicates": "reject"},
        {"migration.replacement": "random", "migration.selection": "roulette"},
    ],
)
def test_equal_colonies_give_the_digests_of_a_run_without_colonies(
    backend: Backend, migration: dict[str, Any]
) -> None:
    problem = facilities(9)
    same = "algorithm=de population=12 adaptation=jde"
    parts = made(problem, f"islands=2 {same}", f"islands=3 {same}", backend=backend, **migration)
    whole = made(
        problem, backend=backend, islands=5, algorithm="de", population=12, adaptation="jde",
        **migration,
    )  # fmt: skip
    assert evolved(parts).digests() == evolved(whole).digests()
    assert [each.best for each in parts.measure()] == [each.best for each in whole.measure()]


def test_a_rate_means_that_many_generations_for_one_of_the_run(backend: Backend) -> None:
    rate = 3
    problem = facilities(9)
    fast = made(problem, KEYS, f"{ORDERS} rate={rate}", backend=backend, migration="none")
    slow = made(problem, KEYS, ORDERS, backend=backend, migration="none")
    fast.start()
    slow.start()
    fast.advance(4)
    fast.advance(1)
    slow.advance(5 * rate)
    assert fast.generation == 5
    assert fast.digests()[2:] == slow.digests()[2:]
    for quick, plain in zip(fast.measure()[2:], slow.measure()[2:], strict=True):
        assert quick.best == plain.best
        assert (plain.best_generation + rate - 1) // rate == quick.best_generation
        assert (quick.colony, quick.evaluations) == (1, plain.evaluations)


def test_solutions_of_a_warm_start_are_dealt_to_all_colonies() -> None:
    problem = cities(9)
    orders = [np.random.default_rng(seed).permutation(9) for seed in range(5)]
    resolved = resolved_of(problem, KEYS, ORDERS)
    islands = islands_of(resolved, World(), choose("cpu", 1), warm_start=lambda: orders)
    islands.start()
    require_exact(islands, problem)
    saved = islands.snapshot()
    for island, order in enumerate(orders):
        number, first = (0, 0) if island < 2 else (1, 2)
        genome = saved[f"{number}.genes"][island - first, :1]
        assert islands._encodings[number].decode(genome)[0].tolist() == order.tolist()


PAIRS: dict[str, tuple[Callable[[], Problem], tuple[str, ...]]] = {
    "limited and free keys": (lambda: facilities(9), (KEYS, FREE)),
    "three colonies": (lambda: facilities(9), (FREE, ORDERS, KEYS)),
    "bits, keys of a subset": (
        lambda: knapsack(40, 3),
        (
            "islands=2 algorithm=ga encoding=bits population=16",
            "islands=3 algorithm=pso encoding=keys population=12",
        ),
    ),
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "topology"), [*zip(PAIRS, cycle(("ring", "elite", "random")), strict=False)]
)
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
        # The best of each island emigrates; of tempering, it is one of the replicas.
        marked = 2 if problem.scale.marks else 1
        sent = [bests[source] * marked for source in arrivals.source.tolist()]
        assert arrivals.cost.tolist() == sent or "tempering" in colonies[0]
        crosses = arrivals.colonies(arrivals.source) != arrivals.colonies(arrivals.target)
        crossed += int((crosses & arrivals.accepted).sum())
    assert crossed > 0


def test_individuals_keep_fields_that_a_migrant_of_another_colony_lacks(backend: Backend) -> None:
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
