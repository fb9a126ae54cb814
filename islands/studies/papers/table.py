"""The base classes of a paper's tables, its description, and the selection of its instances."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from math import sqrt
from statistics import fmean
from typing import Any, ClassVar

from islands.errors import InputError, UsageError
from islands.instances.catalogue import catalogue
from islands.instances.locate import VARIABLE, Found, Index
from islands.problems.base import Problem
from islands.studies.papers.cells import Fact, Plot, Scaled, TableRow, numbers
from islands.studies.papers.experiment import ExperimentRequest
from islands.studies.papers.sample import Sample
from islands.studies.papers.timing import CPU, TimedExperiment
from islands.tables import Column, Row, Table
from islands.text import counted, either, nearest, unknown

ALL_CORES = 0
"""Stands for all cores in a list of thread numbers."""

_LISTED, _NEAR = 30, 5
"""Up to this number of instances, a message lists all, otherwise near ones."""


def named(name: str, index: Index) -> Found:
    """Return an instance of the catalogue by its full name, with or without a file."""
    set_name, _, short = name.partition("/")
    entry = catalogue().entry(set_name, short)
    return Found(name, index.of_entry(entry) if entry else None, entry)


class PaperTable(TimedExperiment):
    """One table of a paper, filled row by row."""

    title: ClassVar[str]
    shown: ClassVar[Sequence[Column]]
    """The columns, `CPU` for several; the first is the instance's name, the second its size."""
    plots: ClassVar[Sequence[Plot]] = ()
    """The plots against the size of the instances."""
    needs_all: ClassVar[bool] = True
    """Whether the table needs the files of all its instances."""
    interpretations: ClassVar[tuple[str, ...]] = ()
    """What was chosen where the paper is silent, or states a rule twice."""
    is_extra: ClassVar[bool] = False
    """Whether the table is not in the paper; it is then filled only if it is named."""

    def __init__(
        self,
        asked: ExperimentRequest,
        missing: Sequence[str] = (),
        here: Sequence[str] | None = None,
    ) -> None:
        """Take the names of missing instances, and of those that will be run (None: all)."""
        super().__init__(asked)
        self.missing, self.here = missing, here

    @classmethod
    @abstractmethod
    def names(cls) -> Iterable[str]:
        """Return the full names of the table's instances, in order."""

    @classmethod
    def instances(cls, index: Index) -> list[Found]:
        """Return the table's instances, including missing ones."""
        return [named(name, index) for name in cls.names()]

    @cached_property
    def layout(self) -> Table:
        """The table with its columns."""
        cpu = self.cpu_columns()
        columns = [each for column in self.shown for each in (cpu if column is CPU else [column])]
        return Table(self.name, columns)

    def filled(self, **cells: Any) -> Row:
        """Return a row with the cells of the columns; others are left out."""
        return self.layout.row(**{each.name: cells[each.name] for each in self.layout.columns})

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance; empty to include it."""
        return ""

    @abstractmethod
    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance and yield the rows that are now complete."""

    @abstractmethod
    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the summary of the rows, of which there is at least one."""

    def parts(self) -> tuple[Table, list[TableRow]]:
        """Return the rows of single instances if the table's rows summarise several."""
        return Table(f"{self.name}-parts", ()), []


class SampleTable(PaperTable):
    """A table of batches of runs, by default ten of each instance."""

    runs: ClassVar[int] = 10
    batched: ClassVar[bool] = True

    def row(self, problem: Problem, sample: Sample, **others: Any) -> Row:
        """Return the cells of the columns, made from the runs of an instance and from `others`."""
        known = problem.best_known.value if problem.best_known else None
        found = {"instance": problem.instance, "n": problem.size, "known": known}
        return self.filled(**{**found, **sample.cells(self.seconds(sample)), **others})

    def timed_row(self, problem: Problem, sample: Sample, theirs: TableRow, **others: Any) -> Row:
        """Return a row of a batch, of one run alone, of the CPU, and of the paper's figures."""
        ours, alone = self.seconds(sample), self.seconds(self.sample(problem, 1))
        others |= {"alone_seconds": alone, "evaluations": sample.mean_evaluations}
        return self.row(problem, sample, **theirs, **self.cpu_cells(problem, ours), **others)


@dataclass(frozen=True)
class Paper:
    """A paper with its tables."""

    title: str
    kinds: Sequence[type[PaperTable]]
    threads: tuple[int, ...]
    """Default numbers of threads of the CPU runs to compare with, or `ALL_CORES`."""
    printed: Mapping[str, str] = field(default_factory=dict)
    """Our names of the tables by their numbers in the paper, such as `table1`."""

    @property
    def tables(self) -> dict[str, type[PaperTable]]:
        """The tables by name."""
        return {kind.name: kind for kind in self.kinds}

    def own_tables(self) -> dict[str, type[PaperTable]]:
        """Return the tables that are in the paper."""
        return {name: table for name, table in self.tables.items() if not table.is_extra}


class PooledTable(SampleTable):
    """Yields the rows of a group as soon as its last instance is complete."""

    @cached_property
    def _parts(self) -> list[TableRow]:
        return []

    @cached_property
    def _awaited(self) -> Counter[str]:
        """The number of instances of each group without rows."""
        return Counter(map(self.group, self.names() if self.here is None else self.here))

    @classmethod
    @abstractmethod
    def group(cls, instance: str) -> str:
        """Return the name of an instance's group."""

    @abstractmethod
    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance and yield its own rows."""

    @abstractmethod
    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the rows of a group from the rows of all its instances."""

    def rows(self, problem: Problem) -> Iterator[Row]:
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

    def parts(self) -> tuple[Table, list[TableRow]]:
        """Return the rows of single instances, in a table with a column for each of their cells."""
        names = dict.fromkeys(name for row in self._parts for name in row)
        return Table(f"{self.name}-parts", [*map(Column, names)]), self._parts


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


@dataclass(frozen=True)
class Selection:
    """A table and its instances."""

    table: type[PaperTable]
    here: list[Found]
    missing: list[str]


def select(tables: Sequence[type[PaperTable]], only: Sequence[str]) -> list[Selection]:
    """Return the tables with instances that match `only`; all instances if it is empty."""
    index = Index()
    instances = {table: table.instances(index) for table in tables}
    known = [found.name for each in instances.values() for found in each]
    for name in only:
        if not any(_matches(name, full) for full in known):
            raise UsageError(f"--only: {_unknown(name, known)}")
    picked = {
        table: [found for found in each if not only or any(_matches(o, found.name) for o in only)]
        for table, each in instances.items()
    }
    return [_checked(table, each) for table, each in picked.items() if each or not only]


def _matches(pattern: str, full: str) -> bool:
    """Return whether a full name matches: as it is, without its set, or by a pattern."""
    return any(fnmatchcase(name, pattern) for name in (full, full.partition("/")[2]))


def _unknown(name: str, known: Sequence[str]) -> str:
    """Return the message for a name that matches no instance, with the near ones."""
    short = [*dict.fromkeys(full.partition("/")[2] for full in known)]
    if len(short) <= _LISTED:
        return unknown("instance", name, short)
    near = nearest(name.rpartition("/")[2], short, _NEAR)
    hint = f"Did you mean {either(near)}?" if near else "None of their names is near."
    return (
        f"unknown instance {name!r}: none of the {len(short)} instances of these tables. {hint}"
        " Name some exactly or by a pattern, such as nug*"
    )


def _checked(table: type[PaperTable], picked: list[Found]) -> Selection:
    here = [found for found in picked if found.path is not None]
    missing = [found.name for found in picked if found.path is None]
    if missing and (table.needs_all or not here):
        set_name = missing[0].partition("/")[0]
        raise InputError(
            f"the table {table.name} needs {counted(len(missing), 'missing instance')}:"
            f" {', '.join(missing)}. Run `islands instances fetch {set_name}`, set {VARIABLE} to"
            f" a folder that contains a folder {set_name}, or select others with --only"
        )
    return Selection(table, here, missing)
