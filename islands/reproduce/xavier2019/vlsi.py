"""The VLSI instances: the paper plots their times, and prints their mean speed-ups alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from islands.instances.catalogue import catalogue
from islands.instances.locate import Found, Index
from islands.problems import SUFFIXES
from islands.problems.base import Problem
from islands.reproduce.cells import INSTANCE, Column, Fact, Plot, Row, mean
from islands.reproduce.random_tour import mean_random_tour
from islands.reproduce.selection import named
from islands.reproduce.table import Table
from islands.reproduce.timing import (
    cpu_cells,
    median_run,
    paper_seconds,
    speedup_facts,
    time_columns,
    time_curves,
)
from islands.text import counted

PAPER_INSTANCES = 81
PAPER_LARGEST = 25_000
PAPER_SPEEDUPS = {1: 2.61, 4: 1.30, 8: 1.26}
"""Of brkgaCuda over brkgaAPI with so many threads, from the paper's text."""


class Vlsi(Table):
    """Seconds and costs of the VLSI instances that are here."""

    name: ClassVar[str] = "vlsi"
    title: ClassVar[str] = "VLSI instances: seconds and values"
    preset: ClassVar[str] = "xavier2019"
    generations: ClassVar[int] = 1000
    runs: ClassVar[int] = 1
    needs_all: ClassVar[bool] = False

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return those of the catalogue, and others that lie here in a folder of their set."""
        entries = catalogue().set("vlsi").entries.values()
        others = index.others(SUFFIXES).items()
        return [
            *(named(entry.full_name, index) for entry in entries),
            *(Found(name, path, None) for name, path in others if name.startswith("vlsi/")),
        ]

    def columns(self) -> list[Column]:
        """Return our seconds, the CPU's, and our cost beside a random tour's."""
        return [
            *INSTANCE,
            *time_columns(self.experiment.threads),
            Column("mean", "our mean", 10, ".1f"),
            Column("best"),
            Column("runs"),
            Column("random"),
            Column("ratio", "ratio", 5, ".3f"),
        ]

    def leaves_out(self, problem: Problem) -> str:
        """Return that an instance is larger than the paper's, where it is."""
        is_larger = problem.size > PAPER_LARGEST
        return f"the paper has none of {problem.size} cities" if is_larger else ""

    def rows(self, problem: Problem) -> Iterator[Row]:
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

    def facts(self, rows: Sequence[Row]) -> list[Fact]:
        """Return which instances there were, and the mean speed-ups over our CPU."""
        absent = f"; not here: {', '.join(self.missing)}" if self.missing else ""
        known = len(catalogue().set("vlsi").entries)
        sentence = (
            f"{counted(len(rows), 'instance')}; the paper has {PAPER_INSTANCES}, of which the"
            f" catalogue names {known}{absent}"
        )
        ratio = mean(rows, "ratio")
        return [
            Fact("instances", len(rows), sentence),
            Fact("mean_ratio", ratio, f"mean ratio to a random tour: {ratio:.3f}"),
            *speedup_facts(rows, self.experiment, PAPER_SPEEDUPS),
        ]

    def plots(self) -> list[Plot]:
        """Return our times."""
        return [Plot("seconds", time_curves(self.experiment))]
