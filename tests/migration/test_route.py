from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from islands.migration.route import Planner, Route, plan
from islands.migration.topology import NOBODY, TOPOLOGIES, Scene
from islands.parallel import Deal

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


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("deal", [each for each in DEALS if each.islands % 3 == 0], ids=str)
def test_no_migrant_leaves_its_run(name: str, deal: Deal) -> None:
    runs, size = 3, deal.islands // 3
    planners = [
        Planner(TOPOLOGIES[name], world_of(deal, rank), deal, runs=runs, seed=4)
        for rank in range(deal.ranks)
    ]
    for number in (1, 2):
        routes = [planner.route(number) for planner in planners]
        for rank, buffer in enumerate(carried(deal, routes)):
            sources = routes[rank].sources
            for island, row in zip(deal.held(rank), sources, strict=True):
                run = island // size
                scene = Scene(size, 4 + run, number)
                (alone,) = TOPOLOGIES[name].sources(scene, range(island % size, island % size + 1))
                expected = [each + run * size for each in alone.tolist() if each != NOBODY]
                assert [each for each in row.tolist() if each != NOBODY] == expected
            assert set(buffer.tolist()) >= {int(each) for each in sources.flat if each != NOBODY}


def world_of(deal: Deal, rank: int) -> Any:
    return SimpleNamespace(rank=rank, size=deal.ranks)
