"""Errors on one line, their exit status, and the error that all ranks raise together."""

import errno
import os
import pickle
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from islands.custom.scripts import script_line
from islands.errors import InputError, IslandsError, RunError, Suspended
from islands.inside import opened

ERROR_FILE = "ISLANDS_ERROR_FILE"
"""The variable with the path of a file to which ranks append their errors; batch scripts set it."""
_MPI_STATUS = 69
"""EX_UNAVAILABLE of sysexits.h: islands-supervise restarts the job, unlike after status 1."""


class InterruptedTogether(KeyboardInterrupt):
    """An interruption that all ranks raise, so that none waits for another."""


def describe(error: BaseException, *, is_traced: bool = False) -> str:
    """Return an error on one line: the message of an `IslandsError`, or type and message.

    Unless its traceback has been shown (`is_traced`), an unexpected error is followed by the option
    that shows it.
    """
    if isinstance(error, IslandsError | Suspended):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return f"out of memory ({error}). Lower population or islands, or use more ranks"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and not error.filename:
        # Errors in files of a run have a file name.
        return f"standard output: {error.strerror}. Redirect it to a disk with free space"
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    if place := script_line(error):
        return f"{place}: {type(error).__name__}: {error}"
    hint = "" if is_traced else ". --debug shows where it happened"
    return f"unexpected {type(error).__name__}: {error}{hint}"


def record_error(error: BaseException) -> None:
    """Append an error to the file of ERROR_FILE, unless it comes from MPI.

    After another rank has ended, MPI raises errors, which the exit status of a launcher does not
    distinguish from the first one.
    """
    path = os.environ.get(ERROR_FILE)
    if path and not _is_of_mpi(error) and isinstance(error, Exception):
        with suppress(OSError, InputError), opened(Path(path), "a") as stream:
            stream.write(f"{describe(error)}\n")


def status_of(error: BaseException) -> int:
    """Return the exit status of a process that ends with an error."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    return int(getattr(error, "status", _MPI_STATUS if _is_of_mpi(error) else 1))


def _is_of_mpi(error: BaseException) -> bool:
    return type(error).__module__.startswith("mpi4py")


def portable(error: BaseException, rank: int = 0) -> BaseException:
    """Return a copy of an exception for other ranks: picklable, with the traceback as a note."""
    copy: object = None
    with suppress(Exception):  # pickling an exception of a user may fail in any way
        copy = pickle.loads(pickle.dumps(error))
    if not isinstance(copy, BaseException):
        copy = RunError(f"{type(error).__name__}: {error}")
    copy.add_note(f"On rank {rank}:\n{''.join(traceback.format_exception(error))}")
    return copy


def common(errors: Sequence[IslandsError | None]) -> IslandsError:
    """Return the error that all ranks raise: the first, with its rank unless all are equal."""
    rank, first = next((rank, error) for rank, error in enumerate(errors) if error is not None)
    if all(str(error) == str(first) for error in errors):
        return first
    return type(first)(f"[rank {rank} of {len(errors)}] {first}")
