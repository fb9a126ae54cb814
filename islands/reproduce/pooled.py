"""Tables whose rows each sum up several instances."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import fmean

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Column, Row, Scaled, numbers
from islands.reproduce.experiment import Experiment
from islands.reproduce.runs import Sample
from islands.reproduce.sample import SampleTable
from islands.reproduce.selection import named


class PooledTable(SampleTable):
    """Yields the rows of a group as soon as its last instance has been run."""

    def __init__(
        self,
        experiment: Experiment,
        missing: Sequence[str] = (),
        here: Sequence[str] | None = None,
    ) -> None:
        super().__init__(experiment, missing, here)
        self._parts: list[Row] = []
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
        """Return the name of the group that an instance is in."""

    @abstractmethod
    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""

    @abstractmethod
    def instance_rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance and yield the rows of it alone."""

    @abstractmethod
    def pooled(self, group: str, parts: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows of a group, of whose instances these are all rows."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance; yield the rows of its group where it is the last one of it."""
        group = self.group(problem.instance)
        for row in self.instance_rows(problem):
            self._parts.append({"group": group, **row})
        self._awaited[group] -= 1
        if not self._awaited[group]:
            yield from self.pooled(group, [row for row in self._parts if row["group"] == group])

    def has_begun(self, group: str) -> bool:
        """Return whether a row of an instance of the group is there."""
        return any(row["group"] == group for row in self._parts)

    def parts(self) -> tuple[list[Column], list[Row]]:
        """Return the rows of single instances."""
        return [Column("group"), *self.part_columns()], self._parts


def sample_columns() -> list[Column]:
    """Return the columns of `sample_cells`, which files alone show."""
    names = ("best", "best_gap", "mean_gap", "deviation", "hits", "without", "seconds")
    return [Column(name) for name in (*names, "generations", "runs")]


def sample_cells(sample: Sample, seconds: float) -> dict[str, Cell]:
    """Return what is kept of the runs of an instance."""
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


def average(parts: Sequence[Row], name: str) -> float | None:
    """Return the mean of a column over the instances that have it."""
    values = [value for (value,) in numbers(parts, name)]
    if not values:
        return None
    is_scaled = any(isinstance(row.get(name), Scaled) for row in parts)
    return (Scaled if is_scaled else float)(fmean(values))


def least(parts: Sequence[Row], name: str) -> float | None:
    """Return the smallest value of a column."""
    return min((value for (value,) in numbers(parts, name)), default=None)


def total(parts: Sequence[Row], name: str) -> int:
    """Return the sum of a column of counts."""
    return sum(int(value) for (value,) in numbers(parts, name))


def standard_error(parts: Sequence[Row]) -> float | None:
    """Return the standard error of the mean gap over these very instances, by chance of the runs.

    None where no instance has a deviation.
    """
    drawn = numbers(parts, "deviation", "runs", "without")
    variances = [deviation**2 / (runs - without) for deviation, runs, without in drawn]
    return sqrt(sum(variances)) / len(variances) if variances else None
