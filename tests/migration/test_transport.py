"""Messages between ranks: transports and their trials, repeated and asynchronous exchanges."""

import time
from collections.abc import Sequence

import numpy as np
import pytest
from fakes import FakeChannel
from test_exchange import archipelago_of

from islands.archipelago.team import Team, divided
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import RunError
from islands.migration import TOPOLOGIES
from islands.migration import transport as module
from islands.migration.repeated import RepeatedExchange
from islands.migration.route import Parcel
from islands.migration.transport import Direct, InHostMemory, Staged, Transport, candidates, find
from islands.parallel import World, world
from islands.testing.ranks import on_ranks

KINDS = [InHostMemory, Staged, Direct]


def usable(kind: type[Transport], ranks: World, backend: Backend) -> type[Transport]:
    if kind not in {*candidates(ranks, backend), Staged}:
        pytest.skip(f"MPI does not accept arrays of {backend.name} directly")
    return kind


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", KINDS)
def test_parcels_of_different_sizes_reach_every_rank(
    backend: Backend, kind: type[module.Transport]
) -> None:
    ranks = world()
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
    transport = usable(kind, ranks, backend)(ranks, backend, buffer)
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
    exchange = team.exchange(arrays, team.slots_by_member)
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


STEADY = [name for name, topology in TOPOLOGIES.items() if not topology.changes]


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("topology", STEADY)
def test_migrants_keep_their_cost_without_waiting(backend: Backend, topology: str) -> None:
    ranks = world()
    made = archipelago_of(backend, islands=7, ranks=ranks, topology=topology, asynchronous=True)
    sources: set[int] = set()
    # Ranks differ in speed and in their number of migrations; each continues until one arrives.
    began = time.monotonic()
    while not sources - set(made.recorded) and time.monotonic() - began < 20:
        if topology == "none" and made.generation == 9:
            break
        made.advance(1)
        made.migrate()
        made.measure()
        arrivals = made.arrivals()
        if arrivals is not None:
            sources |= set(arrivals.source.tolist())
        time.sleep(0.001 * ranks.rank)
    made.finish()
    saved = made.snapshot()
    for cost, genes in zip(saved["cost"], saved["genes"], strict=True):
        solutions = made._encodings[0].decode(genes)
        assert np.array_equal(made._colonies[0]._problem.costs(solutions), cost)
    assert bool(sources - set(made.recorded)) == (topology != "none")


@pytest.mark.mpi(min_size=2)
def test_ranks_of_different_speed_finish_without_pending_messages() -> None:
    ranks = world()
    for _ in range(3):  # a second run on the same ranks must not receive messages of the first
        made = archipelago_of(
            choose("cpu", 1), islands=4, ranks=ranks, topology="ring", asynchronous=True
        )
        for _ in range(50 if ranks.rank else 3):
            made.migrate()
        made.finish()
        ranks.barrier()


def test_memory_that_is_being_sent_or_received_is_left_alone() -> None:
    def one(ranks: World) -> None:
        channel = FakeChannel({1 - ranks.rank})
        ranks.channel = lambda *_: channel
        made = archipelago_of(
            choose("cpu", 1), islands=6, ranks=ranks, topology="ring", asynchronous=True
        )
        exchange = made._exchange
        (sent,), (received,) = exchange._route.sends, exchange._route.receives

        def slots(parcel: Parcel) -> bytes:
            return np.array(exchange._buffer[parcel.first : parcel.last]).tobytes()

        def migrated() -> tuple[bytes, set[int]]:
            made.advance(20)
            made.migrate()
            made.measure()
            arrivals = made.arrivals()
            return slots(sent), set(arrivals.source.tolist()) - set(made.recorded)

        first, sources = migrated()
        assert channel.pending == {1 - ranks.rank}
        assert sources == set()
        assert migrated() == (first, set())
        # A message arrives; the one to the other rank is still pending.
        exchange._buffer[received.first : received.last] = exchange._buffer[sent.first : sent.last]
        channel.has_arrived = {1 - ranks.rank}
        still, sources = migrated()
        assert still == first
        assert len(sources) == 1
        assert channel.arrived() == []
        channel.pending.clear()
        later, sources = migrated()
        assert later != first
        assert sources == set()

    on_ranks(2, one)
