"""The VLSI instances: the paper plots their times and prints only mean speed-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from islands.instances.catalogue import catalogue
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import INSTANCE, Fact, Plot, TableRow, mean
from islands.reproduce.selection import named
from islands.reproduce.table import PaperTable
from islands.reproduce.timing import (
    cpu_cells,
    median_run,
    paper_seconds,
    speedup_facts,
    time_columns,
    time_curves,
)
from islands.reproduce.xavier2019.figures import INTERPRETATIONS
from islands.reproduce.xavier2019.values import mean_random_tour
from islands.tables import Column
from islands.text import counted

PAPER_INSTANCES = 81
PAPER_LARGEST = 25_000
PAPER_SPEEDUPS = {1: 2.61, 4: 1.30, 8: 1.26}
"""Speed-ups of brkgaCuda over brkgaAPI by number of threads, from the paper's text."""


class VlsiTable(PaperTable):
    """Seconds and costs of the VLSI instances whose files exist."""

    name: ClassVar[str] = "vlsi"
    title: ClassVar[str] = "VLSI instances: seconds and values"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the paper has a plot and means of 81 instances: a row for each one that is available",
    )
    is_timed: ClassVar[bool] = True
    preset: ClassVar[str] = "xavier2019"
    generations: ClassVar[int] = 1000
    runs: ClassVar[int] = 1
    needs_all: ClassVar[bool] = False

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the catalogue, and other files in a folder of the set."""
        entries = catalogue().set("vlsi").entries.values()
        others = index.others(FOUND_BY_NAME).items()
        return [
            *(named(entry.full_name, index) for entry in entries),
            *(Found(name, path, None) for name, path in others if name.startswith("vlsi/")),
        ]

    def columns(self) -> list[Column]:
        """Return our seconds, the CPU's, our cost and its ratio to a random tour."""
        return [
            *INSTANCE,
            *time_columns(self.experiment.threads),
            Column("mean", "our mean", 10, ".1f"),
            Column("best"),
            Column("runs"),
            Column("random"),
            Column("ratio", "ratio", 5, ".3f"),
        ]

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance that is larger than the paper's."""
        is_larger = problem.size > PAPER_LARGEST
        return f"the paper has no instance of {problem.size} cities" if is_larger else ""

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance."""
        seeds = self.experiment.seeds(self.runs)
        results = [self.experiment.run(problem, seed) for seed in seeds]
        run = median_run(results, self.experiment)
        ours = paper_seconds(run, self.experiment)
        costs = [result.cost for result in results if result.cost is not None]
        random = mean_random_tour(problem)
        yield {
            "instance": problem.instance,
            "cities": problem.size,
            "seconds": ours,
            "generations": run.generations,
            **cpu_cells(self.experiment, problem, ours),
            "mean": fmean(costs),
            "best": min(costs),
            "runs": len(costs),
            "random": random,
            "ratio": fmean(costs) / random,
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the numbers of instances, and the mean speed-ups over our CPU."""
        absent = f"; missing: {', '.join(self.missing)}" if self.missing else ""
        known = len(catalogue().set("vlsi").entries)
        sentence = (
            f"{counted(len(rows), 'instance')}; the paper has {PAPER_INSTANCES}, of which the"
            f" catalogue contains {known}{absent}"
        )
        ratio = mean(rows, "ratio")
        return [
            Fact("instances", len(rows), sentence),
            Fact("mean_ratio", ratio, f"mean ratio to a random tour: {ratio:.3f}"),
            *speedup_facts(rows, self.experiment, PAPER_SPEEDUPS),
        ]

    def plots(self) -> list[Plot]:
        """Return a plot of our times."""
        return [Plot("seconds", time_curves(self.experiment))]
