"""Charts 2 to 4: seconds of a run by the number of constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Column, Fact, Plot, TableRow, mean
from islands.reproduce.dantas2014.divisions import SizeTable
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


class SizeTimesTable(SizeTable):
    """Our seconds and our CPU's, with one thread and with all threads.

    One thread stands for the sequential program, all threads for the paper's MPI program. A run
    uses one device, or those of all ranks.
    """

    name: ClassVar[str] = "times"
    title: ClassVar[str] = "charts 2 to 4: seconds of a run, means by size"
    runs: ClassVar[int] = 3
    batched: ClassVar[bool] = False

    def columns(self) -> list[Column]:
        """Return our seconds, the CPU's, and the CPU's over ours."""
        return [
            Column("size", "m x n", 8),
            Column("m"),
            Column("n"),
            Column("series"),
            Column("ranks", "ranks", 5, "d"),
            Column("seconds", "ours s", 9, ".4f"),
            *cpu_columns(self.experiment.threads),
        ]

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        columns = cpu_columns(self.experiment.threads)
        return [Column("instance"), Column("seconds"), Column("generations"), *columns]

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Time an instance: the median run, and the CPU."""
        results = [self.experiment.run(problem, seed) for seed in self.experiment.seeds(self.runs)]
        run = median_run(results, self.experiment)
        ours = paper_seconds(run, self.experiment)
        yield {
            "instance": problem.instance,
            "seconds": ours,
            "generations": run.generations,
            **cpu_cells(self.experiment, problem, ours),
        }

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
            **{name: average(parts, name) for name in ("seconds", *names)},
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean seconds by n, and the mean speed-ups over our CPU."""
        means = {n: mean([row for row in rows if row["n"] == n], "seconds") for n in _sizes(rows)}
        shown = ", ".join(f"n = {n}: {seconds:.4f} s" for n, seconds in means.items())
        ours = mean(rows, "seconds")
        return [
            Fact("mean_seconds", ours, f"mean seconds of a run: {shown}"),
            *speedup_facts(rows, self.experiment, {}),
        ]

    def plots(self) -> list[Plot]:
        """Return the times by m."""
        return [Plot("seconds per run", time_curves(self.experiment), by="series")]


def _sizes(rows: Sequence[TableRow]) -> list[Cell]:
    return list(dict.fromkeys(row["n"] for row in rows))
