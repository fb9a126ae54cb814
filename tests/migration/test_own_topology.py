from __future__ import annotations

import random
from typing import Any

import pytest
from test_exchange import assert_migrates

from islands.backends.base import Backend
from islands.errors import IslandsError
from islands.migration.topology import KIND, Scene, Topology


def some(island: int, islands: int, number: int, seed: int) -> list[int]:
    """Return random other islands for each island and migration, possibly none or all."""
    draw = random.Random(f"{island} {number} {seed}")
    others = [each for each in range(islands) if each != island]
    return draw.sample(others, draw.randrange(islands))


@pytest.mark.parametrize("delay", [0, 1])
def test_migrants_travel_by_the_function(backend: Backend, delay: int) -> None:
    assert KIND.name_of(Topology("some", some)) == "some"
    settings = {"selection": "best", "replacement": "worst", "duplicates": "refuse"}
    assert_migrates(backend, {"topology": "some", "delay": delay, **settings})


@pytest.mark.parametrize(
    ("senders", "fault"),
    [
        ([7], "7 is not an island number"),
        ([-1], "-1 is not an island number"),
        ([2], "does not receive from itself"),
        ([3, 1, 3], "3 appears twice"),
        ([1.0], "1.0 is not a whole number"),
        ([True], "True is not a whole number"),
        ([0, 1], "more than most=1"),
        (None, "TypeError"),
    ],
)
def test_invalid_senders_are_refused_with_the_topology_and_island(senders: Any, fault: str) -> None:
    topology = Topology("mine", lambda island, islands, number, seed: senders, most=1)
    where = "topology mine, island 2 of 5, migration 4"
    with pytest.raises(IslandsError, match=f"^{where}: .*{fault}"):
        topology.sources(Scene(5, 1, 4), range(2, 3))


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
