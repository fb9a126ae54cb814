"""Threads with a device or a stream each, which make results from a stream of tasks.

A thread takes a task when it needs one, and waits while many results are not taken, so that any
number of tasks streams through in bounded memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from queue import Empty, Queue
from threading import Event, Lock, Thread
from typing import Generic, Self, TypeVar

from islands.backends import takes_gpu
from islands.backends.base import Backend
from islands.backends.cpu import share_of_cores
from islands.engine.build import give_back, take_device
from islands.engine.limits import LIMITS
from islands.parallel import World

Task = TypeVar("Task")
Device = TypeVar("Device")
Key = TypeVar("Key")
Made = TypeVar("Made")


@contextmanager
def solving_devices(
    world: World, name: str, threads: int | None, *, share_gpu: bool = False
) -> Iterator[list[Backend]]:
    """Yield a device for each thread of this rank; collective.

    On a GPU, these are its streams; on a CPU, each has one thread. The ranks of a host divide its
    cores among them.
    """
    if takes_gpu(name):
        first = take_device(world, name, share_gpu=share_gpu)
        others = (
            first.another_stream()
            for _ in range(1, min(threads or LIMITS.streams, LIMITS.most_streams))
        )
        devices = [first, *filter(None, others)]
    else:
        count = threads or share_of_cores(world.local_size)
        devices = [take_device(World(), "cpu", 1) for _ in range(count)]
    try:
        yield devices
    finally:
        for device in devices:
            give_back(device)


class Workers(Generic[Device]):
    """Threads with a device each."""

    def __init__(self, devices: Iterable[Device], *, on_gpu: bool) -> None:
        """Take a device for each thread; with `on_gpu`, they are streams of one GPU."""
        self._devices = [*devices]
        self.count = len(self._devices)
        self.together = self.count if on_gpu else 1
        """The number of threads that share a solver."""
        self.ahead = LIMITS.ahead_on_rank_with_gpu if on_gpu else LIMITS.ahead_on_rank * self.count
        """The length of a rank's queue of tasks, which keeps its devices busy."""
        self._most_done = self.count * (LIMITS.most_done_on_gpu if on_gpu else LIMITS.most_done)
        self._rest_seconds = LIMITS.rest_seconds_on_gpu if on_gpu else 0.0
        self.ends = Event()
        """Set when the work in progress must end."""

    def stream(
        self,
        tasks: Iterable[Task],
        solving: Callable[[Device, Iterator[Task]], Callable[[Device], Iterator[tuple[Key, Made]]]],
        is_over: Callable[[], bool] | None = None,
    ) -> Generator[tuple[Key, Made] | None, None, None]:
        """Yield the results of the tasks as they finish.

        `solving` returns a solver: a function of a device that solves tasks. The threads of a GPU
        share a solver, and each calls it; on a CPU, each thread has its own.

        When `is_over` is true, no further task begins. Tasks in progress then, or when the caller
        stops, have to end when `ends` is set; their results are still yielded, unless the caller
        has stopped. With `is_over`, yield None when polled with nothing ready.
        """
        self.ends.clear()  # the end of the previous call set it
        left, has_left = _Tasks(tasks, self.ends.is_set), Event()
        done = Queue[tuple[Key, Made] | _End](self._most_done)
        solvers = [solving(device, left) for device in self._devices[:: self.together]]
        threads = [
            Thread(target=_put, args=(partial(solver, device), done, has_left), daemon=True)
            for device, solver in zip(self._devices, cycle(solvers), strict=False)
        ]
        with _quick_switches():
            try:
                for thread in threads:
                    thread.start()
                working = len(threads)
                while working:
                    if is_over is not None and not self.ends.is_set() and is_over():
                        self.ends.set()
                    if self._rest_seconds and done.empty():
                        time.sleep(self._rest_seconds)
                    try:
                        found = done.get(timeout=None if is_over is None else LIMITS.look_seconds)
                    except Empty:
                        yield None
                        continue
                    if not isinstance(found, _End):
                        yield found
                        continue
                    working -= 1
                    if found.error is not None:
                        raise found.error
            finally:
                has_left.set()
                self.ends.set()
                for thread in threads:
                    while thread.is_alive():
                        while not done.empty():  # it may wait for room for a result
                            done.get()
                        thread.join(LIMITS.look_seconds)


class _Tasks(Generic[Task]):
    """The tasks that are left, for several threads."""

    def __init__(self, tasks: Iterable[Task], is_over: Callable[[], bool]) -> None:
        self._tasks, self._is_over, self._lock = iter(tasks), is_over, Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Task:
        with self._lock:
            if self._is_over():
                raise StopIteration
            return next(self._tasks)


@dataclass(frozen=True)
class _End:
    """The end of a thread."""

    error: BaseException | None


def _put(
    solved: Callable[[], Iterator[tuple[Key, Made]]],
    done: Queue[tuple[Key, Made] | _End],
    has_left: Event,
) -> None:
    """Put the results of a thread into a queue, until the caller has left."""
    error: BaseException | None = None
    try:
        for result in solved():
            if has_left.is_set():
                break
            done.put(result)
    except BaseException as raised:
        error = raised
    done.put(_End(error))


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, LIMITS.switch_seconds))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
