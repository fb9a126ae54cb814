"""The ranks that run together, and all that they say to each other."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar

from islands.errors import IslandsError, RunError
from islands.parallel.channel import Channel
from islands.parallel.failure import RanksLostError, describe
from islands.parallel.library import takes_gpu_memory, takes_threads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = TypeVar("Value")

_VAIN_TRIES = 3
_FIRST_NEW_TAG = 100  # those below have their purposes


class Pending:
    """Messages on their way."""

    def __init__(
        self, world: World, arriving: Sequence[Any] = (), leaving: Sequence[Any] = ()
    ) -> None:
        self._world = world
        self._arriving, self._requests = arriving, [*arriving, *leaving]

    def wait(self) -> None:
        """Wait until all of them have arrived, and all that was sent may be overwritten."""
        try:
            with self._world.talking():
                # One after another, as each tells more of its failure than all together.
                for request in self._requests:
                    request.Wait()
        except RanksLostError:
            # The others fail as well, but only then are their arrays free.
            for request in self._requests:
                with suppress(Exception):
                    request.Wait()
            raise

    def wait_for(self, seconds: float) -> bool:
        """Wait at most so long; return whether all have arrived and left."""
        give_up_at = time.monotonic() + seconds
        with self._world.talking():
            while not all(request.Test() for request in self._requests):
                if time.monotonic() >= give_up_at:
                    return False
        return True

    def give_up(self) -> None:
        """Receive no more. What was sent may still be read, so its arrays have to stay."""
        for request in filter(None, self._arriving):  # those that have not come
            request.Cancel()
            request.Wait()


class World:
    """The ranks that run together, over an MPI communicator, or this process alone."""

    rank_after_losses: ClassVar[int | None] = None
    """The number that this process has since others have died."""

    def __init__(self, communicator: Any = None, *, fault_tolerant: bool = False) -> None:
        self._agreed_error: IslandsError | None = None
        self._shrunk_in_vain = 0
        self.fault_tolerant = fault_tolerant
        self._begin(communicator)

    def _begin(self, communicator: Any) -> None:
        self._communicator = communicator
        self._communicators = [communicator]
        self._tags = count(_FIRST_NEW_TAG)
        self.rank, self.size = 0, 1
        # Its place among the ranks on the same host, and their number.
        self.local_rank, self.local_size = 0, 1
        if communicator is not None:
            self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
            with self.talking():
                self._local = _on_this_host(communicator)
            self._communicators.append(self._local)
            self.local_rank, self.local_size = self._local.Get_rank(), self._local.Get_size()

    def allgather(self, value: Value) -> list[Value]:
        """Return the value of every rank, in rank order, on every rank."""
        if self.size == 1:
            return [value]
        with self.talking():
            return self._communicator.allgather(value)  # type: ignore[no-any-return]

    def local_allgather(self, value: Value) -> list[Value]:
        """Return the value of every rank on this host, in rank order, on each of them."""
        if self.local_size == 1:
            return [value]
        with self.talking():
            return self._local.allgather(value)  # type: ignore[no-any-return]

    def gather(self, value: Value) -> list[Value]:
        """Return the value of every rank, in rank order, on rank 0; an empty list elsewhere."""
        if self.size == 1:
            return [value]
        with self.talking():
            return self._communicator.gather(value) or []

    def bcast(self, value: Value) -> Value:
        """Return rank 0's value on every rank."""
        if self.size == 1:
            return value
        with self.talking():
            return self._communicator.bcast(value)  # type: ignore[no-any-return]

    def any(self, flag: bool) -> bool:
        """Return whether `flag` is true on any rank."""
        return any(self.allgather(flag))

    def barrier(self) -> None:
        """Wait for every rank."""
        if self.size > 1:
            with self.talking():
                self._communicator.Barrier()

    def share(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a row of numbers of every rank, in rank order; the fastest way to agree."""
        import numpy as np

        if self.size == 1:
            return numbers[np.newaxis].copy()
        together = np.empty((self.size, len(numbers)), np.int64)
        with self.talking():
            self._communicator.Allgather(np.ascontiguousarray(numbers, np.int64), together)
        return together

    def post(
        self,
        sends: Sequence[tuple[int, Any]],
        receives: Sequence[tuple[int, Any]],
        tag: int = 0,
    ) -> Pending:
        """Begin to send and to receive: (rank, contiguous array of bytes), at most one a rank.

        Arrays may lie on a GPU where the MPI takes them; what writes them must be done. Messages
        meet those of the same tag.
        """
        arriving: list[Any] = []
        try:
            with self.talking():
                for rank, to in receives:
                    arriving.append(self._communicator.Irecv(to, rank, tag))
                leaving = [self._communicator.Isend(what, rank, tag) for rank, what in sends]
        except Exception:
            Pending(self, arriving).give_up()
            raise
        return Pending(self, arriving, leaving)

    def channel(self, tag: int, sends: Mapping[int, Any], receives: Mapping[int, Any]) -> Channel:
        """Return a channel between ranks that do not wait for each other, with arrays by rank."""
        return Channel(self._communicator, tag, sends, receives)

    def new_tag(self) -> int:
        """Return a tag that no message between these ranks had; each of them has to call this."""
        return next(self._tags)

    def takes_gpu_memory(self) -> bool:
        """Return whether the MPI of every rank claims to take arrays on a GPU; collective."""
        return self.size > 1 and not self.any(not takes_gpu_memory())

    def takes_threads(self) -> bool:
        """Return whether several threads of every rank may talk at once; collective."""
        return self.size > 1 and not self.any(not takes_threads())

    def part(self, ranks: int) -> Self | None:
        """Return the first so many ranks as a world of their own, or None on the others."""
        if self.size == 1:
            return self
        part = self._communicator.Split(0 if self.rank < ranks else 1, self.rank)
        return type(self)(part) if self.rank < ranks else None

    def shrink(self) -> None:
        """Go on as the ranks that are left, numbered anew; each of them has to call this."""
        size = self.size
        while True:
            try:
                self._begin(self._communicator.Shrink())
                break
            except RanksLostError:
                continue  # another has died meanwhile
        World.rank_after_losses = self.rank
        self._shrunk_in_vain = self._shrunk_in_vain + 1 if self.size == size else 0
        if self._shrunk_in_vain > _VAIN_TRIES:
            raise RunError("messages between the ranks fail, though none has died")

    @contextmanager
    def talking(self) -> Iterator[None]:
        """Turn the death of other ranks, where it can be survived, into a `RanksLostError`."""
        try:
            yield
        except Exception as error:
            # Whatever it is: what comes from a rank that dies meanwhile may also be torn.
            if not self.fault_tolerant:
                raise
            # Others may be waiting for this rank, or for the dead one, elsewhere.
            for communicator in self._communicators:
                communicator.Revoke()
            raise RanksLostError(f"lost ranks of {self.size}: {error}") from error

    def agreed(self, work: Callable[[], Value]) -> Value:
        """Do `work`, which must not talk to other ranks, on every rank; if one fails, all raise."""
        if self.size == 1:
            return work()
        value, error = None, None
        try:
            value = work()
        except IslandsError as failure:
            error = failure
        errors = self.allgather(error)
        if not any(errors):
            return value  # type: ignore[return-value]
        self._agreed_error = self._common(errors)
        raise self._agreed_error from error

    def _common(self, errors: list[IslandsError | None]) -> IslandsError:
        rank, first = next((rank, error) for rank, error in enumerate(errors) if error is not None)
        if all(str(error) == str(first) for error in errors):
            return first
        return type(first)(f"[rank {rank} of {self.size}] {first}")

    @contextmanager
    def guarded(self, *, show_traceback: bool) -> Iterator[None]:
        """End all ranks where one fails inside; errors that all ranks agreed on pass through."""
        try:
            yield
        except BaseException as error:
            if self.size == 1 or error is self._agreed_error:
                raise
            if show_traceback:
                traceback.print_exc()
            status = 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "status", 1)
            self.abort(describe(error, is_traced=show_traceback), status)

    def abort(self, message: str, status: int = 1) -> NoReturn:
        """Print `message` with this rank's number and end all ranks at once."""
        # Ranks that fail together leave the word to the lowest of them.
        time.sleep(min(1.0, 0.1 * self.rank))
        where = f"[rank {self.rank} of {self.size}, {platform.node()}] " if self.size > 1 else ""
        print(f"islands: {where}{message}", file=sys.stderr, flush=True)
        if self._communicator is not None:
            self._communicator.Abort(status)
        raise SystemExit(status)


def _on_this_host(communicator: Any) -> Any:
    from mpi4py import MPI

    return communicator.Split_type(MPI.COMM_TYPE_SHARED)
