"""Let a run whose time on a CPU is compared use the cores of all ranks on its host."""

import os
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path

from islands.parallel import World

_THREADS = Path("/proc/self/task")


def cores_of_host(world: World) -> frozenset[int]:
    """Return the cores that the ranks on the host of rank 0 may use together; collective."""
    return world.bcast(frozenset[int]().union(*world.local_allgather(_own_cores())))


@contextmanager
def on_cores(cores: Set[int]) -> Iterator[None]:
    """Let this process also use these cores until the end of the block."""
    own = _own_cores()
    if cores <= own or not _THREADS.is_dir():
        yield
        return
    before = {thread: os.sched_getaffinity(thread) for thread in _threads()}
    for thread, old_cores in before.items():
        _bind(thread, old_cores | cores)
    try:
        yield
    finally:
        for thread in _threads():
            _bind(thread, before.get(thread, own))


def _own_cores() -> Set[int]:
    if not hasattr(os, "sched_getaffinity"):  # macOS
        return set(range(os.cpu_count() or 1))
    return os.sched_getaffinity(0)


def _threads() -> list[int]:
    """Return the threads of this process, each of which has its own set of cores."""
    return [int(path.name) for path in _THREADS.iterdir()]


def _bind(thread: int, cores: Set[int]) -> None:
    with suppress(ProcessLookupError):  # a thread may have ended
        os.sched_setaffinity(thread, cores)
