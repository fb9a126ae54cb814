"""Report the current work of a command and the remaining time, on standard error and in a file.

Other processes read the file. It is removed when all work is done; if the process ends before that,
the file shows how far the work got.
"""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self, TextIO, TypeVar

from islands.display.terminal import StatusLine, is_terminal, write
from islands.errors import InputError
from islands.inside import inside
from islands.paths import publish
from islands.text import escaped, show
from islands.untrusted import bounded_text, parsing, typed

_LONGEST_SILENCE = 30.0
"""Seconds without output, during one piece of work, after which a line is printed."""
_BETWEEN_LINES = 5.0
"""Minimum seconds between lines of a log file; on a terminal, the line is rewritten at once."""
_BETWEEN_REPORTS = 0.5
"""Minimum seconds between two reports of work without pieces."""

Piece = TypeVar("Piece")
_FILE = ".work.json"
"""The file with the current work in a folder, for other processes."""


@dataclass(frozen=True)
class Work:
    """The current piece of the work of a series, a tuning, an experiment or a measurement."""

    number: int
    """The number of the piece, from 1."""
    of: int
    words: str
    """The piece with its number."""
    time: str
    """The elapsed time, and the remaining time if it is known; may be empty."""

    def __str__(self) -> str:
        """Return the words and the time."""
        return escaped("; ".join(filter(None, [self.words, self.time])), kept="")


class Heartbeat:
    """Reports the current piece of the work of a command to a stream, if there is one.

    Inside a `with` block, a thread also reports during long pieces. Outside, output appears only
    between pieces, so that it does not affect measurements.
    """

    def __init__(self, stream: TextIO | None = None, work: str = "") -> None:
        """Report the progress of `work` to `stream`."""
        self.work = work
        self.listener: Callable[[Work], None] | None = None
        """A function that also receives each report."""
        self._stream = stream
        self._line = StatusLine(stream) if stream is not None and is_terminal(stream) else None
        self._pieces = _Pieces(0, None)
        self._words = self._detail = ""
        self._number = self._of = 0
        self._said_at = self._reported_at = float("-inf")
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)

    def __enter__(self) -> Self:
        if self._stream is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._stream is not None:
            self._thread.join()
        if self._line is not None:
            self._line.wipe()

    def over(
        self,
        pieces: Collection[Piece],
        words: Callable[[Piece], str],
        *,
        seconds: float | None = None,
        effort: Callable[[Piece], float] = lambda _: 1.0,
    ) -> Iterator[Piece]:
        """Yield the pieces, and report each by its `words` when it begins.

        Estimate the remaining time from the completed pieces and their `effort`; before the first
        is complete, from the maximum `seconds` of a piece, if given.
        """
        self._pieces, self._of = _Pieces(sum(map(effort, pieces)), seconds), len(pieces)
        for self._number, piece in enumerate(pieces, 1):
            with self._lock:
                place = f"{self._number} of {self._of}"
                self._words, self._detail = f"{words(piece)}, {place}", ""
                self._pieces.begin(effort(piece))
                self._say()
            yield piece
            with self._lock:
                self._pieces.end()
        with self._lock:
            self._words = ""

    def skip(self) -> None:
        """Ignore the time of the current piece, for example because its result already existed."""
        self._pieces.is_typical = False

    def detail(self, words: str) -> None:
        """Report the state of the current piece."""
        with self._lock:
            self._detail = words
            self._say()

    def report(self, number: int, of: int, words: str) -> None:
        """Report the state of work that is not done piece by piece; may be called often."""
        now = time.perf_counter()
        if now - self._reported_at >= _BETWEEN_REPORTS:
            self._reported_at = now
            with self._lock:
                self._number, self._of, self._words = number, of, words
                self._say()

    def print(self, text: str, stream: TextIO) -> None:
        """Print a line of results, after erasing the progress line."""
        with self._lock:
            if self._line is not None:
                self._line.wipe()
            show(text, file=stream)

    def _live(self) -> None:
        wait = _LONGEST_SILENCE
        while not self._ended.wait(wait):
            with self._lock:
                wait = _LONGEST_SILENCE - (time.perf_counter() - self._said_at)
                if wait <= 0:
                    self._say()
                    wait = _LONGEST_SILENCE

    def _say(self) -> None:
        now = time.perf_counter()
        if not self._words:
            return
        what = ", ".join(filter(None, [self._words, self._detail]))
        work = Work(self._number, self._of, what, self._pieces.time_left(now))
        if self.listener is not None:
            self.listener(work)
        if self._line is None and now - self._said_at < _BETWEEN_LINES:
            return
        self._said_at = now
        line = f"{self.work}: {work}"
        if self._line is not None:
            self._line.draw(line)
        elif self._stream is not None:
            write(self._stream, f"{escaped(line, kept='')}\n")


class _Pieces:
    """The time of the completed pieces, and an estimate for the rest."""

    def __init__(self, effort: float, seconds: float | None) -> None:
        self._left, self._seconds = effort, seconds
        self._done = self._took = self._effort = 0.0
        self._began = self._piece_began = time.perf_counter()
        self.is_typical = True

    def begin(self, effort: float) -> None:
        self._effort, self._piece_began = effort, time.perf_counter()
        self.is_typical = True

    def end(self) -> None:
        self._left -= self._effort
        if self.is_typical:
            self._done += self._effort
            self._took += time.perf_counter() - self._piece_began

    def time_left(self, now: float) -> str:
        """Return the elapsed time, and the remaining time if it is known."""
        elapsed = now - self._began
        if not self._done and self._seconds is not None and elapsed < 1:
            one, total = duration(self._seconds), duration(self._seconds * self._left)
            return f"at most {one} each, about {total} in all, plus compilation"
        words = [f"{duration(elapsed)} elapsed"] if elapsed >= 1 else []
        unit = self._took / self._done if self._done else self._seconds
        if unit is not None:
            others = unit * (self._left - self._effort)
            left = others + max(0.0, unit * self._effort - (now - self._piece_began))
            words.append(f"about {duration(max(1, left))} left")
        return ", ".join(words)


def duration(seconds: float) -> str:
    """Return a readable duration, such as `0.5 s`, `90 s`, `25 min` or `3.2 h`."""
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def write_work(folder: Path, work: Work) -> None:
    """Write the file of the work in a folder; the work continues if this fails."""
    with suppress(InputError):
        publish(inside(folder, _FILE), json.dumps(asdict(work)) + "\n")


def end_work(folder: Path) -> None:
    """Remove the file of the work in a folder, as all pieces are done."""
    with suppress(OSError):
        (folder / _FILE).unlink(missing_ok=True)


def read_work(folder: Path) -> Work | None:
    """Return the current state of the work, or the last one if it stopped; None if it is done."""
    path = inside(folder, _FILE)
    if not path.exists():
        return None
    with suppress(FileNotFoundError), parsing(path):
        return typed(Work, json.loads(bounded_text(path)))
    return None
