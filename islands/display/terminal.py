"""Terminal output beyond lines of text: colours, and a status line that is rewritten."""

import os
import re
import shutil
import time
from contextlib import suppress
from typing import TextIO

from islands.parallel import has_launcher
from islands.text import one_line

_CELL = 100
"""Maximum number of characters of the status line in a notebook cell."""
_BETWEEN_UPDATES = 0.5
"""Minimum number of seconds between two updates of the status line."""
_COLOURS = (
    (re.compile(r"^\*(?= )|^\*(?=C)", re.MULTILINE), "32"),  # a new best
    (re.compile(r"^Best [^,\n]+?(?=,|   |$)", re.MULTILINE), "1;32"),
    (re.compile(r"^islands:", re.MULTILINE), "31"),
)
"""Patterns of coloured text, and the codes of their colours."""


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that can rewrite its last line.

    Launchers give each rank a terminal, even if the output goes to a file.
    """
    if stream is None or os.environ.get("TERM") == "dumb" or has_launcher():
        return False
    with suppress(ValueError):  # it is closed
        return stream.isatty()
    return False


def takes_colours(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal, and `NO_COLOR` is not set."""
    return not os.environ.get("NO_COLOR") and is_terminal(stream)


def coloured(text: str) -> str:
    """Return text with the codes of colours."""
    for pattern, code in _COLOURS:
        text = pattern.sub(f"\x1b[{code}m\\g<0>\x1b[0m", text)
    return text


def is_notebook(stream: TextIO | None) -> bool:
    """Return whether a stream is the output of a notebook cell, which can rewrite a line too."""
    return type(stream).__module__.startswith("ipykernel.") and not has_launcher()


class StatusLine:
    """The last line of a terminal or of a notebook cell, which the next output replaces."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown_at, self._is_drawn = float("-inf"), False
        self._width = _CELL if is_notebook(stream) else None
        self._clear = f"\r{' ' * _CELL}\r" if is_notebook(stream) else "\r\x1b[K"

    def show(self, text: str) -> None:
        """Show a state unless the line was updated a moment ago."""
        now = time.monotonic()
        if now - self._shown_at >= _BETWEEN_UPDATES:
            self._shown_at = now
            self.draw(text)

    def draw(self, text: str) -> None:
        """Show a state immediately."""
        self._is_drawn = True
        width = self._width or shutil.get_terminal_size().columns - 1
        # Return the cursor to the start, so that other output overwrites the line.
        end = "" if self._width else "\r"
        write(self._stream, f"{self._clear}{one_line(text, width)}{end}")

    def wipe(self) -> None:
        """Remove the line before other output."""
        if self._is_drawn:
            self._is_drawn = False
            write(self._stream, self._clear)


def write(stream: TextIO, text: str) -> None:
    """Write to a stream; do nothing if it is closed."""
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
