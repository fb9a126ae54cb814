"""Runs with consecutive seeds, of one or several problems, each with its own settings."""

import os
import platform
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.stop import Criterion
from islands.engine.plan import Plan, Ready
from islands.engine.shared import VisitRecords
from islands.progress.result import Result

Place = tuple[int, int]
"""The cell of a run: the index of its problem and settings, and that of its seed."""


@dataclass(frozen=True)
class Repeat:
    """The result of a run, without its records."""

    result: Result
    present: float | None = None
    """The best cost of the last generation; None if it may be infeasible, or is unknown."""
    was_alone: bool = False
    """Whether the run was performed without shared launches."""
    process: tuple[str, int] = ("", 0)
    """The host and the process id."""
    began: float = 0.0
    """The start of the run, by the clock of its process."""


class Repeats(Plan[Place]):
    """Runs of some problems with consecutive seeds."""

    repeats = True

    def __init__(self, first: Sequence[Resolved], *, shares: bool = True, sharers: int = 1) -> None:
        """Take the run with the first seed for each problem with its settings.

        If `sharers` runs share a time limit, a run with its own launches gets its part of it.
        """
        self._first, self.shares, self._sharers = first, shares, sharers
        self._alone = set[Place]()

    def request(self, cell: Place) -> Resolved:
        """Return the run with its seed."""
        number, later = cell
        return self._first[number].later(later)

    def alone(self, ready: Ready[Place], device: Backend, is_over: Callable[[], bool]) -> Result:
        """Perform a run with its own launches, within its part of the time limit."""
        self._alone.add(ready.cell)
        spec = replace(ready.spec, stop=tuple(map(self._part, ready.spec.stop)))
        shortened = Ready(ready.cell, replace(ready.resolved, spec=spec))
        return super().alone(shortened, device, is_over)

    def _part(self, stop: Criterion) -> Criterion:
        is_shared = stop.kind == "seconds" and self._sharers > 1
        return replace(stop, value=stop.value / self._sharers) if is_shared else stop

    def value_of(self, ready: Ready[Place], result: Result) -> Repeat:
        """Return the result with the process and the start of the run."""
        records, was_alone = result.records, ready.cell in self._alone
        present, began = None, time.perf_counter() - result.seconds
        if isinstance(records, VisitRecords):
            present, began = records.present(), records.began
        process = platform.node(), os.getpid()
        return Repeat(replace(result, records=None), present, was_alone, process, began)


def seconds_of(repeats: Collection[Repeat]) -> float:
    """Return the time of all runs on the slowest process.

    Compilation between runs with their own launches does not count.
    """
    longest = 0.0
    for process in {run.process for run in repeats}:
        runs = [run for run in repeats if run.process == process]
        seconds = sum(run.result.seconds for run in runs)
        if not all(run.was_alone for run in runs):
            began = min(run.began for run in runs)
            seconds = max(run.began + run.result.seconds for run in runs) - began
        longest = max(longest, seconds)
    return longest
