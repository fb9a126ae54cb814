"""The state of work that consists of many runs, for other processes that watch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """Which piece of its work a series, a tuning, an experiment or a measurement is doing."""

    number: int
    """The number of the piece, from 1."""
    of: int
    words: str
    """The piece with its number."""
    time: str
    """The time so far, and the time that is left if it is known; may be empty."""

    def __str__(self) -> str:
        """Return the words and the time."""
        return "; ".join(filter(None, [self.words, self.time]))
