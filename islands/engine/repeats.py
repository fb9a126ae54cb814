"""Runs with consecutive seeds: of one problem or of several, with the settings of each."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.stop import Criterion
from islands.engine.plan import Ready, ResolvedPlan
from islands.engine.shared import VisitRecords
from islands.progress.result import Result

Place = tuple[int, int]
"""The number of the settings, and that of a run with them: a cell."""


@dataclass(frozen=True)
class Repeat:
    """The result of a run, without its records."""

    result: Result
    present: float | None = None
    """The best cost of the last generation; None if it may be infeasible, or is unknown."""
    was_alone: bool = False
    """Whether the run shared no launches."""
    process: tuple[str, int] = ("", 0)
    """Where it ran: the host and the process id."""
    began: float = 0.0
    """Its start, by the clock of this process."""


class Repeats(ResolvedPlan[Place]):
    """Runs of some problems with consecutive seeds."""

    repeats = True

    def __init__(
        self,
        first: Sequence[Resolved],
        *,
        shares: bool = True,
        sharers: int = 1,
    ) -> None:
        """Take the run with the first seed for each of the settings; runs share launches or not.

        If `sharers` runs share a time limit, a run that cannot share launches gets its part of it.
        """
        self._first, self.shares, self._sharers = first, shares, sharers
        self._alone = set[Place]()

    def resolved(self, cell: Place) -> Resolved:
        """Return the run with its seed."""
        number, later = cell
        return self._first[number].later(later)

    def alone(self, ready: Ready[Place], device: Backend, is_over: Callable[[], bool]) -> Result:
        """Record that the run has the device for itself."""
        self._alone.add(ready.cell)
        spec = replace(ready.spec, stop=tuple(map(self._part, ready.spec.stop)))
        own = Ready(ready.cell, replace(ready.resolved, spec=spec))
        return super().alone(own, device, is_over)

    def _part(self, each: Criterion) -> Criterion:
        is_shared = each.kind == "seconds" and self._sharers > 1
        return replace(each, value=each.value / self._sharers) if is_shared else each

    def made(self, ready: Ready[Place], result: Result) -> Repeat:
        """Return what ranks exchange."""
        records, was_alone = result.records, ready.cell in self._alone
        present, began = None, time.perf_counter() - result.seconds
        if isinstance(records, VisitRecords):
            present, began = records.present(), records.began
        process = platform.node(), os.getpid()
        return Repeat(replace(result, records=None), present, was_alone, process, began)


def seconds_of(repeats: Collection[Repeat]) -> float:
    """Return the time in which runs were made, without compilation between those made alone."""
    longest = 0.0
    for process in {each.process for each in repeats}:
        own = [each for each in repeats if each.process == process]
        seconds = sum(each.result.seconds for each in own)
        if not all(each.was_alone for each in own):
            began = min(each.began for each in own)
            seconds = max(each.began + each.result.seconds for each in own) - began
        longest = max(longest, seconds)
    return longest
