"""What can go wrong, as users meet it: one message that names the value and the hint."""

from __future__ import annotations


class IslandsError(Exception):
    """The base of all errors that the command line prints as one line and ends with `status`."""

    status = 2


class _OneLineError(IslandsError, ValueError):
    """An error about what a user wrote, which may hold anything: it is shown on one line."""

    def __str__(self) -> str:
        """Return the message with all that cannot be printed written out."""
        return "".join(
            each if each.isprintable() else each.encode("unicode_escape").decode()
            for each in super().__str__()
        )


class UsageError(_OneLineError):
    """A setting, a name or a combination that cannot be."""


class InputError(_OneLineError):
    """A file that is missing, unreadable or malformed."""


class UnwritableError(InputError):
    """A file or a folder that cannot be written."""


class CompileError(IslandsError, RuntimeError):
    """A kernel that a compiler refused, or a compiler that is not there."""

    status = 1


class RunError(IslandsError, RuntimeError):
    """A run that failed after it began, a result that the exact check contradicts among them."""

    status = 1


class Suspended(BaseException):
    """Told by a signal to end, and to go on another time."""

    status = 75
    """EX_TEMPFAIL of sysexits.h."""


def system_reason(error: OSError) -> str:
    """Return what the operating system says, such as `Permission denied`."""
    return error.strerror or str(error)
