"""The advice at the end of a run whose files have failed: how to continue it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from islands.errors import RunError, UnwritableError
from islands.parallel import describe


@contextmanager
def advising(folder: Path | None) -> Iterator[None]:
    """Add to an error of a file inside the block the command that continues the run."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has left
    except (OSError, UnwritableError) as error:
        if folder is None:
            raise
        command = f"continue the run with: islands resume {shlex.quote(str(folder))}"
        if isinstance(error, OSError):
            raise RunError(f"{describe(error)}. When this is repaired, {command}") from error
        # The same object, as all ranks may have agreed on it.
        error.args = (f"{error}. Then {command}",)
        raise
