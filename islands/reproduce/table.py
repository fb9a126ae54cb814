"""The base classes of a paper's tables, its description, and the selection of its instances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import sqrt
from statistics import fmean
from types import SimpleNamespace
from typing import Any, ClassVar

from islands.errors import InputError, UsageError
from islands.instances.catalogue import catalogue
from islands.instances.locate import VARIABLE, Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Fact, Plot, Scaled, TableRow, numbers
from islands.reproduce.experiment import Experiment, RunResult, Sample
from islands.reproduce.timing import cpu_cells, median_run, paper_seconds
from islands.tables import Column
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


class PaperTable(ABC):
    """One table of a paper, filled row by row."""

    name: ClassVar[str]
    title: ClassVar[str]
    preset: ClassVar[str]
    also: ClassVar[tuple[str, ...]] = ()
    """Other presets that some rows use."""
    generations: ClassVar[int]
    """Generations of the paper's runs."""
    runs: ClassVar[int]
    """Default number of runs per instance."""
    needs_all: ClassVar[bool] = True
    """Whether the table needs the files of all its instances."""
    batched: ClassVar[bool] = False
    """Whether the runs of an instance are concurrent: a batch on the device of each rank."""
    is_timed: ClassVar[bool] = False
    """Whether results count only on the same device and number of ranks, as they are times."""
    interpretations: ClassVar[tuple[str, ...]] = ()
    """What was chosen where the paper is silent, or states a rule twice."""
    is_extra: ClassVar[bool] = False
    """Whether the table is not in the paper; it is then filled only if it is named."""

    def __init__(
        self,
        experiment: Experiment,
        missing: Sequence[str] = (),
        here: Sequence[str] | None = None,
    ) -> None:
        """Take the names of missing instances, and of those that will be run (None: all)."""
        self.experiment = experiment
        self.missing = missing
        self.here = here

    @classmethod
    def presets(cls) -> str:
        """Return the names of all presets."""
        return " and ".join((cls.preset, *cls.also))

    @classmethod
    @abstractmethod
    def names(cls) -> Iterable[str]:
        """Return the full names of the table's instances, in order."""

    @classmethod
    def instances(cls, index: Index) -> list[Found]:
        """Return the table's instances, including missing ones."""
        return [named(name, index) for name in cls.names()]

    @abstractmethod
    def columns(self) -> list[Column]:
        """Return the columns; the first is the instance's name, the second its size."""

    def cells(self, **measured: Any) -> dict[str, Any]:
        """Return the cells of the columns, which take them from what was measured."""
        found = SimpleNamespace(**measured)
        return {column.name: column.of(found) for column in self.columns()}

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance; empty to include it."""
        return ""

    @abstractmethod
    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance and yield the rows that are now complete."""

    @abstractmethod
    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the summary of the rows, of which there is at least one."""

    def parts(self) -> tuple[list[Column], list[TableRow]]:
        """Return the rows of single instances if the table's rows summarise several."""
        return [], []

    def time_cells(self, problem: Problem, runs: Sequence[RunResult]) -> dict[str, Any]:
        """Return the cells of `time_columns`: the median of some runs, and the CPU."""
        run = median_run(runs, self.experiment)
        ours = paper_seconds(run, self.experiment)
        cpu = cpu_cells(self.experiment, problem, ours)
        return {"seconds": ours, "generations": run.generations, **cpu}

    def plots(self) -> list[Plot]:
        """Return the plots against the size of the instances."""
        return []


class SampleTable(PaperTable):
    """A table of batches of runs, by default ten of each instance."""

    runs: ClassVar[int] = 10
    batched: ClassVar[bool] = True

    def sample(self, problem: Problem, **options: Any) -> Sample:
        """Run a batch of the requested number of runs."""
        return self.sample_of(problem, len(self.experiment.seeds(self.runs)), **options)

    def sample_of(self, problem: Problem, runs: int, **options: Any) -> Sample:
        """Run a batch of `runs` runs."""
        return self.experiment.sample(problem, runs, **options)

    def row(self, problem: Problem, sample: Sample, **others: Any) -> dict[str, Any]:
        """Return the cells of the columns, made from the runs of an instance and from `others`."""
        known = problem.best_known.value if problem.best_known else None
        found = {"instance": problem.instance, "n": problem.size, "known": known, "sample": sample}
        return self.cells(**{**found, **sample.cells(self.seconds(sample)), **others})

    def timed_row(self, problem: Problem, **others: Any) -> dict[str, Any]:
        """Return a row of a batch, of one run alone, and of the CPU."""
        sample = self.sample(problem)
        alone = self.seconds(self.sample_of(problem, 1))
        cpu = cpu_cells(self.experiment, problem, self.seconds(sample))
        return self.row(problem, sample, alone_seconds=alone, **cpu, **others)

    def seconds(self, sample: Sample) -> float:
        """Return the seconds of a run, scaled if its number of generations was changed.

        Otherwise a run with fewer generations ended by its number of evaluations.
        """
        return (
            paper_seconds(sample, self.experiment) if self.experiment.is_changed else sample.seconds
        )


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
