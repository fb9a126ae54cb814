"""Threads that solve whole instances, each with a device of its own, fed from any iterable.

A thread takes the next instance when it is free. Not more tasks wait than there are threads, so
that any number of instances streams through.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event
from typing import Generic, TypeVar

from islands.backends import takes_gpu
from islands.backends.base import Backend
from islands.backends.cpu import share_of_cores
from islands.parallel import World
from islands.run.build import take_device

Task = TypeVar("Task")
Device = TypeVar("Device")
Made = TypeVar("Made")
_SWITCH_SECONDS = 2e-4
"""How long a thread computes in Python while another one waits; the default is 25 times as long,
which is longer than the launches of a small instance."""

_LOOK_SECONDS = 0.1
"""Seconds between two looks whether the work is over."""


def solving_devices(
    world: World, name: str, threads: int | None, *, share_gpu: bool = False
) -> list[Backend]:
    """Return the GPU of this rank, or a device of one thread for each of its threads; collective.

    A rank has the cores of its host, divided among the ranks there.
    """
    if takes_gpu(name):
        return [take_device(world, name, share_gpu=share_gpu)]
    count = threads or share_of_cores(world.local_size)
    return [take_device(World(), "cpu", 1) for _ in range(count)]


class Workers(Generic[Device]):
    """Threads with a device each, inside a `with` block."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self._devices = [*devices]
        self.count = len(self._devices)
        self._idle: SimpleQueue[Device] = SimpleQueue()
        for each in self._devices:
            self._idle.put(each)
        self.ends = Event()
        """Set when the work in progress must end."""

    def done(
        self,
        tasks: Iterable[Task],
        make: Callable[[Device, Task], Made],
        is_over: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[Task, Future[Made]]]:
        """Yield each task when it is done, with what `make` returns or raises.

        When `is_over` is true, no task begins any more. Tasks that are in progress then, or when
        the caller stops, are to end when `ends` is set.
        """

        def made(task: Task) -> Made:
            device = self._idle.get()
            try:
                return make(device, task)
            finally:
                self._idle.put(device)

        waiting, source = dict[Future[Made], Task](), iter(tasks)
        with _quick_switches(), ThreadPoolExecutor(self.count, "islands") as pool:
            try:
                has_more = True
                while waiting or has_more:
                    if is_over is not None and not self.ends.is_set() and is_over():
                        has_more = False
                        self.ends.set()
                        for each in [each for each in waiting if each.cancel()]:
                            del waiting[each]
                    while has_more and len(waiting) < 2 * self.count:
                        try:
                            task = next(source)
                        except StopIteration:
                            has_more = False
                        else:
                            waiting[pool.submit(made, task)] = task
                    seconds = None if is_over is None else _LOOK_SECONDS
                    for each in wait(waiting, seconds, FIRST_COMPLETED).done:
                        yield waiting.pop(each), each
            except BaseException:
                self.ends.set()
                pool.shutdown(cancel_futures=True)
                raise


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
