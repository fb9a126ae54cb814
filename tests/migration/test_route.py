from __future__ import annotations

import numpy as np
import pytest

from islands.migration.route import plan
from islands.migration.topology import NOBODY, TOPOLOGIES, Scene
from islands.parallel import deal


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize(("islands", "size"), [(1, 1), (8, 1), (8, 2), (8, 3), (9, 4), (30, 7)])
def test_each_needed_island_is_sent_once_to_each_rank(name: str, islands: int, size: int) -> None:
    """Copy island numbers between the ranks' buffers, as transports copy migrants."""
    dealt = [deal(islands, size, rank) for rank in range(size)]
    scene = Scene(islands, 5, 2)
    routes = [
        plan(lambda block: TOPOLOGIES[name].sources(scene, block), dealt, rank)
        for rank in range(size)
    ]
    buffers = [np.full(route.size, NOBODY) for route in routes]
    for mine, route, buffer in zip(dealt, routes, buffers, strict=True):
        buffer[: len(route.leaving)] = route.leaving + mine.start
    for rank, route in enumerate(routes):
        assert len({parcel.rank for parcel in route.sends}) == len(route.sends)
        for parcel in route.sends:
            (received,) = (each for each in routes[parcel.rank].receives if each.rank == rank)
            content = buffers[rank][parcel.first : parcel.last]
            buffers[parcel.rank][received.first : received.last] = content
            assert len(content) == len(set(content))
    for mine, route, buffer in zip(dealt, routes, buffers, strict=True):
        needed = TOPOLOGIES[name].sources(scene, mine)
        found = np.where(route.slots == NOBODY, NOBODY, buffer[route.slots] if route.size else 0)
        assert np.array_equal(found, needed)
        # Only needed islands are sent.
        assert set(buffer.tolist()) >= {int(each) for each in needed.flat if each != NOBODY}
        arrived = buffer[len(route.leaving) :]
        assert set(arrived) <= set(needed.flat)
        assert len(arrived) == len(set(arrived))
