"""One run of `quality` with the course of its best cost: all other tables are made from these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from islands.bench.base import RecordRow
from islands.report.curves import Curve
from islands.tables import Table

Key = tuple[str, str, str]
"""Instance, backend and method of a run."""


@dataclass(frozen=True)
class RunRow(RecordRow):
    """A run of one method on one instance."""

    table: ClassVar[Table] = Table("quality_runs", ())

    instance: str
    group: str
    """The set of the instance; of `orlib`, with its size."""
    size: int
    constraints: int | None
    """Of a knapsack."""
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
    """Of a rival: its concurrent runs."""
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
    """Each better cost, with the seconds until it was seen."""

    @property
    def key(self) -> Key:
        """What the run is a sample of."""
        return self.instance, self.backend, self.method

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
        """Return the gap over time, as a run of a method with this name."""
        seconds = np.array([each[0] for each in self.course] or [self.seconds])
        losses = np.array([self.loss(each[1]) for each in self.course] or [np.inf])
        return Curve(self.instance, method, self.seed, seconds, losses)


def with_references(rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the rows of one instance with a common reference: known, or the best of all."""
    known = next((row.reference for row in rows if row.is_known), None)
    if known is not None:
        return [replace(row, reference=known, is_known=True) for row in rows]
    costs = [row.cost for row in rows if row.cost is not None]
    better = max if rows and rows[0].maximise else min
    best = better(costs, default=None)
    return [replace(row, reference=best) for row in rows]


def by_key(rows: Iterable[RunRow]) -> dict[Key, list[RunRow]]:
    """Return the runs of each method on each instance, in order."""
    found: dict[Key, list[RunRow]] = {}
    for row in rows:
        found.setdefault(row.key, []).append(row)
    return found


def labels(rows: Iterable[RunRow]) -> Mapping[tuple[str, str], str]:
    """Return the names of the methods by backend and method, with the backend if it differs."""
    methods = dict.fromkeys((row.backend, row.method) for row in rows)
    several = len({backend for backend, _ in methods}) > 1
    return {each: f"{each[1]} ({each[0]})" if several else each[1] for each in methods}


def read_rows(table: Sequence[Mapping[str, Any]]) -> list[RunRow]:
    """Return the runs in a table of `islands bench --json`."""
    return [RunRow(**row) for row in table]
