from __future__ import annotations

import time

import numpy as np
import pytest
from test_exchange import archipelago_of

from islands.backends import choose
from islands.backends.base import Backend
from islands.migration import TOPOLOGIES
from islands.migration.route import Parcel
from islands.parallel import World, world
from islands.testing.ranks import FakeChannel, on_ranks

STEADY = [name for name, topology in TOPOLOGIES.items() if not topology.changes]


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("topology", STEADY)
def test_migrants_keep_their_cost_without_waiting(backend: Backend, topology: str) -> None:
    ranks = world()
    made = archipelago_of(backend, islands=7, ranks=ranks, topology=topology, asynchronous=True)
    sources: set[int] = set()
    # Ranks differ in speed and in their number of migrations; each continues until one arrives.
    began = time.monotonic()
    while not sources - set(made.mine) and time.monotonic() - began < 20:
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
    assert bool(sources - set(made.mine)) == (topology != "none")


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
        ranks.channel = lambda *_: channel  # type: ignore[method-assign, assignment, return-value]
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
            assert arrivals is not None
            return slots(sent), set(arrivals.source.tolist()) - set(made.mine)

        first, sources = migrated()
        assert channel.pending == {1 - ranks.rank}
        assert sources == set()
        assert migrated() == (first, set())
        # A message arrives; the own one is still pending.
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
