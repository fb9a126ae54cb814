"""Standard output and error as a user's shell gives them: closed, full, or in another alphabet."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path

from islands.errors import UnwritableError
from islands.paths import writing


def prepare() -> None:
    """Let no print fail because a stream is closed, or lacks the letters of a file's name."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115, as it is to stay open
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Write what was printed; give up what cannot be, as Python would fail again at its exit."""
    try:
        with writing("standard output"):
            sys.stdout.flush()
    except (OSError, UnwritableError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
