"""The base classes of a paper's tables, which a TOML file for each paper describes."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from islands.instances.catalogue import catalogue
from islands.instances.locate import Index, Located
from islands.problems.base import Problem
from islands.studies.described import columns, described, spliced
from islands.studies.papers.cells import Cell, Fact, Plot, Scaled, TableRow, figures, with_printed
from islands.studies.papers.experiment import (
    CPU_SECONDS,
    Experiment,
    ExperimentRequest,
    RunResult,
    Sample,
)
from islands.studies.papers.rows import mean, mean_ratio, numbers, significance
from islands.tables import Column, Row, Table
from islands.text import counted

_CPU = "cpu"
"""The name in a list of columns that stands for those of `cpu_columns`."""


def _file(paper: str) -> Path:
    return Path(__file__).with_name(f"{paper}.toml")


def located(name: str, index: Index) -> Located:
    """Return an instance of the catalogue by its full name, even without a file."""
    set_name, _, short = name.partition("/")
    entry = catalogue().entry(set_name, short)
    return Located(name, index.of_entry(entry) if entry else None, entry)


class PaperTable(Experiment):
    """One table of a paper, filled row by row."""

    title: ClassVar[str]
    shown: ClassVar[Sequence[Column]]
    """The columns; the first is the name of the instance, the second its size."""
    plots: ClassVar[Sequence[Plot]] = ()
    """The plots against the size of the instances."""
    sentences: ClassVar[Mapping[str, str]]
    """The sentences of facts by name, with the names of values in braces."""
    noun: ClassVar[str] = "instance"
    """The noun for a row."""
    theirs: ClassVar[str]
    """The file of the figures that the paper prints."""
    by: ClassVar[str] = ""
    """The column that distinguishes the rows of an instance in this file, if it has several."""
    means: ClassVar[Mapping[str, float]] = {}
    """The means that the paper prints below columns; they may be truncated or misprinted."""
    speedups: ClassVar[Mapping[str, float]] = {}
    """Printed mean speed-ups of brkgaCuda over brkgaAPI for all instances, by number of threads."""
    needs_all: ClassVar[bool] = True
    """Whether the table needs the files of all its instances."""
    interpretations: ClassVar[Sequence[str]] = ()
    """Choices where the paper is silent or contradicts itself, as complete sentences."""
    is_extra: ClassVar[bool] = False
    """Whether the table is not in the paper; it is then filled only if it is named."""

    def __init_subclass__(cls, of: str = "") -> None:
        """Set the attributes of a table, such as `xavier2019/values`, from its paper's file."""
        super().__init_subclass__()
        if of:
            paper, _, cls.name = of.partition("/")
            file = described(_file(paper))
            for name, value in {**file["usual"], **file[cls.name]}.items():
                if name == "shown":
                    value = columns(_file(paper), value)
                elif name == "plots":
                    value = [Plot(**plot) for plot in value]
                elif name == "interpretations":
                    value = spliced(value, file["shared"])
                setattr(cls, name, value)

    def __init__(
        self,
        request: ExperimentRequest,
        missing: Sequence[str] = (),
        available: Sequence[str] | None = None,
    ) -> None:
        """Create the table with the names of `missing` and `available` instances (None: all)."""
        super().__init__(request)
        self.missing, self.available = missing, available

    @classmethod
    def printed(cls) -> Mapping[str, Any]:
        """Return the printed figures by instance and, within it, by the column `by`, if any."""
        return figures(cls.theirs, cls.by)

    @classmethod
    def names(cls) -> Iterable[str]:
        """Return the full names of the table's instances, in order."""
        return cls.printed()

    @classmethod
    def instances(cls, index: Index) -> list[Located]:
        """Return the table's instances, including missing ones."""
        return [located(name, index) for name in cls.names()]

    @cached_property
    def layout(self) -> Table:
        """The table with its columns."""
        cpu = self.cpu_columns()
        columns = [
            shown for column in self.shown for shown in (cpu if column.name == _CPU else [column])
        ]
        return Table(self.name, columns)

    def filled(self, **cells: Any) -> Row:
        """Return a row with the cells of the columns; other cells are ignored."""
        return self.layout.row(**{c.name: cells[c.name] for c in self.layout.columns})

    def row(self, problem: Problem, sample: Sample | None = None, /, **others: Any) -> Row:
        """Return the row of an instance from its runs and from other cells."""
        known = problem.best_known.value if problem.best_known else None
        cells = {"instance": problem.instance, "n": problem.size, "known": known}
        of_runs = {} if sample is None else sample.cells(self.seconds(sample))
        return self.filled(**{**cells, **of_runs, **others})

    def timed_row(self, problem: Problem, sample: Sample, theirs: TableRow, **others: Any) -> Row:
        """Return a batch's row with the paper's cells and the times of one run and of the CPU."""
        ours, alone = self.seconds(sample), self.seconds(self.sample(problem, 1))
        others |= {"alone_seconds": alone, "evaluations": sample.mean_evaluations}
        return self.row(problem, sample, **theirs, **self.cpu_cells(problem, ours), **others)

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance; empty to include it."""
        return ""

    @abstractmethod
    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance and yield the rows that are now complete."""

    @abstractmethod
    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the facts that summarise the rows, of which there is at least one."""

    @classmethod
    def fact(
        cls,
        name: str,
        rows: Sequence[TableRow],
        values: Mapping[str, Cell],
        of: str = "",
        /,
        **words: object,
    ) -> Fact:
        """Return a fact about rows, with values and other words in its sentence.

        `of`, such as a model, describes the rows, and is appended to the names of values.
        """
        usual = {"of": of, "count": len(rows), "in_all": counted(len(rows), cls.noun)}
        stated = {f"{key}_{of}": value for key, value in values.items()} if of else values
        return Fact(cls.sentences[name].format(**{**usual, **values, **words}), stated)

    @classmethod
    def means_of(cls, rows: Sequence[TableRow]) -> dict[str, str]:
        """Return the means of the columns in `means` as text; with all rows, also as printed."""
        is_whole = len(rows) == len(cls.printed())
        return {
            name: with_printed(mean(rows, name), printed, is_whole=is_whole)
            for name, printed in cls.means.items()
        }

    def parts(self) -> tuple[Table, list[TableRow]]:
        """Return the rows of single instances, if the rows of the table summarise several."""
        return Table(f"{self.name}-parts", ()), []

    def time_cells(self, problem: Problem, runs: Sequence[RunResult]) -> dict[str, Any]:
        """Return the cells of times: those of the median run, and those on the CPU."""
        run = self.median_run(runs)
        ours = self.paper_seconds(run)
        cpu = self.cpu_cells(problem, ours)
        return {"seconds": ours, "generations": run.generations, **cpu}

    def cpu_columns(self) -> list[Column]:
        """Return the columns of `cpu_cells`."""
        cpu, ratios = [], []
        for threads in self.request.threads:
            cpu += [Column(f"cpu_{threads}_seconds", f"CPU {threads} s", 9, ".2f")]
            cpu += [Column(f"cpu_{threads}_generations")]
            ratios += [Column(f"speedup_cpu_{threads}", f"CPU {threads}/ours", 10, ".1f")]
        return [*cpu, *ratios]

    def cpu_cells(self, problem: Problem, ours: float, **settings: Any) -> TableRow:
        """Time a run with each number of CPU threads; return the cells of `cpu_columns`."""
        cells: dict[str, Cell] = {}
        for threads in self.request.threads:
            result = self.timed(problem, **settings, threads=threads)
            seconds = self.paper_seconds(result)
            cells[f"cpu_{threads}_seconds"] = seconds
            cells[f"cpu_{threads}_generations"] = result.generations
            cells[f"speedup_cpu_{threads}"] = seconds / ours
        return {column.name: cells[column.name] for column in self.cpu_columns()}

    def curves(self, plot: Plot) -> dict[str, str]:
        """Return the labels of the columns in a plot, with those of our times first."""
        curves = {"seconds": "ours, {device}"} if plot.with_times else {}
        for threads in self.request.threads if plot.with_times else ():
            curves[f"cpu_{threads}_seconds"] = f"our CPU, {counted(threads, 'thread')}"
        curves |= plot.curves
        return {name: label.format(device=self.request.device) for name, label in curves.items()}

    def speedup_facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return our mean speed-ups over our CPU, with the printed ones, if any."""
        facts = []
        for threads in self.request.threads:
            cpu = f"cpu_{threads}_seconds"
            speedup = mean_ratio(rows, cpu, "seconds")
            words = counted(threads, "thread")
            sentence = f"mean speed-up over our CPU with {words}: {speedup:.2f}"
            if paper := self.speedups.get(str(threads)):
                sentence += f"; that of brkgaCuda over brkgaAPI, as printed: {paper:.2f}"
            facts += [
                Fact(sentence, {f"mean_speedup_cpu_{threads}": speedup}),
                *significance(
                    f"cpu_{threads}",
                    "our times and those on the CPU",
                    numbers(rows, "seconds", cpu),
                ),
            ]
        return facts

    def scaled_facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of times that were scaled from shorter runs, if any."""
        scaled = sum(isinstance(cell, Scaled) for row in rows for cell in row.values())
        if not scaled:
            return []
        sentence = (
            "~ marks the time of a shorter run, scaled to"
            f" {counted(self.generations, 'generation')} ({counted(scaled, 'cell')})."
            f" Timed CPU runs end after {CPU_SECONDS:g} s; --out and --json have the exact numbers"
        )
        return [Fact(sentence, {"scaled_cells": scaled})]


@dataclass(frozen=True)
class Paper:
    """A paper with its tables."""

    title: str
    kinds: Sequence[type[PaperTable]]
    threads: tuple[int, ...]
    """Default numbers of threads of the CPU runs to compare with; 0 stands for all cores."""
    printed: Mapping[str, str]
    """Our names of the tables by their numbers in the paper, such as `table1`."""

    @classmethod
    def of(cls, name: str, *kinds: type[PaperTable]) -> Paper:
        """Return a paper with these tables, which its file describes."""
        file = described(_file(name))
        return cls(file["title"], kinds, tuple(file["threads"]), file.get("printed", {}))

    @property
    def tables(self) -> dict[str, type[PaperTable]]:
        """The tables by name."""
        return {kind.name: kind for kind in self.kinds}


class PooledTable(PaperTable):
    """A table with rows for groups of instances, which follow the last run of each group."""

    @cached_property
    def _parts(self) -> list[TableRow]:
        return []

    @cached_property
    def _awaited(self) -> Counter[str]:
        """The number of instances of each group that have no rows yet."""
        return Counter(map(self.group, self.names() if self.available is None else self.available))

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

    def parts(self) -> tuple[Table, list[TableRow]]:
        """Return the rows of single instances, in a table with a column for each of their cells."""
        names = dict.fromkeys(name for row in self._parts for name in row)
        return Table(f"{self.name}-parts", [*map(Column, names)]), self._parts
