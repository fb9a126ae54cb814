"""Exchanges that are repeated: the same rows of all ranks' arrays, with new content."""

from __future__ import annotations

import time

import numpy as np
import pytest

from islands.archipelago.team import Team, divided
from islands.backends.base import Backend
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Direct, InHostMemory, Staged, Transport, candidates
from islands.parallel import World, world

KINDS = [InHostMemory, Staged, Direct]


def usable(kind: type[Transport], ranks: World, backend: Backend) -> type[Transport]:
    if kind not in {*candidates(ranks, backend), Staged}:
        pytest.skip(f"MPI does not accept arrays of {backend.name} directly")
    return kind


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("population", [1, 2, 7, 100])
def test_all_members_have_the_rows_of_all_slots(
    backend: Backend, kind: type[Transport], population: int
) -> None:
    ranks = world()
    slots = divided(population, ranks.size, 1)
    team = Team(ranks, backend, usable(kind, ranks, backend), slots, slots)
    widths = (1, 8, 13, 4096)
    arrays = [backend.zeros((population, width), np.uint8) for width in widths]
    exchange = team.exchange(arrays, team.slots_of_each)
    for generation in range(3):
        drawn = np.random.default_rng(generation)
        whole = [drawn.integers(0, 256, (population, width), np.uint8) for width in widths]
        for array, rows in zip(arrays, whole, strict=True):
            own = np.full_like(rows, 77)
            own[team.slots.start : team.slots.stop] = rows[team.slots.start : team.slots.stop]
            backend.upload(own, array)
        exchange.run()
        for array, rows in zip(arrays, whole, strict=True):
            assert np.array_equal(backend.download(array), rows)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", KINDS)
def test_two_exchanges_of_the_same_ranks_do_not_mix(
    backend: Backend, kind: type[Transport]
) -> None:
    ranks = world()
    usable(kind, ranks, backend)
    after, before = (ranks.rank + 1) % ranks.size, (ranks.rank - 1) % ranks.size
    buffers = [backend.zeros((2, 16), np.uint8) for _ in range(2)]
    exchanges = []
    for buffer in buffers:
        exchanges.append(RepeatedExchange(ranks, backend, kind))
        exchanges[-1].add(buffer, [Parcel(after, 0, 1)], [Parcel(before, 1, 2)])
    for times in range(3):
        for number, buffer in enumerate(buffers):
            value = 100 * number + 10 * times + ranks.rank
            backend.upload(np.full((2, 16), value, np.uint8), buffer)
        # Ranks are not in step: the first one runs both before others begin.
        time.sleep(0.02 * ranks.rank)
        for exchange in exchanges:
            exchange.run()
        for number, buffer in enumerate(buffers):
            expected = 100 * number + 10 * times
            assert backend.download(buffer)[:, 0].tolist() == [
                expected + ranks.rank,
                expected + before,
            ]


@pytest.mark.mpi(min_size=2)
def test_members_agree_if_all_of_them_do(backend: Backend) -> None:
    ranks = world()
    team = Team(ranks, backend, None, *[divided(4, ranks.size)] * 2)
    assert team.agrees(True)
    assert not team.agrees(False)
    for rank in range(ranks.size):
        assert not team.agrees(rank != ranks.rank)
