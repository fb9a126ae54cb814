from __future__ import annotations

import pytest

from islands.migration import TOPOLOGIES


@pytest.mark.parametrize("islands", [1, 2, 3, 8])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_sources_are_other_islands_ascending_and_as_many_for_all(name: str, islands: int) -> None:
    degrees = set()
    for island in range(islands):
        sources = TOPOLOGIES[name](island, islands)
        degrees.add(len(sources))
        assert sources == sorted(set(sources) - {island})
        assert all(0 <= source < islands for source in sources)
    assert len(degrees) == 1


def test_who_sends_to_whom() -> None:
    assert [TOPOLOGIES["ring"](island, 4) for island in range(4)] == [[3], [0], [1], [2]]
    assert TOPOLOGIES["elite"](1, 4) == [0, 2, 3]
    assert TOPOLOGIES["none"](1, 4) == []
    assert TOPOLOGIES["ring"](0, 1) == TOPOLOGIES["elite"](0, 1) == []
