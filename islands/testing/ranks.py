"""Ranks that are threads of this process and communicate without MPI."""

import ast
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any, Self, TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from islands.parallel import World

Value = TypeVar("Value")
Queues = list[list[Queue[bytes]]]
"""The queues of messages, by sender and receiver."""


class FakePending:
    """Messages to receive; waiting for them fails if another rank has failed."""

    def __init__(
        self, barrier: Barrier, queues: Sequence[tuple[Queue[bytes], NDArray[np.uint8]]]
    ) -> None:
        self._barrier, self._queues = barrier, queues

    def wait(self) -> None:
        for queue, to in self._queues:
            while queue.empty() and not self._barrier.broken:
                time.sleep(1e-4)
            if queue.empty():
                raise BrokenBarrierError
            to.reshape(-1)[:] = np.frombuffer(queue.get(), np.uint8)

    def wait_for(self, _seconds: float) -> bool:
        self.wait()
        return True


class Shared:
    """The state that some ranks share; if one of them fails, all fail."""

    def __init__(self, size: int, barriers: list[Barrier]) -> None:
        self.barrier, self.barriers = Barrier(size), barriers
        self.said: list[Any] = [None] * size
        self.queues: Queues = [[Queue() for _ in range(size)] for _ in range(size)]
        barriers.append(self.barrier)


class FakePersistentMessages:
    """Messages that are sent repeatedly."""

    def __init__(self, post: Callable[[], FakePending]) -> None:
        self._post = post

    def start(self) -> None:
        self._pending = self._post()

    def wait(self) -> None:
        self._pending.wait()


class FakeWorld(World):
    """A rank that is a thread of this process."""

    def __init__(self, rank: int, shared: Shared) -> None:
        super().__init__()
        self.rank, self.size = rank, len(shared.said)
        self._shared, self._barrier, self._said = shared, shared.barrier, shared.said
        self._queues = shared.queues

    def allgather(self, value: Value) -> list[Value]:
        self._said[self.rank] = value
        self._barrier.wait()
        said = list(self._said)
        self._barrier.wait()
        return said

    def gather(self, value: Value) -> list[Value]:
        said = self.allgather(value)
        return said if self.rank == 0 else []

    def bcast(self, value: Value) -> Value:
        return self.allgather(value)[0]

    def barrier(self) -> None:
        self.allgather(None)

    def wait_for_all(self) -> None:
        self.barrier()

    def allgather_numbers(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array(self.allgather(numbers))

    def takes_threads(self) -> bool:
        return False

    def takes_gpu_memory(self) -> bool:
        return False

    def post(  # type: ignore[override]
        self,
        sends: Sequence[tuple[int, NDArray[np.uint8]]],
        receives: Sequence[tuple[int, NDArray[np.uint8]]],
        tag: int = 0,
    ) -> FakePending:
        for rank, what in sends:
            self._queues[self.rank][rank].put(what.tobytes())
        return FakePending(
            self._barrier, [(self._queues[rank][self.rank], to) for rank, to in receives]
        )

    def persistent(  # type: ignore[override]
        self,
        sends: Sequence[tuple[int, NDArray[np.uint8]]],
        receives: Sequence[tuple[int, NDArray[np.uint8]]],
        tag: int = 0,
    ) -> FakePersistentMessages:
        return FakePersistentMessages(lambda: self.post(sends, receives, tag))

    def split(self, group: int) -> Self:
        groups = self.allgather(group)
        members = [rank for rank, other in enumerate(groups) if other == group]
        is_first = members[0] == self.rank
        created = Shared(len(members), self._shared.barriers) if is_first else None
        common = self.allgather(created)[members[0]]
        assert common is not None, "the first member has created it"
        return type(self)(members.index(self.rank), common)


@contextmanager
def _serial_literal_eval() -> Iterator[None]:
    """Serialise the parsing of NumPy headers, which is not thread-safe in Python 3.11."""
    lock, parse = Lock(), ast.literal_eval

    def parse_alone(text: str) -> Any:
        with lock:
            return parse(text)

    with patch.object(ast, "literal_eval", parse_alone):
        yield


def on_ranks(size: int, work: Callable[[World], Value]) -> list[Value]:
    """Return the results of `work` on all ranks; if one fails, all fail."""
    barriers: list[Barrier] = []
    shared = Shared(size, barriers)

    def one(rank: int) -> Value:
        try:
            return work(FakeWorld(rank, shared))
        except BaseException:
            for barrier in list(barriers):
                barrier.abort()
            raise

    with _serial_literal_eval(), ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(one, rank) for rank in range(size)]
    errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None and not isinstance(error, BrokenBarrierError):
            raise error
    return [future.result() for future in futures]
