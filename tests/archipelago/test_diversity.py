"""The diversity of islands, compared with NumPy, for each kind of genes."""

from typing import Any

import numpy as np
import pytest
from colonies_for_tests import begun
from eax_for_tests import placed
from numpy.typing import NDArray
from problems_for_tests import NUMBERS, facilities, flat, knapsack

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND, NONE
from islands.backends.base import Backend
from islands.problems.base import Problem


def random_tours(n: int) -> Problem:
    return placed(np.random.default_rng(n).integers(0, 1_000, (n, 2)))


CASES = {
    "permutation": (facilities(13), "cellular", "permutation", 20),
    "keys": (facilities(13), "brkga", "keys", 40),
    "bits": (knapsack(45, 3), "ga", "bits", 8),
    "many words": (knapsack(9_000, 1), "ga", "bits", 4),
    "vector": (NUMBERS["vector"](11), "de", "vector", 37),
    "tours": (random_tours(13), "cellular", "permutation", 20),
    "many cities": (random_tours(700), "ga", "permutation", 5),
    "keys of tours": (random_tours(13), "brkga", "keys", 20),
    "two individuals": (facilities(13), "brkga", "keys", 2),
}


def plain_distance_of_tours(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the share of the edges at up to 256 cities that only one of two tours has."""
    cities = range(len(one))
    if len(one) > 256:
        cities = [k * len(one) // 256 for k in range(256)]

    def neighbours(tour: NDArray[Any], city: int) -> set[int]:
        place = tour.tolist().index(city)
        return {int(tour[place - 1]), int(tour[(place + 1) % len(tour)])}

    kept = [len(neighbours(one, city) & neighbours(other, city)) for city in cities]
    return 1 - sum(kept) / (2 * len(cities))


def plain_distance(encoding: str, items: int, one: NDArray[Any], other: NDArray[Any]) -> float:
    genes = range(len(one))
    if len(one) > 256:
        genes = [k * len(one) // 256 for k in range(256)]
    if encoding == "bits":
        differing = sum((int(one[g]) ^ int(other[g])).bit_count() for g in genes)
        return differing / (items if len(one) <= 256 else 32 * 256)
    if encoding == "permutation":
        return sum(one[g] != other[g] for g in genes) / len(genes)
    steps = [int(min(1.0, abs(float(one[g]) - float(other[g]))) * 2**24) for g in genes]
    return sum(steps) / 2**24 / len(genes)


def archipelago(
    problem: Problem, algorithm: str, encoding: str, population: int, backend: Backend, **own: Any
) -> Archipelago:
    small = {"elite": 0.5, "mutants": 0.5} if algorithm == "brkga" and population == 2 else {}
    sizes = {"population": population, "islands": 3, "seed": 5}
    mine, _, _ = begun(
        algorithm, encoding, small | own, sizes=sizes, problem=problem, backend=backend
    )
    return mine


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_diversity_equals_numpy(backend: Backend, case: str) -> None:
    problem, algorithm, encoding, population = CASES[case]
    mine = archipelago(problem, algorithm, encoding, population, backend)
    mine.advance(3)
    saved, genes = mine.snapshot(), mine.populations()
    for island, measure in enumerate(mine.measure()):
        rows = backend.download(genes[island])
        cost = saved["cost"][island]
        order = np.argsort(cost, kind="stable")
        sample = min(16, population)
        chosen = [order[k * population // sample] for k in range(sample)]
        half = sample // 2
        wanted = np.mean(
            [
                plain_distance_of_tours(rows[one], rows[other])
                if (problem.name, encoding) == ("tsp", "permutation")
                else plain_distance(encoding, problem.size, rows[one], rows[other])
                for one, other in zip(chosen[:half], chosen[half : 2 * half], strict=True)
            ]
        )
        assert measure.distance == pytest.approx(wanted, rel=1e-12)
        assert measure.distinct == len(np.unique(cost)) / population


def test_the_same_tour_from_another_city_or_backwards_has_no_distance(backend: Backend) -> None:
    mine = archipelago(random_tours(300), "ga", "permutation", 4, backend)
    saved = mine.snapshot()
    tour = saved["genes"][0, 0, :300].copy()
    saved["genes"][..., :300] = [tour, np.roll(tour, 7), tour[::-1], np.roll(tour[::-1], 100)]
    saved["cost"][:] = saved["cost"][:, :1]
    mine.restore(saved, generation=0, migrations=0)
    found = [(measure.distance, measure.distinct) for measure in mine.measure()]
    assert found == [(0.0, 1 / 4)] * 3


COSTS = [[5, 3, 3, 9], [3, 7, 3, 5], [3, 3, 6, 2]]
ARCHIVED = [3, NONE, 2]


def test_elite_orders_equal_individuals_by_island_and_place(backend: Backend) -> None:
    islands = archipelago(flat(9, 720), "cellular", "permutation", 4, backend, neighbours=2)
    saved = islands.snapshot()
    saved["cost"] = np.array(COSTS)
    saved["island"][:, ISLAND.index("archived")] = ARCHIVED
    saved["archive"][:, :9] = [np.roll(np.arange(9), place) for place in range(3)]
    islands.restore(saved, generation=0, migrations=0)
    # Archives follow their island's population.
    everyone = sorted(
        (cost, island, place)
        for island, costs in enumerate(COSTS)
        for place, cost in enumerate([*costs, ARCHIVED[island]])
        if cost != NONE
    )
    for count in (1, 5, 100):
        found = islands.elite(count)
        assert [(each.cost, each.island) for each in found] == [
            (cost, island) for cost, island, _ in everyone[:count]
        ]
        for each, (_, island, place) in zip(found, everyone, strict=False):
            rows = [*saved["genes"][island], saved["archive"][island]]
            assert each.genome.tolist() == each.solution.tolist() == rows[place][:9].tolist()
