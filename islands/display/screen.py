"""What a run says: to a stream for people, and more to log.txt; ranks above 0 say nothing."""

from __future__ import annotations

from pathlib import Path
from threading import RLock
from typing import Self, TextIO

from islands.display.table import Table
from islands.paths import writing
from islands.progress.progress import Progress


class Screen:
    """Prints a run's header, table and end; quiet, the stream is given the end alone."""

    def __init__(self, stream: TextIO | None, log: Path | None, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._lock = RLock()  # a thread speaks while a generation takes long
        self._log = _opened(log) if log is not None else None
        self._table = Table(self.say)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._log is not None:
            with writing(self._log.name):
                self._log.close()

    def show(self, progress: Progress) -> None:
        """Add an epoch to the table, where it is time for a row."""
        with self._lock:
            self._table.show(progress)

    def kept(self) -> None:
        """Mark the next row of the table by a checkpoint."""
        self._table.kept()

    def end(self, progress: Progress, summary: str) -> None:
        """Add the last epoch, and say how the run ended."""
        self._table.finish(progress)
        self.say("")
        self.say(summary, always=True)

    def say(self, text: str, *, always: bool = False) -> None:
        """Say something between the rows of the table."""
        with self._lock:
            if self._stream is not None and (always or not self._quiet):
                with writing(getattr(self._stream, "name", "the output")):
                    print(text, file=self._stream, flush=True)
            self.note(text)

    def note(self, text: str) -> None:
        """Write to the log alone."""
        if self._log is not None:
            with writing(self._log.name):
                print(text, file=self._log)


def _opened(log: Path) -> TextIO:
    with writing(log):
        # Names of files may hold bytes that are not UTF-8.
        return log.open("a", encoding="utf-8", errors="backslashreplace", buffering=1)
