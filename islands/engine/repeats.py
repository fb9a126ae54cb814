"""Runs with consecutive seeds: of one problem or of several, with the settings of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from islands.backends.base import Backend
from islands.configuration.spec import RunSpec
from islands.engine.plan import Ready, ResolvedPlan
from islands.engine.shared import VisitRecords
from islands.problems.base import Problem
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


class Repeats(ResolvedPlan[Place]):
    """Runs of some problems with consecutive seeds."""

    repeats = True

    def __init__(self, asked: Sequence[tuple[RunSpec, Problem]], *, shares: bool = True) -> None:
        """Take the settings with the first seed and the problem; they share launches or not."""
        self._asked = [(spec, problem.adjusted(spec.problem)) for spec, problem in asked]
        self.shares = shares
        self._alone = set[Place]()

    @staticmethod
    def cells(places: Iterable[int], runs: int) -> Iterator[Place]:
        """Yield the cells of `runs` runs with each of these settings."""
        return ((place, run) for place in places for run in range(runs))

    def resolved(self, cell: Place) -> tuple[RunSpec, Problem]:
        """Return the settings with the seed of the run."""
        spec, problem = self._asked[cell[0]]
        return replace(spec, general=spec.general.later(cell[1])), problem

    def alone(self, ready: Ready[Place], device: Backend, is_over: Callable[[], bool]) -> Result:
        """Note that the run has the device for itself."""
        self._alone.add(ready.cell)
        return super().alone(ready, device, is_over)

    def made(self, ready: Ready[Place], result: Result) -> Repeat:
        """Return what ranks exchange."""
        records = result.records
        present = records.present() if isinstance(records, VisitRecords) else None
        return Repeat(replace(result, records=None), present, ready.cell in self._alone)


def seconds_of(repeats: Iterable[Repeat]) -> float:
    """Return the time in which runs were made: those that share launches, and then each other."""
    alone = [each.result.seconds for each in repeats if each.was_alone]
    shared = [each.result.seconds for each in repeats if not each.was_alone]
    return max(shared, default=0.0) + sum(alone)
