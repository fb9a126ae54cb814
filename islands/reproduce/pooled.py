"""Tables whose rows each summarise several instances."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import fmean

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Scaled, TableRow, numbers
from islands.reproduce.experiment import Experiment
from islands.reproduce.runs import Sample
from islands.reproduce.selection import named
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
    def names(cls) -> list[str]:
        """Return the full names of the table's instances."""

    @classmethod
    def instances(cls, index: Index) -> list[Found]:
        """Return the table's instances."""
        return [named(name, index) for name in cls.names()]

    @classmethod
    @abstractmethod
    def group(cls, instance: str) -> str:
        """Return the name of an instance's group."""

    @abstractmethod
    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""

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
        """Return the rows of single instances."""
        return [Column("group"), *self.part_columns()], self._parts


def sample_columns() -> list[Column]:
    """Return the columns of `sample_cells`, which appear only in files."""
    names = ("best", "best_gap", "mean_gap", "deviation", "hits", "without", "seconds")
    return [Column(name) for name in (*names, "generations", "runs")]


def sample_cells(sample: Sample, seconds: float) -> dict[str, Cell]:
    """Return the cells of a sample of runs."""
    return {
        "best": sample.best,
        "best_gap": sample.best_gap,
        "mean_gap": sample.mean_gap,
        "deviation": sample.deviation,
        "hits": sample.hits,
        "without": sample.without,
        "seconds": seconds,
        "generations": sample.generations,
        "runs": len(sample.costs) + sample.without,
    }


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
