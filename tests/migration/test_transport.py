"""Messages between ranks: transports, their trials, and exchanges that are repeated."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from islands.archipelago.team import Team, divided
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import RunError
from islands.migration import transport as module
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Direct, InHostMemory, Staged, Transport, candidates, find
from islands.parallel import World, world


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", [InHostMemory, Staged, Direct])
def test_parcels_of_different_sizes_reach_every_rank(
    backend: Backend, kind: type[module.Transport]
) -> None:
    ranks = world()
    if kind not in {*candidates(ranks, backend), Staged}:
        pytest.skip(
            f"the MPI between these ranks does not accept arrays of {backend.name} directly"
        )
    size, width = ranks.size, 100_000
    others = [rank for rank in range(size) if rank != ranks.rank]

    def content(sender: int, receiver: int) -> np.ndarray:
        return np.random.default_rng([sender, receiver]).integers(
            0, 256, (receiver + 1, width), np.uint8
        )

    sends, receives, rows, first = [], [], [], 0
    for rank in others:
        rows.append(content(ranks.rank, rank))
        sends.append(Parcel(rank, first, first + rank + 1))
        first += rank + 1
    for rank in others:
        receives.append(Parcel(rank, first, first + ranks.rank + 1))
        first += ranks.rank + 1
    space = np.zeros((len(others) * (ranks.rank + 1), width), np.uint8)
    buffer = backend.upload(np.concatenate([*rows, space]))
    transport = kind(ranks, backend, buffer)
    for _ in range(2):
        transport.stage(sends)
        backend.synchronise()
        transport.start(sends, receives)
        transport.wait()
    for parcel in receives:
        arrived = backend.download(buffer)[parcel.first : parcel.last]
        assert np.array_equal(arrived, content(parcel.rank, ranks.rank))


class Corrupting(InHostMemory):
    """Changes one bit of a message on rank 0."""

    name = "corrupting"

    def wait(self, timeout: float | None = None) -> bool:
        has_arrived = super().wait(timeout)
        if self._world.rank == 0:
            self._buffer[1, 5] ^= 1
        return has_arrived


class Failing(Direct):
    """Cannot send or receive."""

    name = "failing"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        raise OSError("no connection")


class ReceiveOnly(Direct):
    """Begins to receive, and then cannot send."""

    name = "receive-only"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        self._world.post([], [(each.rank, self.memory(each)) for each in receives], self._tag)
        super().start([Parcel(-7, 0, 1)], [])


class OneSided(Direct):
    """Fails on one rank only."""

    name = "one-sided"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        if self._world.rank == 1:
            raise OSError("no connection")
        super().start(sends, receives)


class SendOnly(Direct):
    """Never receives."""

    name = "send-only"

    def start(self, sends: Sequence[Parcel], receives: Sequence[Parcel]) -> None:
        super().start([], receives)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Corrupting, "rank 0: the message changed on its way"),
        (Failing, "rank 0: OSError: no connection"),
        (ReceiveOnly, "rank 0: Exception: MPI_ERR_RANK: invalid rank"),
        (OneSided, "rank 1: OSError: no connection"),
        (SendOnly, "rank 0: no message arrived in 0.2 s"),
    ],
)
def test_a_transport_that_fails_its_trial_is_skipped(
    kind: type[module.Transport], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, backend = world(), choose("cpu", 1)
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(module, "candidates", lambda *_: [kind, Staged])
    transport, trouble = find(ranks, backend)
    assert transport is Staged
    assert trouble == f"the transport {kind.name} failed its trial ({reason}). "
    monkeypatch.setattr(module, "candidates", lambda *_: [kind])
    with pytest.raises(RunError, match=r"no transport works between the ranks: .*`islands doctor`"):
        find(ranks, backend)


@pytest.mark.mpi(min_size=3)
def test_trials_between_some_ranks_do_not_disturb_trials_of_all() -> None:
    ranks, backend = world(), choose("cpu", 1)
    part = ranks.part(2)
    if part is not None:
        assert find(part, backend) == (InHostMemory, "")
    assert find(ranks, backend) == (InHostMemory, "")


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
