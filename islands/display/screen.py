"""Print the output of a run to a stream, and in full to log.txt; only rank 0 prints."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Self, TextIO

from islands.configuration.stop import Criterion, seconds_left
from islands.display.heartbeat import duration
from islands.display.standstill import Standstill
from islands.display.terminal import (
    StatusLine,
    coloured,
    is_notebook,
    is_terminal,
    takes_colours,
)
from islands.errors import InputError
from islands.inside import opened
from islands.paths import writing
from islands.progress.progress import Progress
from islands.text import count, gap, show

KEY = "* new best, C checkpoint since the previous row.   Spread: mean above the best"
HEADER = "   Generation    Time |         Best     Gap Island |  Spread |  Evals Evals/s"
"""Rows have this width, which fits a terminal of 80 columns."""
ROWS_BETWEEN_HEADERS = 20
SECONDS_BETWEEN_BESTS = 1.0
SECONDS_BETWEEN_ROWS = 5.0


class Screen:
    """Prints a run's header, table and end; if quiet, only the end goes to the stream."""

    def __init__(
        self,
        stream: TextIO | None,
        log: Path | None,
        *,
        quiet: bool = False,
        criteria: Sequence[Criterion] = (),
        standstill: Standstill | None = None,
        failed: Callable[[Exception, bool], None] | None = None,
    ) -> None:
        """Print to a stream and a log; `criteria` limit the length of the run.

        If the stream or the log cannot be written, it is no longer used, and `failed` receives the
        error, and whether it is from the log; without `failed`, the error is raised.
        """
        self._failed = failed
        self._standstill = standstill
        self._stream = stream
        self._quiet, self._criteria = quiet, criteria
        self._status: StatusLine | None = None
        """The current state of the run, shown on terminals only."""
        if stream is not None and not quiet and (is_terminal(stream) or is_notebook(stream)):
            self._status = StatusLine(stream)
        self._has_colours = takes_colours(stream)
        self._lock = RLock()  # a thread prints during long generations
        self._log = _opened(log) if log is not None else None
        self.table = ProgressTable(self.say)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.wipe()
        if self._log is not None:
            with self._tolerating(is_log=True), writing(self._log.name):
                self._log.close()

    def show(self, progress: Progress) -> None:
        """Add an epoch to the table if a row is due."""
        with self._lock:
            self.table.show(progress)
            if self._standstill is not None and (words := self._standstill.words(progress)):
                self.say(words)
            if self._status is not None:
                self._status.show(self._state(progress))

    def _state(self, progress: Progress) -> str:
        """Return the state of the run, with the remaining time if it is known."""
        best = "no solution yet" if progress.cost is None else f"best {progress.cost}"
        if progress.cost is not None and progress.gap is not None:
            best += f", gap {gap(progress.gap)}"
        words = f"generation {progress.generation}: {best}, {duration(progress.seconds)}"
        left = seconds_left(self._criteria, progress)
        return words if left is None else f"{words}, at most {duration(left)} left"

    def end(self, progress: Progress, summary: str) -> None:
        """Add the last epoch, and print how the run ended."""
        self.table.finish(progress)
        self.say("")
        self.say(summary, always=True)

    def say(self, text: str, *, always: bool = False) -> None:
        """Print a message between rows of the table."""
        with self._lock:
            if self._stream is not None and (always or not self._quiet):
                name = getattr(self._stream, "name", "the output")
                with self._tolerating(is_log=False), writing(name):
                    if self._status is not None:
                        self._status.wipe()
                    show(text, self._stream, painted=coloured if self._has_colours else str)
            self.note(text)

    def note(self, text: str) -> None:
        """Write a message to the log only."""
        if self._log is not None:
            with self._tolerating(is_log=True), writing(self._log.name):
                show(text, self._log)

    @contextmanager
    def _tolerating(self, *, is_log: bool) -> Iterator[None]:
        """Stop using the log or the stream if it cannot be written inside the block."""
        try:
            yield
        except (OSError, InputError) as error:
            if self._failed is None:
                raise
            if is_log:
                self._log = None
            else:
                self._stream = self._status = None
            self._failed(error, is_log)


def _opened(log: Path) -> TextIO:
    with writing(log):
        # File names may contain bytes that are not UTF-8.
        return opened(log, "a", encoding="utf-8", errors="backslashreplace", buffering=1)


class ProgressTable:
    """Selects the epochs that become rows, by the time of the run."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._rows = 0
        self._last: Progress | None = None
        self.has_checkpoint = False
        """Whether a checkpoint was written since the last row."""
        self.since = -1
        """The generation that a run resumes from: only later ones have a new best."""

    def show(self, progress: Progress) -> None:
        """Print a row for this epoch if one is due; the first always is."""
        if self._is_due(progress):
            self._print(progress)

    def finish(self, progress: Progress) -> None:
        """Print a row for the last epoch unless it has one."""
        if progress != self._last:
            self._print(progress)

    def _is_due(self, progress: Progress) -> bool:
        if self._last is None:
            return True
        waited = progress.seconds - self._last.seconds
        is_better = progress.cost != self._last.cost
        return waited >= (SECONDS_BETWEEN_BESTS if is_better else SECONDS_BETWEEN_ROWS)

    def _print(self, progress: Progress) -> None:
        if self._rows == 0:
            self._write(KEY)
        if self._rows % ROWS_BETWEEN_HEADERS == 0:
            self._write(f"\n{HEADER}")
        self._write(row(progress, self._last, has_checkpoint=self.has_checkpoint, since=self.since))
        self._rows += 1
        self.has_checkpoint = False
        self._last = progress


def row(
    progress: Progress, before: Progress | None, *, has_checkpoint: bool = False, since: int = -1
) -> str:
    """Return one row; speed and star refer to `before`; without it, the star refers to `since`."""
    is_new = progress.best_generation > since if before is None else progress.cost != before.cost
    return (
        f"{'*' if is_new and progress.cost is not None else ' '}{'C' if has_checkpoint else ' '}"
        f"{progress.generation:>11} {_time(progress.seconds):>7} |"
        f" {or_dash(progress.cost):>12} {gap(progress.gap):>7} {_island(progress):>6} |"
        f" {_spread(progress):>7} | {count(progress.evaluations):>6} {_speed(progress, before):>7}"
    )


def _time(seconds: float) -> str:
    if seconds < 1000:
        return f"{seconds:.1f}s"
    return f"{seconds / 60:.1f}m" if seconds < 60_000 else f"{seconds / 3600:.1f}h"


def or_dash(number: float | None) -> str:
    """Return a number, or `-` for None."""
    return "-" if number is None else str(number)


def _island(progress: Progress) -> str:
    """Return the island that found the best, after its colony if there are several."""
    colony = "" if progress.colony is None else f"{progress.colony}:"
    return f"{colony}{or_dash(progress.island)}"


def _spread(progress: Progress) -> str:
    if not progress.cost:
        return "-"
    percent = 100 * abs(progress.mean / progress.cost - 1)
    return f"{percent:.1f}%" if percent <= 999 else ">999%"


def _speed(progress: Progress, before: Progress | None) -> str:
    if before is None or progress.seconds <= before.seconds:
        return "-"
    done = progress.evaluations - before.evaluations
    return count(done / (progress.seconds - before.seconds))
