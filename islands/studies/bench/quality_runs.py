"""The runs of `quality` with their costs over time, from which all of its tables are computed."""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

import islands
from islands.cells.campaign import require_complete
from islands.configuration.resolved import Resolved
from islands.engine.build import RankOptions
from islands.engine.runner import run
from islands.engine.single import Output
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress, is_better
from islands.progress.result import Result
from islands.record.provenance import sources
from islands.studies.pages.curves import Curve
from islands.tables import Table, columns_of

KEY = attrgetter("instance", "backend", "method")
"""Returns the instance, the backend and the method of a run."""


@dataclass(frozen=True)
class RunRow:
    """A run of one method on one instance, a row of `RUNS`."""

    instance: str
    group: str
    """The set of the instance, for `orlib` with the size of the instance."""
    size: int
    constraints: int | None
    """The number of constraints of a knapsack."""
    maximise: bool
    reference: float | None
    """The best known value, or the best of all runs of this measurement."""
    is_known: bool
    """Whether the reference is the best known value."""
    backend: str
    method: str
    device: str
    ranks: int
    algorithm: str
    islands: int
    """For a rival, the number of its concurrent runs."""
    population: int
    seed: int
    limit: float
    cost: float | None
    seconds: float
    """The time of the search."""
    other_seconds: float
    """Setup and final check, without compilation."""
    generations: int
    evaluations: int
    proved: bool
    """Whether a rival proved its solution optimal."""
    course: Sequence[Sequence[float]]
    """The seconds and the cost of each improvement of the best cost."""

    def key_cells(self) -> dict[str, str]:
        """Return the cells that identify the instance and the method."""
        return dict(zip(("instance", "backend", "method"), KEY(self), strict=True))

    @property
    def hits(self) -> bool:
        """Whether the run reached the best known value."""
        return self.is_known and self.final <= 0

    @property
    def final(self) -> float:
        """The gap to the reference at the end, in per cent; infinite without a solution."""
        return self.loss(self.cost)

    @property
    def seconds_to_best(self) -> float:
        """The time until the best cost was seen."""
        return self.course[-1][0] if self.course else self.seconds

    def loss(self, cost: float | None) -> float:
        """Return the gap of a cost; if the reference is 0, the difference itself."""
        if cost is None or self.reference is None:
            return np.inf
        worse = self.reference - cost if self.maximise else cost - self.reference
        return 100.0 * worse / (abs(self.reference) or 100.0)

    def curve(self, method: str) -> Curve:
        """Return the gap over time as a curve; `method` is the name that it shows."""
        seconds = np.array([point[0] for point in self.course] or [self.seconds])
        losses = np.array([self.loss(point[1]) for point in self.course] or [np.inf])
        return Curve(self.instance, method, self.seed, seconds, losses)


RUNS = Table("quality_runs", columns_of(RunRow))


def with_references(rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the rows of one instance with a common reference: the best known, or the best cost."""
    known = next((row.reference for row in rows if row.is_known), None)
    if known is not None:
        return [replace(row, reference=known, is_known=True) for row in rows]
    costs = [row.cost for row in rows if row.cost is not None]
    better = max if rows and rows[0].maximise else min
    best = better(costs, default=None)
    return [replace(row, reference=best) for row in rows]


def grouped(rows: Iterable[RunRow], by: Callable[[RunRow], Hashable]) -> list[list[RunRow]]:
    """Group runs by a key function such as `KEY`, in their order."""
    groups: dict[Hashable, list[RunRow]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    return list(groups.values())


def labels(rows: Iterable[RunRow]) -> Mapping[tuple[str, str], str]:
    """Return the labels of methods by (backend, method); they name the backend if it differs."""
    methods = dict.fromkeys((row.backend, row.method) for row in rows)
    several = len({backend for backend, _ in methods}) > 1
    return {key: f"{key[1]} ({key[0]})" if several else key[1] for key in methods}


_DEFAULT = RankOptions()
_RESULT_FIELDS = (
    *("device", "ranks", "algorithm", "islands", "population", "cost", "seconds"),
    *("generations", "evaluations"),
)


class Course:
    """Records each improvement of the best cost, with its time."""

    def __init__(self, *, maximise: bool) -> None:
        self._maximise, self._began = maximise, time.perf_counter()
        self.points: list[tuple[float, float]] = []
        self.first: Progress | None = None
        """The first progress that was reported, after generation 0."""

    def see(self, progress: Progress) -> None:
        """Add the cost at the end of an epoch if it is better."""
        self.first = self.first or progress
        self.add(progress.seconds, progress.cost)

    def passed(self) -> float:
        """Return the seconds since this object was created."""
        return time.perf_counter() - self._began

    def add_now(self, cost: float) -> None:
        """Add a cost with the current time if it is better."""
        self.add(self.passed(), cost)

    def add(self, seconds: float, cost: float | None) -> None:
        """Add a cost if it is better."""
        best = self.points[-1][1] if self.points else None
        if cost is not None and is_better(cost, best, maximise=self._maximise):
            self.points.append((seconds, cost))


def followed(
    resolved: Resolved, world: World, rank_options: RankOptions = _DEFAULT
) -> tuple[dict[str, Any], Result, Course]:
    """Run, and return the fields of a `RunRow` that come from the result; collective.

    Also return the result and its course, which has points only on rank 0.
    """
    course = Course(maximise=resolved.problem.maximise)
    result = require_complete(run(resolved, world, Output(callback=course.see), rank_options))
    total = course.passed()
    course.add(result.seconds, result.cost)
    fields = {
        **{name: getattr(result, name) for name in _RESULT_FIELDS},
        "other_seconds": max(0.0, total - result.seconds - result.compile_seconds),
        "proved": False,
        "course": course.points,
    }
    return fields, result, course


def facts(problem: Problem) -> dict[str, Any]:
    """Return the fields of a `RunRow` that describe the instance."""
    known, of_set = problem.best_known, set_of(problem.instance)
    size = f"{problem.constraints} x {problem.size}"
    return {
        "instance": problem.instance,
        "group": f"{of_set} {size}" if of_set == "orlib" else of_set,
        "size": problem.size,
        "constraints": problem.constraints,
        "maximise": problem.maximise,
        "reference": known.value if known is not None else None,
        "is_known": known is not None,
    }


def set_of(instance: str) -> str:
    """Return the set of an instance, or its name if it belongs to none."""
    return instance.rpartition("/")[0] or instance


def program() -> Mapping[str, Any]:
    """Return what identifies this version of the program; runs of other versions are not reused."""
    return {"version": islands.__version__, "sources": sources()}
