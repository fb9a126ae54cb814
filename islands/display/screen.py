"""Print a run's output to a stream, and more of it to log.txt; ranks above 0 print nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import RLock
from typing import Self, TextIO

from islands.configuration.stop import Criterion, seconds_left
from islands.display.heartbeat import duration
from islands.display.table import Table
from islands.display.terminal import StatusLine, coloured, is_terminal, takes_colours
from islands.inside import opened
from islands.paths import writing
from islands.progress.progress import Progress
from islands.text import show


class Screen:
    """Prints a run's header, table and end; if quiet, only the end goes to the stream."""

    def __init__(
        self,
        stream: TextIO | None,
        log: Path | None,
        *,
        quiet: bool = False,
        criteria: Sequence[Criterion] = (),
    ) -> None:
        """Print to a stream and a log; `criteria` tell how long the run lasts at most."""
        self._stream = stream
        self._quiet, self._criteria = quiet, criteria
        self._status: StatusLine | None = None
        """The state of the run, which only a terminal shows."""
        if stream is not None and not quiet and is_terminal(stream):
            self._status = StatusLine(stream)
        self._has_colours = takes_colours(stream)
        self._lock = RLock()  # a thread prints during long generations
        self._log = _opened(log) if log is not None else None
        self._table = Table(self.say)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.wipe()
        if self._log is not None:
            with writing(self._log.name):
                self._log.close()

    def show(self, progress: Progress) -> None:
        """Add an epoch to the table if a row is due."""
        with self._lock:
            self._table.show(progress)
            if self._status is not None:
                self._status.show(self._state(progress))

    def _state(self, progress: Progress) -> str:
        """Return the state of the run, with the time that is left if it is known."""
        words = f"generation {progress.generation}, {duration(progress.seconds)} elapsed"
        left = seconds_left(self._criteria, progress)
        return words if left is None else f"{words}, at most about {duration(left)} left"

    def kept(self) -> None:
        """Mark the next row of the table as after a checkpoint."""
        self._table.kept()

    def finish(self, progress: Progress) -> None:
        """Add the last epoch to the table unless it has a row."""
        self._table.finish(progress)

    def end(self, progress: Progress, summary: str) -> None:
        """Add the last epoch, and print how the run ended."""
        self.finish(progress)
        self.say("")
        self.say(summary, always=True)

    def say(self, text: str, *, always: bool = False) -> None:
        """Print a message between rows of the table."""
        with self._lock:
            if self._stream is not None and (always or not self._quiet):
                with writing(getattr(self._stream, "name", "the output")):
                    if self._status is not None:
                        self._status.wipe()
                    show(text, self._stream, painted=coloured if self._has_colours else str)
            self.note(text)

    def note(self, text: str) -> None:
        """Write a message to the log alone."""
        if self._log is not None:
            with writing(self._log.name):
                show(text, self._log)


def _opened(log: Path) -> TextIO:
    with writing(log):
        # File names may contain bytes that are not UTF-8.
        return opened(log, "a", encoding="utf-8", errors="backslashreplace", buffering=1)
