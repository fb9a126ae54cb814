"""A stop request reaches all ranks through rank 0."""

from __future__ import annotations

import pytest

from islands.parallel import StopNotice
from islands.testing.ranks import FakeChannel, FakeWorld, Shared

RANKS = 4


def notice(rank: int, *, takes_threads: bool = True) -> tuple[StopNotice, FakeChannel]:
    """Return the notice of a rank, and its channel to the others."""
    world, asked = FakeWorld(rank, Shared(RANKS, [])), list[FakeChannel]()

    def channel(_tag: int, sends: dict[int, object], _receives: object) -> FakeChannel:
        asked.append(FakeChannel(sends))
        return asked[0]

    world.takes_threads = lambda: takes_threads  # type: ignore[method-assign]
    world.channel = channel  # type: ignore[method-assign, assignment]
    made = StopNotice(world)
    return made, asked[0] if asked else FakeChannel(())


def test_rank_0_forwards_the_request_of_another_rank_once() -> None:
    made, channel = notice(0)
    made.listen()
    assert (made.is_requested, channel.pending) == (False, set())
    channel.has_arrived = {2}
    made.listen()
    assert (made.is_requested, channel.pending) == (True, {1, 2, 3})
    channel.pending.clear()
    made.listen()
    assert channel.pending == set()


def test_rank_0_forwards_a_request_as_soon_as_a_rank_is_free() -> None:
    made, channel = notice(0)
    channel.pending = {3}
    made.request()
    assert channel.pending == {1, 2, 3}
    channel.pending.clear()
    made.listen()
    assert channel.pending == {3}


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks_tell_rank_0_alone(rank: int) -> None:
    made, channel = notice(rank)
    made.request()
    assert (made.is_requested, channel.pending) == (True, {0})
    heard, channel = notice(rank)
    channel.has_arrived = {0}
    heard.listen()
    assert heard.is_requested


def test_without_threads_in_mpi_a_request_stays_on_its_rank() -> None:
    made, channel = notice(0, takes_threads=False)
    made.request()
    made.listen()
    assert (made.is_requested, channel.pending) == (True, set())
