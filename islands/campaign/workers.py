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

Task = TypeVar("Task")
Device = TypeVar("Device")
Made = TypeVar("Made")
_SWITCH_SECONDS = 2e-4
"""How long a thread computes in Python while another one waits; the default is 25 times as long,
which is longer than the launches of a small instance."""


class Workers(Generic[Device]):
    """Threads with a device each, inside a `with` block."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self._devices = [*devices]
        self._idle: SimpleQueue[Device] = SimpleQueue()
        for each in self._devices:
            self._idle.put(each)
        self.ends = Event()
        """Set when the work in progress must end."""

    def done(
        self, tasks: Iterable[Task], make: Callable[[Device, Task], Made]
    ) -> Iterator[tuple[Task, Future[Made]]]:
        """Yield each task when it is done, with what `make` returns or raises.

        Tasks that are in progress when the caller stops are to end when `ends` is set.
        """

        def made(task: Task) -> Made:
            device = self._idle.get()
            try:
                return make(device, task)
            finally:
                self._idle.put(device)

        waiting, source = dict[Future[Made], Task](), iter(tasks)
        with _quick_switches(), ThreadPoolExecutor(len(self._devices), "islands") as pool:
            try:
                is_over = False
                while waiting or not is_over:
                    while not is_over and len(waiting) < 2 * len(self._devices):
                        try:
                            task = next(source)
                        except StopIteration:
                            is_over = True
                        else:
                            waiting[pool.submit(made, task)] = task
                    for each in wait(waiting, return_when=FIRST_COMPLETED).done:
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
