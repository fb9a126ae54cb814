"""Who observes a run: a user's callback, and the display."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from islands.progress.progress import Progress

Callback = Callable[[Progress], object]
"""A user's function for the progress at the end of an epoch; the run ends if it returns True."""


class Viewer(Protocol):
    """Receives the progress and messages of a running run."""

    def show(self, progress: Progress) -> None:
        """Show the progress."""

    def kept(self) -> None:
        """Note that a checkpoint was written."""

    def say(self, text: str) -> None:
        """Show a message."""


def requests_end(callback: Callback, progress: Progress) -> bool:
    """Call the callback; return whether it returned True.

    Other true values do not count: functions of libraries return all kinds of values.
    """
    given = callback(progress)
    return isinstance(given, bool | np.bool_) and bool(given)
