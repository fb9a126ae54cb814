"""Tables whose rows each summarise several instances."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import fmean

from islands.problems.base import Problem
from islands.reproduce.cells import Scaled, TableRow, numbers
from islands.reproduce.experiment import Experiment
from islands.reproduce.table import SampleTable
from islands.tables import Column


class PooledTable(SampleTable):
    """Yields the rows of a group as soon as its last instance is complete."""

    def __init__(
        self,
        experiment: Experiment,
        missing: Sequence[str] = (),
        here: Sequence[str] | None = None,
    ) -> None:
        super().__init__(experiment, missing, here)
        self._parts: list[TableRow] = []
        self._awaited = Counter(map(self.group, self.names() if here is None else here))

    @classmethod
    @abstractmethod
    def group(cls, instance: str) -> str:
        """Return the name of an instance's group."""

    @abstractmethod
    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance and yield its own rows."""

    @abstractmethod
    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Yield the rows of a group from the rows of all its instances."""

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance; yield the rows of its group if it is the last one."""
        group = self.group(problem.instance)
        for row in self.instance_rows(problem):
            self._parts.append({"group": group, **row})
        self._awaited[group] -= 1
        if not self._awaited[group]:
            yield from self.pooled(group, [row for row in self._parts if row["group"] == group])

    def has_begun(self, group: str) -> bool:
        """Return whether any instance of the group has a row."""
        return any(row["group"] == group for row in self._parts)

    def parts(self) -> tuple[list[Column], list[TableRow]]:
        """Return the rows of single instances, and a column for each of their cells."""
        names = dict.fromkeys(name for row in self._parts for name in row)
        return [Column(name) for name in names], self._parts


def average(parts: Sequence[TableRow], name: str) -> float | None:
    """Return the mean of a column over the instances that have a value."""
    values = [value for (value,) in numbers(parts, name)]
    if not values:
        return None
    is_scaled = any(isinstance(row.get(name), Scaled) for row in parts)
    return (Scaled if is_scaled else float)(fmean(values))


def least(parts: Sequence[TableRow], name: str) -> float | None:
    """Return the smallest value of a column."""
    return min((value for (value,) in numbers(parts, name)), default=None)


def total(parts: Sequence[TableRow], name: str) -> int:
    """Return the sum of a column of counts."""
    return sum(int(value) for (value,) in numbers(parts, name))


def standard_error(parts: Sequence[TableRow]) -> float | None:
    """Return the standard error of the mean gap over these instances, from the runs' deviations.

    None if no instance has a deviation.
    """
    drawn = numbers(parts, "deviation", "runs", "without")
    variances = [deviation**2 / (runs - without) for deviation, runs, without in drawn]
    return sqrt(sum(variances)) / len(variances) if variances else None
