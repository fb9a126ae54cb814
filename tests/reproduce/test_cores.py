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
    one = {min(usable)}
    os.sched_setaffinity(0, one)
    ended, found = threading.Event(), dict[str, set[int]]()

    def look(name: str) -> None:
        found[name] = os.sched_getaffinity(0)

    def wait() -> None:
        ended.wait()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert waiting.native_id is not None
    try:
        with cores.on_cores(usable):
            look("inside")
            found["waiting"] = os.sched_getaffinity(waiting.native_id)
        look("after")
        found["waiting after"] = os.sched_getaffinity(waiting.native_id)
        with cores.on_cores(frozenset()):
            look("none")
    finally:
        ended.set()
        waiting.join()
        os.sched_setaffinity(0, usable)
    assert found == {
        "inside": usable,
        "waiting": usable,
        "after": one,
        "waiting after": one,
        "none": one,
    }
