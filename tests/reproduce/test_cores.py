"""Runs to compare with use the cores of all ranks of a host."""

from __future__ import annotations

import os
import threading

import pytest

from islands.parallel import World
from islands.reproduce import experiment as cores
from islands.testing.ranks import on_ranks


def test_cores_of_the_ranks_of_a_host_are_united(monkeypatch: pytest.MonkeyPatch) -> None:
    own = threading.local()
    monkeypatch.setattr(cores, "_own", lambda: own.cores)

    def united(world: World) -> frozenset[int]:
        own.cores = {2 * world.rank, 2 * world.rank + 1}
        monkeypatch.setattr(world, "local_allgather", world.allgather)
        return cores.cores_of_host(world)

    assert on_ranks(3, united) == [frozenset(range(6))] * 3


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen")
def test_all_threads_of_the_process_use_more_cores_for_a_while() -> None:
    usable = os.sched_getaffinity(0)
    if len(usable) < 2:
        pytest.skip("needs two cores")
    one, over = {min(usable)}, threading.Event()
    os.sched_setaffinity(0, one)
    waiting = threading.Thread(target=over.wait)
    waiting.start()
    assert waiting.native_id is not None
    ids = (0, waiting.native_id)
    try:
        with cores.on_cores(usable):
            inside = [os.sched_getaffinity(each) for each in ids]
        after = [os.sched_getaffinity(each) for each in ids]
    finally:
        over.set()
        waiting.join()
        os.sched_setaffinity(0, usable)
    assert (inside, after) == ([usable] * 2, [one] * 2)
