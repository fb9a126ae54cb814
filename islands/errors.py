"""Errors for users: each message names the value, what is allowed, and the fix."""

from contextlib import suppress
from pathlib import Path

from islands.text import escaped


class IslandsError(Exception):
    """Base class of errors that the command line prints on one line; it then exits with `status`.

    >>> try:
    ...     islands.solve("demo/tsp", popsize=100)
    ... except islands.IslandsError as error:
    ...     print(error)
    popsize: is not a setting of islands. Write population=N
    """

    status = 2

    def __str__(self) -> str:
        """Return the message with unprintable characters escaped, as it may quote any text."""
        return escaped(super().__str__())


class _OneLineError(IslandsError, ValueError):
    """An error about user input, which may contain any characters; the message is one line."""

    def __str__(self) -> str:
        """Return the message with unprintable characters and line breaks escaped."""
        return escaped(super().__str__(), kept="")


class UsageError(_OneLineError):
    """An invalid setting, name or combination of settings."""


class InputError(_OneLineError):
    """A file that is missing, unreadable or malformed."""


class UntrustedError(InputError):
    """A script or other code that others may have written, and that the user has not named."""


class UnwritableError(InputError):
    """A file or a folder that cannot be written."""


class CompileError(IslandsError, RuntimeError):
    """A kernel that does not compile, or a missing compiler."""

    status = 1


class RunError(IslandsError, RuntimeError):
    """A run that failed after its start, or a result that differs from its exact evaluation."""

    status = 1


class Suspended(BaseException):
    """A signal requested that the run stop now and be resumed later."""

    status = 75
    """EX_TEMPFAIL of sysexits.h."""


def system_reason(error: OSError) -> str:
    """Return the message of the operating system, such as `Permission denied`.

    Of a symbolic link without a target, the system only says that it exists.
    """
    if isinstance(error, FileExistsError) and isinstance(link := error.filename, str | Path):
        with suppress(OSError):
            if not Path(link).exists():
                target = Path(link).readlink()
                return f"{link} is a symbolic link to {target}, which does not exist"
    return error.strerror or str(error)
