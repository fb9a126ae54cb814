"""How a failure is said in one line, and the failure of other ranks."""

from __future__ import annotations

import errno

from islands.custom.scripts import place_in
from islands.errors import IslandsError, RunError, Suspended


class RanksLostError(RunError):
    """Other ranks have died; in a fault-tolerant run, those that are left can go on."""


def describe(error: BaseException, *, is_traced: bool = False) -> str:
    """Return an error in one line: its message where it is ours, with its kind where it is not.

    Unless it `is_traced` already, an unexpected one says how to see where it happened.
    """
    if isinstance(error, IslandsError | Suspended):
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
    if place := place_in(error):
        return f"{place}: {type(error).__name__}: {error}"
    hint = "" if is_traced else ". --debug shows where it happened"
    return f"unexpected {type(error).__name__}: {error}{hint}"
