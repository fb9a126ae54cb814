"""The table of a run: a row at each new best, at most one per second, else one every 5 s."""

from __future__ import annotations

from collections.abc import Callable

from islands.progress.progress import Progress
from islands.text import count, gap, rounded

KEY = (
    "* new best, C checkpoint since the previous row."
    "   Mean, Spread (mean above best): all individuals."
)
HEADER = (
    "     Generation     Time |         Best     Gap  Island |         Mean  Spread"
    " |   Evals  Evals/s"
)
ROWS_BETWEEN_HEADERS = 20
SECONDS_BETWEEN_BESTS = 1.0
SECONDS_BETWEEN_ROWS = 5.0


class Table:
    """Selects, by the run's own time, the epochs that become rows."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._rows = 0
        self._last: Progress | None = None
        self._is_kept = False

    def kept(self) -> None:
        """Mark the next row as after a checkpoint."""
        self._is_kept = True

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
        self._write(row(progress, self._last, is_kept=self._is_kept))
        self._rows += 1
        self._is_kept = False
        self._last = progress


def row(progress: Progress, before: Progress | None, *, is_kept: bool = False) -> str:
    """Return one row; the speed and the star refer to the previous row."""
    is_new = progress.cost is not None and (before is None or progress.cost != before.cost)
    return (
        f"{'*' if is_new else ' '}{'C' if is_kept else ' '}"
        f"{progress.generation:>13} {_time(progress.seconds):>8} |"
        f" {or_dash(progress.cost):>12} {gap(progress.gap):>7} {_island(progress):>7} |"
        f" {rounded(progress.mean):>12} {_spread(progress):>7} |"
        f" {count(progress.evaluations):>7} {_speed(progress, before):>8}"
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
