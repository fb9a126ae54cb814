"""What can go wrong, as users meet it: one message that names the value and the mend."""

from __future__ import annotations


class IslandsError(Exception):
    """The base of all errors that the command line prints as one line and ends with `status`."""

    status = 2


class UsageError(IslandsError, ValueError):
    """A setting, a name or a combination that cannot be."""


class InputError(IslandsError, ValueError):
    """A file that is missing, unreadable or malformed."""


class UnwritableError(InputError):
    """A file or a folder that cannot be written."""


class CompileError(IslandsError, RuntimeError):
    """A kernel that a compiler refused, or a compiler that is not there."""

    status = 1


class RunError(IslandsError, RuntimeError):
    """A run that failed after it began, a result that the exact check contradicts among them."""

    status = 1


def system_reason(error: OSError) -> str:
    """Return what the operating system says, such as `Permission denied`."""
    return error.strerror or str(error)
