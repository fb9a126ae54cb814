"""Threads that solve many instances, each on a device or a stream of its own, fed by any iterable.

A thread takes instances when it needs them, and waits if few of its results are taken, so that any
number of instances streams through.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from queue import Empty, SimpleQueue
from threading import Event, Lock, Semaphore, Thread
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
    """Return a device for each thread of this rank, until the end of the block; collective.

    They are streams of its GPU, or a thread of a CPU each. A rank has the cores of its host,
    divided among the ranks there.
    """
    if takes_gpu(name):
        first = take_device(world, name, share_gpu=share_gpu)
        others = (
            first.another_stream()
            for _ in range(1, min(threads or LIMITS.streams, LIMITS.most_streams))
        )
        devices = [first, *(each for each in others if each is not None)]
    else:
        count = threads or share_of_cores(world.local_size)
        devices = [take_device(World(), "cpu", 1) for _ in range(count)]
    try:
        yield devices
    finally:
        for each in devices:
            give_back(each)


class Workers(Generic[Device]):
    """Threads with a device each."""

    def __init__(self, devices: Iterable[Device], *, on_gpu: bool) -> None:
        """Take a device for each thread; all are streams of one GPU if it is `on_gpu`."""
        self._devices = [*devices]
        self.count = len(self._devices)
        self.together = self.count if on_gpu else 1
        """Threads that share what solves their tasks."""
        self.ahead = LIMITS.ahead_on_rank_with_gpu if on_gpu else LIMITS.ahead_on_rank * self.count
        """Tasks that a rank holds before they are needed, to keep its devices busy."""
        self._most_done = LIMITS.most_done_on_gpu if on_gpu else LIMITS.most_done
        self._rest_seconds = LIMITS.rest_seconds_on_gpu if on_gpu else 0.0
        self.ends = Event()
        """Set when the work in progress must end."""

    def stream(
        self,
        tasks: Iterable[Task],
        solving: Callable[[Device, Iterator[Task]], Callable[[Device], Iterator[tuple[Key, Made]]]],
        is_over: Callable[[], bool] | None = None,
    ) -> Generator[tuple[Key, Made] | None, None, None]:
        """Yield what the threads make of the tasks.

        `solving` returns the function of a device that solves tasks. The threads of a GPU share
        one, and each calls it; on a CPU, each has its own.

        When `is_over` is true, no task begins any more. Tasks that are in progress then, or when
        the caller stops, are to end when `ends` is set; what is still made then is yielded,
        unless the caller has stopped. With `is_over`, yield None whenever nothing has come for a
        moment.
        """
        self.ends.clear()  # the end of the previous call set it
        left, has_left = _Tasks(tasks, self.ends.is_set), Event()
        done = SimpleQueue[tuple[Key, Made] | _End]()
        wanted = Semaphore(self._most_done * self.count)
        solvers = [solving(each, left) for each in self._devices[:: self.together]]
        threads = [
            Thread(target=_put, args=(partial(solver, device), done, wanted, has_left), daemon=True)
            for device, solver in zip(self._devices, cycle(solvers), strict=False)
        ]
        with _quick_switches():
            try:
                for each in threads:
                    each.start()
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
                        wanted.release()
                        yield found
                        continue
                    working -= 1
                    if found.error is not None:
                        raise found.error
            finally:
                has_left.set()
                self.ends.set()
                # All of them: any may get what was released for another.
                wanted.release(len(threads))
                for each in threads:
                    if each.is_alive():
                        each.join()


class _Tasks(Generic[Task]):
    """The tasks that no thread has taken yet."""

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
    done: SimpleQueue[tuple[Key, Made] | _End],
    wanted: Semaphore,
    has_left: Event,
) -> None:
    """Put what a thread solves into a queue, each when it is wanted, until the caller has left."""
    error: BaseException | None = None
    try:
        for each in solved():
            wanted.acquire()
            if has_left.is_set():
                break
            done.put(each)
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
