"""A device for each thread, and an iterator over the results of all threads, in bounded memory."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Lock, Thread
from typing import Generic, Self, TypeVar

from islands.backends import is_gpu
from islands.backends.base import Backend
from islands.backends.cpu import share_of_cores
from islands.engine.build import give_back, take_device
from islands.engine.limits import LIMITS
from islands.parallel import World

Value = TypeVar("Value")


@contextmanager
def solving_devices(
    world: World, name: str, threads: int | None, *, share_gpu: bool
) -> Iterator[list[Backend]]:
    """Yield a device for each thread of this rank; collective.

    On a GPU, these are its streams; on a CPU, each has one thread. The ranks of a host share its
    cores equally.
    """
    if is_gpu(name):
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


class SharedIterator(Generic[Value]):
    """A thread-safe iterator, which ends early when `is_over` is true."""

    def __init__(self, values: Iterator[Value], is_over: Callable[[], bool]) -> None:
        self._values, self._is_over, self._lock = values, is_over, Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Value:
        with self._lock:
            if self._is_over():
                raise StopIteration
            return next(self._values)


def merged(
    sources: Sequence[Callable[[], Iterator[Value]]],
    ends: Event,
    is_over: Callable[[], bool] | None = None,
    *,
    most: int,
    rest_seconds: float = 0.0,
) -> Generator[Value | None, None, None]:
    """Yield the results of threads, one for each source, as they arrive.

    A source must end when `ends` is set: when `is_over` is true, after which the remaining results
    are still yielded, or when the caller stops. With `is_over`, None is yielded while no result is
    ready. Threads pause while `most` results wait for the caller, which sleeps for `rest_seconds`
    if there are none.
    """
    has_left, done = Event(), Queue[Value | _End](most)
    threads = [
        Thread(target=_put, args=(source, done, has_left), daemon=True) for source in sources
    ]
    with _quick_switches():
        try:
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                if is_over is not None and not ends.is_set() and is_over():
                    ends.set()
                if rest_seconds and done.empty():
                    time.sleep(rest_seconds)
                try:
                    result = done.get(timeout=None if is_over is None else LIMITS.look_seconds)
                except Empty:
                    yield None
                    continue
                if not isinstance(result, _End):
                    yield result
                    continue
                working -= 1
                if result.error is not None:
                    raise result.error
        finally:
            has_left.set()
            ends.set()
            for thread in threads:
                while thread.is_alive():
                    while not done.empty():  # the thread may wait for room in the queue
                        done.get()
                    thread.join(LIMITS.look_seconds)


@dataclass(frozen=True)
class _End:
    """The end of a thread, and the error that caused it, if any."""

    error: BaseException | None


def _put(source: Callable[[], Iterator[Value]], done: Queue[Value | _End], has_left: Event) -> None:
    """Put the results of a thread into a queue, until the caller has left."""
    error: BaseException | None = None
    try:
        for result in source():
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
