"""The errors that users see: one message that names the value and the fix."""

from __future__ import annotations

from islands.text import escaped


class IslandsError(Exception):
    """Base of all errors that the command line prints on one line before it exits with `status`.

    >>> try:
    ...     islands.solve("demo/tsp", popsize=100)
    ... except islands.IslandsError as error:
    ...     print(error)
    popsize: is not a setting of islands. Write population=N
    """

    status = 2

    def __str__(self) -> str:
        """Return the message, which may quote any text, with unprintable characters escaped."""
        return escaped(super().__str__())


class _OneLineError(IslandsError, ValueError):
    """An error about user input, which may contain any characters; its message is one line."""

    def __str__(self) -> str:
        """Return the message with unprintable characters and line breaks escaped."""
        return escaped(super().__str__(), kept="")


class UsageError(_OneLineError):
    """An invalid setting, name or combination of settings."""


class InputError(_OneLineError):
    """A file that is missing, unreadable or malformed."""


class UntrustedError(InputError):
    """A script or other code that somebody else may have written, and the user has not named."""


class UnwritableError(InputError):
    """A file or a folder that cannot be written."""


class CompileError(IslandsError, RuntimeError):
    """A kernel that does not compile, or a missing compiler."""

    status = 1


class RunError(IslandsError, RuntimeError):
    """A run that failed after it began, or a result that the exact check contradicts."""

    status = 1


class Suspended(BaseException):
    """A signal asked to stop now and resume later."""

    status = 75
    """EX_TEMPFAIL of sysexits.h."""


def system_reason(error: OSError) -> str:
    """Return the operating system's message, such as `Permission denied`."""
    return error.strerror or str(error)
