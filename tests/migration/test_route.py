from __future__ import annotations

import numpy as np
import pytest

from islands.migration.route import plan
from islands.migration.topology import NOBODY, TOPOLOGIES, Scene
from islands.parallel import deal


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize(("islands", "size"), [(1, 1), (8, 1), (8, 2), (8, 3), (9, 4), (30, 7)])
def test_what_is_sent_is_what_is_needed_once(name: str, islands: int, size: int) -> None:
    """Carry numbers of islands through all ranks' buffers, as the transports carry migrants."""
    dealt = [deal(islands, size, rank) for rank in range(size)]
    scene = Scene(islands, 5, 2)
    routes = [
        plan(lambda them: TOPOLOGIES[name].sources(scene, them), dealt, rank)
        for rank in range(size)
    ]
    buffers = [np.full(route.size, NOBODY) for route in routes]
    for mine, route, buffer in zip(dealt, routes, buffers, strict=True):
        buffer[: len(route.leaving)] = route.leaving + mine.start
    for rank, route in enumerate(routes):
        assert len({parcel.rank for parcel in route.sends}) == len(route.sends)
        for parcel in route.sends:
            (there,) = (each for each in routes[parcel.rank].receives if each.rank == rank)
            content = buffers[rank][parcel.first : parcel.last]
            buffers[parcel.rank][there.first : there.last] = content
            assert len(content) == len(set(content))
    for mine, route, buffer in zip(dealt, routes, buffers, strict=True):
        needed = TOPOLOGIES[name].sources(scene, mine)
        found = np.where(route.slots == NOBODY, NOBODY, buffer[route.slots] if route.size else 0)
        assert np.array_equal(found, needed)
        # Nothing travels that nobody needs.
        assert set(buffer.tolist()) >= {int(each) for each in needed.flat if each != NOBODY}
        arrived = buffer[len(route.leaving) :]
        assert set(arrived) <= set(needed.flat)
        assert len(arrived) == len(set(arrived))
