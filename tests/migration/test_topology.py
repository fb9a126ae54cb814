"""Topologies: the sources of each island, and the routes between ranks."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_exchange import assert_migrates

from islands.backends.base import Backend
from islands.migration.route import Planner, Route, plan
from islands.migration.topology import KIND, NOBODY, TOPOLOGIES, Scene, Topology, _BuiltIn
from islands.parallel import Deal

SIZES = [1, 2, 3, 4, 7, 8, 9, 16, 30]


def senders(name: str, islands: int, seed: int = 3, epoch: int = 1) -> list[list[int]]:
    """Return the islands that each island receives from."""
    rows = TOPOLOGIES[name].sources(Scene(islands, seed, epoch), range(islands))
    return [[int(each) for each in row if each != NOBODY] for row in rows]


@pytest.mark.parametrize("islands", SIZES)
def test_each_topology_connects_the_documented_islands(islands: int) -> None:
    every = range(islands)
    across = int(islands**0.5)
    expected = {
        "ring": [{(i - 1) % islands} for i in every],
        "elite": [set(every) for _ in every],
        "torus": [{(i + step) % islands for step in (1, -1, across, -across)} for i in every],
        "hypercube": [{j for j in every if (i ^ j).bit_count() == 1} for i in every],
        "none": [set[int]() for _ in every],
    }
    for name, rows in expected.items():
        assert senders(name, islands) == [sorted(row - {i}) for i, row in enumerate(rows)], name


@pytest.mark.parametrize("islands", [2, 3, 8, 31])
def test_a_random_topology_is_one_ring_through_all(islands: int) -> None:
    rows = senders("random", islands)
    seen, island = [], 0
    for _ in range(islands):
        seen.append(island)
        (island,) = rows[island]
    assert island == 0
    assert sorted(seen) == list(range(islands))


@pytest.mark.parametrize("islands", [2, 3, 8, 31])
def test_a_broadcast_has_one_sender_that_receives_nothing(islands: int) -> None:
    rows = senders("broadcast", islands)
    (sender,) = {source for row in rows for source in row}
    assert rows == [[] if island == sender else [sender] for island in range(islands)]


def test_random_topologies_depend_on_number_and_seed_and_reach_every_island() -> None:
    for name in ("broadcast", "random"):
        epochs = [senders(name, 8, 1, epoch) for epoch in range(1, 200)]
        assert epochs != [senders(name, 8, 2, epoch) for epoch in range(1, 200)]
        received = np.zeros((8, 8), int)
        for rows in epochs:
            for island, row in enumerate(rows):
                received[island, row] += 1
        # 199 draws among seven or eight: 25 to 28 each, plus or minus four standard deviations.
        others = received[~np.eye(8, dtype=bool)]
        assert others.min() > 5
        assert others.max() < 50


def test_random_topologies_never_change() -> None:
    # The results of runs depend on these numbers.
    drawn = [senders("broadcast", 8, 3, epoch).index([]) for epoch in (1, 2)]
    assert drawn == [4, 1]
    assert senders("random", 8, 3, 1) == [[6], [4], [7], [1], [2], [3], [5], [0]]


# Eight islands send to all others, each to several of them.
EIGHT = _BuiltIn(lambda scene, mine: (mine + scene.number) % min(8, scene.islands), changes=True)


@pytest.mark.parametrize("name", ["broadcast", "random", "eight"])
@pytest.mark.parametrize(
    ("islands", "ranks"), [(4, 2), (12, 3), (32, 4), (32, 32), (60, 6), (2, 7), (16, 16)]
)
@pytest.mark.parametrize("shares_all", [False, True])
def test_the_reserved_slots_suffice_on_each_rank(
    name: str, islands: int, ranks: int, shares_all: bool
) -> None:
    topology = TOPOLOGIES.get(name, EIGHT)
    assert topology.changes
    deal = Deal(islands, ranks, shares_all)
    for rank in {0, 1, ranks // 2, ranks - 1}:
        world: Any = SimpleNamespace(rank=rank, size=ranks)
        planner = Planner(topology, world, deal, seed=3)
        for number in range(1, 20):
            route = planner.route(number)
            assert route.size <= planner.most_slots(route)


def some(island: int, islands: int, number: int, seed: int) -> list[int]:
    """Return random other islands for each island and migration, possibly none or all."""
    draw = random.Random(f"{island} {number} {seed}")
    others = [each for each in range(islands) if each != island]
    return draw.sample(others, draw.randrange(islands))


@pytest.mark.parametrize("delay", [0, 1])
def test_migrants_travel_by_the_function(backend: Backend, delay: int) -> None:
    assert KIND.name_of(Topology("some", some)) == "some"
    settings = {"selection": "best", "replacement": "worst", "duplicates": "reject"}
    assert_migrates(backend, {"topology": "some", "delay": delay, **settings})


@pytest.mark.parametrize(
    ("most", "changes", "degree"), [(None, True, 7), (2, True, 2), (None, False, 1), (9, True, 7)]
)
def test_widest_is_the_largest_number_of_senders(
    most: int | None, changes: bool, degree: int
) -> None:
    topology = Topology("mine", _ring, most=most, changes=changes)
    assert topology.widest(8, 1) == degree


def _ring(island: int, islands: int, number: int, seed: int) -> list[int]:
    return [(island - 1) % islands]


DEALS = [
    *(Deal(*each) for each in [(1, 1), (8, 1), (8, 2), (8, 3), (9, 4), (30, 7)]),
    # More ranks than islands, and islands that all ranks share.
    *(Deal(*each) for each in [(1, 3), (2, 3), (3, 8), (5, 12), (9, 10)]),
    *(Deal(*each, shares_all=True) for each in [(1, 4), (2, 2), (3, 5), (9, 8), (7, 17), (20, 11)]),
]


def carried(deal: Deal, routes: list[Route]) -> list[np.ndarray]:
    """Copy island numbers between the ranks' buffers, as transports copy migrants."""
    buffers = [np.full(route.size, NOBODY) for route in routes]
    for rank, (route, buffer) in enumerate(zip(routes, buffers, strict=True)):
        buffer[: len(route.leaving)] = route.leaving + deal.held(rank).start
    for rank, route in enumerate(routes):
        assert len({parcel.rank for parcel in route.sends}) == len(route.sends)
        for parcel in route.sends:
            (received,) = (each for each in routes[parcel.rank].receives if each.rank == rank)
            content = buffers[rank][parcel.first : parcel.last]
            buffers[parcel.rank][received.first : received.last] = content
            assert len(content) == len(set(content))
            # Only one rank of a team sends the migrants of its islands.
            assert {deal.sender(island) for island in content.tolist()} == {rank}
        assert len(route.receives) == sum(
            parcel.rank == rank for other in routes for parcel in other.sends
        )
    return buffers


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("deal", DEALS, ids=str)
def test_each_rank_gets_each_needed_island_once(name: str, deal: Deal) -> None:
    scene = Scene(deal.islands, 5, 2)
    routes = [
        plan(lambda block: TOPOLOGIES[name].sources(scene, block), deal, rank)
        for rank in range(deal.ranks)
    ]
    buffers = carried(deal, routes)
    for rank, (route, buffer) in enumerate(zip(routes, buffers, strict=True)):
        needed = TOPOLOGIES[name].sources(scene, deal.held(rank))
        found = np.where(route.slots == NOBODY, NOBODY, buffer[route.slots] if route.size else 0)
        assert np.array_equal(found, needed)
        # Only needed islands are sent.
        assert set(buffer.tolist()) >= {int(each) for each in needed.flat if each != NOBODY}
        arrived = buffer[len(route.leaving) :]
        assert set(arrived) <= set(needed.flat)
        assert len(arrived) == len(set(arrived))
        # A rank that has an island needs no message for its migrants.
        assert not set(arrived.tolist()) & set(deal.held(rank))
