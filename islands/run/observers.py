"""Who observes a run: a user's callback, and the display."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from islands.errors import RunError
from islands.modelling.functions import is_of_signal
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
    try:
        given = callback(progress)
    except SystemExit as error:
        if is_of_signal(error):
            raise
        raise RunError(
            f"callback= called sys.exit({error.code!r}), which would end the run without a result."
            " To end the run, return True"
        ) from error
    return isinstance(given, bool | np.bool_) and bool(given)
