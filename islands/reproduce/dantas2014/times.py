"""Charts 2 to 4: seconds of a run by the number of constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, Plot, TableRow, mean
from islands.reproduce.dantas2014.divisions import INTERPRETATIONS, Division, SizeTable
from islands.reproduce.experiment import RunResult
from islands.reproduce.orlib import kind
from islands.reproduce.pooled import average
from islands.reproduce.timing import (
    cpu_cells,
    cpu_columns,
    median_run,
    paper_seconds,
    speedup_facts,
    time_curves,
)
from islands.tables import Column

COUNTS = (2, 8, 32, 64)
"""The paper's numbers of processes."""


class SizeTimesTable(SizeTable):
    """Our seconds and our CPU's, with one thread and with all threads.

    One thread stands for the sequential program, all threads for the paper's MPI program. A run
    uses one device, or those of all ranks. Ours is also timed with the population divided into the
    paper's numbers of processes, as islands.
    """

    name: ClassVar[str] = "times"
    title: ClassVar[str] = "charts 2 to 4: seconds of a run, means by size"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the processes of the MPI program may have threads, of which the text says nothing: each"
        " rank uses a GPU, or threads of a CPU",
    )
    is_timed: ClassVar[bool] = True
    runs: ClassVar[int] = 3
    batched: ClassVar[bool] = False

    def columns(self) -> list[Column]:
        """Return our seconds, the CPU's, and the CPU's over ours."""
        return [
            Column("size", "m x n", 8, "<"),
            Column("m"),
            Column("n"),
            Column("series"),
            Column("ranks", "ranks", 5, "d"),
            Column("seconds", "ours s", 9, ".4f"),
            *(Column(_name(each), f"{each} islands", 10, ".4f") for each in COUNTS),
            *cpu_columns(self.experiment.threads),
        ]

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        columns = cpu_columns(self.experiment.threads)
        names = ("instance", "seconds", "generations", *map(_name, COUNTS))
        return [*map(Column, names), *columns]

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Time an instance: the median run, and the CPU."""
        run = self._median(problem)
        ours = paper_seconds(run, self.experiment)
        yield {
            "instance": problem.instance,
            "seconds": ours,
            "generations": run.generations,
            **{_name(each): self._seconds(problem, each) for each in COUNTS},
            **cpu_cells(self.experiment, problem, ours),
        }

    def _seconds(self, problem: Problem, count: int) -> float:
        """Return the seconds of a run with the population divided into `count` islands."""
        options = Division(count, "ring").options()
        return paper_seconds(self._median(problem, **options), self.experiment)

    def _median(self, problem: Problem, **options: Any) -> RunResult:
        seeds = self.experiment.seeds(self.runs)
        results = [self.experiment.run(problem, seed, **options) for seed in seeds]
        return median_run(results, self.experiment)

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Return the means of a size."""
        of = kind(str(parts[0]["instance"]))
        names = [column.name for column in cpu_columns(self.experiment.threads)]
        yield {
            "size": group,
            "m": of.m,
            "n": of.n,
            "series": f"n = {of.n}",
            "ranks": self.experiment.world.size,
            **{name: average(parts, name) for name in ("seconds", *map(_name, COUNTS), *names)},
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean seconds by n, and the mean speed-ups over our CPU."""
        means = {n: mean([row for row in rows if row["n"] == n], "seconds") for n in _sizes(rows)}
        shown = ", ".join(f"n = {n}: {seconds:.4f} s" for n, seconds in means.items())
        ours = mean(rows, "seconds")
        return [
            Fact("mean_seconds", ours, f"mean seconds of a run: {shown}"),
            *_island_facts(rows),
            *speedup_facts(rows, self.experiment, {}),
        ]

    def plots(self) -> list[Plot]:
        """Return the times by m."""
        islands = {_name(each): f"{each} islands" for each in COUNTS}
        return [
            Plot("seconds per run", time_curves(self.experiment), by="series"),
            Plot("seconds per run", islands, "-islands", by="series"),
        ]


def _name(count: int) -> str:
    """Return the name of a column in files."""
    return f"seconds_{count}_islands"


def _island_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the mean seconds by the number of islands."""
    means = {each: mean(rows, _name(each)) for each in COUNTS}
    shown = ", ".join(f"{each}: {seconds:.4f} s" for each, seconds in means.items())
    first, *others = (Fact(f"mean_{_name(each)}", value, "") for each, value in means.items())
    return [Fact(first.name, first.value, f"by the number of islands: {shown}"), *others]


def _sizes(rows: Sequence[TableRow]) -> list[Cell]:
    return list(dict.fromkeys(row["n"] for row in rows))
