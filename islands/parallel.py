"""The ranks of a run, and the only place that imports mpi4py; without a launcher, one rank."""

from __future__ import annotations

import errno
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from islands.errors import IslandsError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = TypeVar("Value")

# How each launcher tells a process its rank and the number of ranks. A Slurm batch script has a
# rank but no step, so that a plain start inside it is one rank.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


def launched() -> tuple[int, int]:
    """Return this process's rank and the number of ranks, as its launcher announced them."""
    for names in _LAUNCHERS:
        if all(name in os.environ for name in names):
            rank, size = (_whole(name) for name in names)
            if rank >= size:
                raise UsageError(
                    f"{names[0]}={rank}: must be less than {names[1]}={size}."
                    " Launchers set them; unset them outside of one"
                )
            return rank, size
    return 0, 1


def _whole(name: str) -> int:
    value = os.environ[name]
    if not (value.isascii() and value.isdigit()):
        raise UsageError(
            f"{name}={value}: must be a whole number. Launchers set it; unset it outside of one"
        )
    return int(value)


def deal(islands: int, size: int, rank: int) -> range:
    """Return the islands of one rank: blocks in rank order, the first ones larger where uneven."""
    if size > islands:
        raise UsageError(
            f"{size} ranks for {islands} islands leave ranks without work."
            f" Start at most {islands} ranks, or set --islands {size}"
        )
    each, more = divmod(islands, size)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))


class World:
    """The ranks that run together, over an MPI communicator, or this process alone."""

    def __init__(self, communicator: Any = None) -> None:
        self._communicator = communicator
        self._agreed_error: IslandsError | None = None
        self.rank, self.size = 0, 1
        # Its place among the ranks on the same host, and their number.
        self.local_rank, self.local_size = 0, 1
        if communicator is not None:
            self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
            self.local_rank, self.local_size = _local(communicator)

    def allgather(self, value: Value) -> list[Value]:
        """Return the value of every rank, in rank order, on every rank."""
        return [value] if self.size == 1 else self._communicator.allgather(value)

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

    def allgather_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a new array of all ranks' rows in rank order; their number may differ."""
        if self.size == 1:
            return rows.copy()
        import numpy as np
        from mpi4py import MPI

        rows = np.ascontiguousarray(rows)
        counts = self.allgather(len(rows))
        together = np.empty((sum(counts), *rows.shape[1:]), rows.dtype)
        # Counting rows rather than bytes keeps the counts within MPI's 32 bits.
        row = MPI.BYTE.Create_contiguous(rows.dtype.itemsize * int(np.prod(rows.shape[1:])))
        row.Commit()
        try:
            self._communicator.Allgatherv([rows, len(rows), row], [together, counts, None, row])
        finally:
            row.Free()
        return together

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
            self.abort(describe(error), status)

    def abort(self, message: str, status: int = 1) -> NoReturn:
        """Print `message` with this rank's number and end all ranks at once."""
        # Ranks that fail together leave the word to the lowest of them.
        time.sleep(min(1.0, 0.1 * self.rank))
        where = f"[rank {self.rank} of {self.size}, {platform.node()}] " if self.size > 1 else ""
        print(f"islands: {where}{message}", file=sys.stderr, flush=True)
        if self._communicator is not None:
            self._communicator.Abort(status)
        raise SystemExit(status)


def describe(error: BaseException) -> str:
    """Return an error in one line: its message where it is ours, with its kind where it is not."""
    if isinstance(error, IslandsError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return f"out of memory ({error}). Lower population or islands, or use more ranks"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and not error.filename:
        # Our own files are named where they are written.
        return f"standard output: {error.strerror}. Send it where there is room"
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    return f"unexpected {type(error).__name__}: {error}. --debug shows where it happened"


def world() -> World:
    """Return the ranks that the launcher started; only several of them need mpi4py."""
    rank, announced = launched()
    if announced == 1:
        return World()
    try:
        return World(_communicator(announced))
    except UsageError as error:
        if rank > 0:
            # Each rank may be the only one with this trouble, so it speaks, but after rank 0.
            time.sleep(1.0)
            World().abort(f"[rank {rank} of {announced}] {error}", error.status)
        raise


def _communicator(announced: int) -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UsageError(
            f"started with {announced} ranks, but mpi4py cannot be used ({error})."
            " Install it with: pip install 'islands[mpi]'"
        ) from error
    size = MPI.COMM_WORLD.Get_size()
    if size != announced:
        raise UsageError(
            f"the launcher started {announced} ranks, but MPI sees {size}: they belong to different"
            " MPI libraries. Use the mpirun of the MPI that mpi4py loads, or srun --mpi=pmix"
        )
    return MPI.COMM_WORLD


def _local(communicator: Any) -> tuple[int, int]:
    from mpi4py import MPI

    shared = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        return shared.Get_rank(), shared.Get_size()
    finally:
        shared.Free()
