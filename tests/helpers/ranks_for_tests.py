"""Ranks that are threads of this process, and talk to each other without MPI."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from islands.parallel import World

Value = TypeVar("Value")
Letters = list[list[Queue[bytes]]]
"""What has been sent, by the rank that it comes from, and by the one that it goes to."""


class Coming:
    """Messages that a rank is about to receive, unless another rank fails before it sends them."""

    def __init__(
        self, meeting: Barrier, letters: Sequence[tuple[Queue[bytes], NDArray[np.uint8]]]
    ) -> None:
        self._meeting, self._letters = meeting, letters

    def wait(self) -> None:
        for letters, to in self._letters:
            while letters.empty() and not self._meeting.broken:
                time.sleep(1e-4)
            if letters.empty():
                raise BrokenBarrierError
            to.reshape(-1)[:] = np.frombuffer(letters.get(), np.uint8)

    def wait_for(self, _seconds: float) -> bool:
        self.wait()
        return True


class FakeWorld(World):
    """One of several ranks that are threads of this process."""

    def __init__(self, rank: int, meeting: Barrier, said: list[Any], letters: Letters) -> None:
        super().__init__()
        self.rank, self.size = rank, len(said)
        self._meeting, self._said, self._letters = meeting, said, letters

    def allgather(self, value: Value) -> list[Value]:
        self._said[self.rank] = value
        self._meeting.wait()
        said = list(self._said)
        self._meeting.wait()
        return said

    def gather(self, value: Value) -> list[Value]:
        said = self.allgather(value)
        return said if self.rank == 0 else []

    def bcast(self, value: Value) -> Value:
        return self.allgather(value)[0]

    def barrier(self) -> None:
        self.allgather(None)

    def share(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
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
    ) -> Coming:
        for rank, what in sends:
            self._letters[self.rank][rank].put(what.tobytes())
        return Coming(
            self._meeting, [(self._letters[rank][self.rank], to) for rank, to in receives]
        )


@contextmanager
def _one_tree_at_a_time() -> Iterator[None]:
    """Let threads parse the heads of NumPy files in turn, as Python 3.11 mixes them up."""
    lock, parse = Lock(), ast.literal_eval

    def parse_alone(text: str) -> Any:
        with lock:
            return parse(text)

    with patch.object(ast, "literal_eval", parse_alone):
        yield


def on_ranks(size: int, work: Callable[[World], Value]) -> list[Value]:
    """Return what `work` returns on each rank; where one fails, none goes on alone."""
    meeting, said = Barrier(size), [None] * size
    letters: Letters = [[Queue() for _ in range(size)] for _ in range(size)]

    def one(rank: int) -> Value:
        try:
            return work(FakeWorld(rank, meeting, said, letters))
        except BaseException:
            meeting.abort()
            raise

    with _one_tree_at_a_time(), ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(one, rank) for rank in range(size)]
    errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None and not isinstance(error, BrokenBarrierError):
            raise error
    return [future.result() for future in futures]
