"""The ranks of a run and their messages."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from islands.errors import IslandsError
from islands.parallel.channel import Channel
from islands.parallel.failure import common, describe, portable, record_error, status_of
from islands.parallel.library import takes_gpu_memory, takes_threads
from islands.text import show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = TypeVar("Value")

_LONGEST_SLEEP = 0.005
_FIRST_NEW_TAG = 100  # lower tags have fixed purposes


class Pending:
    """Messages in flight."""

    def __init__(self, arriving: Sequence[Any] = (), leaving: Sequence[Any] = ()) -> None:
        self._arriving, self._requests = arriving, [*arriving, *leaving]

    def wait(self) -> None:
        """Wait until all messages have arrived and all sent arrays may be overwritten."""
        # One request at a time, so that an error shows which message failed.
        for request in self._requests:
            request.Wait()

    def wait_for(self, seconds: float) -> bool:
        """Wait at most `seconds`; return whether all messages are complete."""
        deadline = time.monotonic() + seconds
        while not all(request.Test() for request in self._requests):
            if time.monotonic() >= deadline:
                return False
        return True

    def cancel(self) -> None:
        """Cancel all receives; the sent arrays must be kept, as MPI may still read them."""
        for request in filter(None, self._arriving):  # incomplete requests
            request.Cancel()
            request.Wait()


class PersistentMessages(Pending):
    """Messages that are sent repeatedly between the same arrays: persistent MPI requests."""

    def start(self) -> None:
        """Begin to send the current content of the arrays, and to receive."""
        for request in self._requests:
            request.Start()


class World:
    """The ranks of a run: those of an MPI communicator, or this process alone."""

    def __init__(self, communicator: Any = None) -> None:
        self._agreed_error: BaseException | None = None
        self.sleeps_while_waiting = False
        """Whether this idle rank sleeps while it waits, to leave its core to others."""
        self._communicator = communicator
        self._parts: dict[tuple[int, ...], Self] = {}
        self._tags = count(_FIRST_NEW_TAG)
        self.rank, self.size = 0, 1
        # Among the ranks on the same host.
        self.local_rank, self.local_size = 0, 1
        if communicator is not None:
            self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
            from mpi4py import MPI

            self._local = communicator.Split_type(MPI.COMM_TYPE_SHARED)
            self.local_rank, self.local_size = self._local.Get_rank(), self._local.Get_size()

    def allgather(self, value: Value) -> list[Value]:
        """Return the value of every rank, in rank order, on every rank."""
        return [value] if self.size == 1 else self._communicator.allgather(value)

    def local_allgather(self, value: Value) -> list[Value]:
        """Return the value of every rank on this host, in rank order, on each of them."""
        return [value] if self.local_size == 1 else self._local.allgather(value)

    def gather(self, value: Value) -> list[Value]:
        """Return the value of every rank, in rank order, on rank 0; an empty list elsewhere."""
        return [value] if self.size == 1 else self._communicator.gather(value) or []

    def bcast(self, value: Value) -> Value:
        """Return rank 0's value on every rank."""
        return value if self.size == 1 else self._communicator.bcast(value)

    def any(self, flag: bool) -> bool:
        """Return whether `flag` is true on any rank."""
        return any(self.allgather(flag))

    def barrier(self) -> None:
        """Wait for every rank."""
        if self.size > 1:
            self._communicator.Barrier()

    def wait_for_all(self) -> None:
        """Wait for every rank without keeping a core busy, as this may take a while."""
        if self.size > 1:
            _wait_with_sleeps(self._communicator.Ibarrier())

    def allgather_numbers(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of every rank in rows, in rank order; the fastest collective."""
        import numpy as np

        if self.size == 1:
            return numbers[np.newaxis].copy()
        rows = np.empty((self.size, len(numbers)), np.int64)
        request = self._communicator.Iallgather(np.ascontiguousarray(numbers, np.int64), rows)
        if self.sleeps_while_waiting:
            _wait_with_sleeps(request)
        request.Wait()
        return rows

    def post(
        self,
        sends: Sequence[tuple[int, Any]],
        receives: Sequence[tuple[int, Any]],
        tag: int = 0,
    ) -> Pending:
        """Begin to send and receive contiguous arrays, each given with the other rank's number.

        Arrays may be on a GPU if the MPI library supports it; kernels that write them must be
        complete. Messages match others with the same tag.
        """
        arriving: list[Any] = []
        try:
            for rank, to in receives:
                arriving.append(self._communicator.Irecv(to, rank, tag))
            leaving = [self._communicator.Isend(what, rank, tag) for rank, what in sends]
        except Exception:
            Pending(arriving).cancel()
            raise
        return Pending(arriving, leaving)

    def persistent(
        self,
        sends: Sequence[tuple[int, Any]],
        receives: Sequence[tuple[int, Any]],
        tag: int = 0,
    ) -> PersistentMessages:
        """Prepare messages that are sent repeatedly; for the arguments see `post`."""
        arriving = [self._communicator.Recv_init(to, rank, tag) for rank, to in receives]
        leaving = [self._communicator.Send_init(what, rank, tag) for rank, what in sends]
        return PersistentMessages(arriving, leaving)

    def channel(self, tag: int, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> Channel:
        """Return a channel for ranks that do not wait for each other; arrays are given by rank."""
        return Channel(self._communicator, tag, sends, receives)

    def new_tag(self) -> int:
        """Return an unused tag for messages; collective."""
        return next(self._tags)

    def takes_gpu_memory(self) -> bool:
        """Return whether the MPI of every rank claims to accept arrays on a GPU; collective."""
        return self.size > 1 and not self.any(not takes_gpu_memory())

    def takes_threads(self) -> bool:
        """Return whether several threads of every rank may use MPI at once; collective."""
        return self.size > 1 and not self.any(not takes_threads())

    def part(self, ranks: int) -> Self | None:
        """Return a world of the first `ranks` ranks, or None on the others; collective."""
        part = self.split(0 if self.rank < ranks else 1)
        return part if self.rank < ranks else None

    def split(self, group: int) -> Self:
        """Return a world of the ranks with the same group; collective."""
        if self.size == 1:
            return self
        groups = tuple(self.allgather(group))
        if groups not in self._parts:  # a process may have more runs than MPI has communicators
            self._parts[groups] = type(self)(self._communicator.Split(group, self.rank))
        return self._parts[groups]

    def run_on_all(self, work: Callable[[], Value]) -> Value:
        """Run `work`, which must not use MPI, on every rank; if it fails on one, all raise."""
        if self.size == 1:
            return work()
        value, error = None, None
        try:
            value = work()
        except IslandsError as failure:
            error = failure
        self.agree_on(error)
        return value  # type: ignore[return-value]

    def agree_on(self, error: Exception | None) -> None:
        """Raise the same error on all ranks if any has failed; collective."""
        expected = error if isinstance(error, IslandsError) else None
        unexpected = None if error is None or expected else portable(error, self.rank)
        all_expected, all_unexpected = zip(*self.allgather((expected, unexpected)), strict=True)
        first = next((failure for failure in all_unexpected if failure is not None), None)
        if first is not None or any(all_expected):
            self._agreed_error = common(all_expected) if first is None else first
            raise self._agreed_error from (None if self._agreed_error is error else error)

    def from_first(self, work: Callable[[], Value]) -> Value:
        """Run `work`, which must not use MPI, on rank 0 and return its value on every rank.

        If it raises any exception, all ranks raise it.
        """
        if self.size == 1:
            return work()
        value, error = None, None
        if self.rank == 0:
            try:
                value = work()
            except BaseException as failure:
                error = failure
        value, received = self.bcast((value, None if error is None else portable(error)))
        if received is None:
            return value  # type: ignore[return-value]
        self._agreed_error = received if error is None else error
        raise self._agreed_error

    @contextmanager
    def guarded(self, *, show_traceback: bool) -> Iterator[None]:
        """End all ranks if one fails in the block; errors that all ranks raise pass through."""
        try:
            yield
        except BaseException as error:
            if self.size == 1 or error is self._agreed_error:
                raise
            if show_traceback:
                show(traceback.format_exc(), sys.stderr, end="")
            record_error(error)
            self.abort(describe(error, is_traced=show_traceback), status_of(error))

    def abort(self, message: str, status: int = 1) -> NoReturn:
        """Print `message` with this rank's number and end all ranks at once."""
        # If several ranks fail, the first one prints, and ends the others before they do.
        time.sleep(min(1.0, 0.1 * self.rank))
        where = f"[rank {self.rank} of {self.size}, {platform.node()}] " if self.size > 1 else ""
        show(f"islands: {where}{message}", file=sys.stderr)
        if self._communicator is not None:
            self._communicator.Abort(status)
        raise SystemExit(status)


def _wait_with_sleeps(request: Any) -> None:
    """Wait for a request with sleeps, as MPI would keep a core busy that another rank may need.

    A sleep takes at most a tenth of the time so far, so the end is noticed quickly.
    """
    began = time.monotonic()
    while not request.Test():
        time.sleep(min(_LONGEST_SLEEP, 0.1 * (time.monotonic() - began)))
