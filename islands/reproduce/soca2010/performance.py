"""Table III: the seconds of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import ASSIGNMENT, Fact, Plot, TableRow, mean, mean_ratio, numbers
from islands.reproduce.selection import named
from islands.reproduce.soca2010.figures import INTERPRETATIONS, performance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import cpu_cells, cpu_columns, speedup_facts, time_curves
from islands.tables import Column
from islands.text import counted

WANTED = 200
"""The target speed-up over the paper's GPU."""


class PerformanceTable(SampleTable):
    """Our seconds, the paper's two columns, and our CPU as the sequential version."""

    name: ClassVar[str] = "performance"
    title: ClassVar[str] = "table III: seconds of a run"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    is_timed: ClassVar[bool] = True
    preset: ClassVar[str] = "soca2010"
    generations: ClassVar[int] = 5000

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the table."""
        return [named(name, index) for name in performance()]

    def columns(self) -> list[Column]:
        """Return our seconds, the paper's seconds, their ratios, and our CPU's."""
        return [
            *ASSIGNMENT,
            Column("seconds", "s/run", 9, ".4f"),
            Column("alone_seconds", "s alone", 9, ".4f"),
            Column("gpu_seconds", "2010 GPU s", 10, ".2f"),
            Column("sequential_seconds", "2010 CPU s", 10, ".2f"),
            Column("speedup_gpu", "GPU/ours", 8, ".0f"),
            Column("speedup_sequential", "CPU/ours", 8, ".0f"),
            *cpu_columns(self.experiment.threads),
            Column("paper_speedup", "2010 CPU/GPU", 12, ".2f"),
            Column("evaluations"),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Time an instance: all runs in one batch, one run alone, and the CPU."""
        paper, sample = performance()[problem.instance], self.sample(problem)
        ours = self.seconds(sample)
        yield {
            "instance": problem.instance,
            "n": problem.size,
            "seconds": ours,
            "alone_seconds": self.seconds(self.sample_of(problem, 1)),
            "gpu_seconds": paper.gpu,
            "sequential_seconds": paper.cpu,
            "speedup_gpu": paper.gpu / ours,
            "speedup_sequential": paper.cpu / ours,
            **cpu_cells(self.experiment, problem, ours),
            "paper_speedup": paper.speedup,
            "evaluations": sample.mean_evaluations,
            "generations": sample.generations,
            "runs": len(sample.costs),
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the ratios of the paper's times to ours, and of the CPU's to ours."""
        ratios = [ratio for (ratio,) in numbers(rows, "speedup_gpu")]
        enough = sum(ratio >= WANTED for ratio in ratios)
        sequential = mean_ratio(rows, "sequential_seconds", "seconds")
        printed = mean(rows, "paper_speedup")
        return [
            Fact(
                "least_speedup_gpu",
                min(ratios),
                f"the paper's GPU seconds over ours: at least {min(ratios):.0f}; the"
                f" target, {WANTED}, is reached on {enough} of {counted(len(rows), 'instance')}",
            ),
            Fact("as_fast_as_wanted", enough, ""),
            Fact(
                "mean_speedup_sequential",
                sequential,
                f"mean of the paper's CPU seconds over ours: {sequential:.0f}; mean of the"
                f" speed-ups printed in these rows, over its own GPU: {printed:.2f}",
            ),
            *speedup_facts(rows, self.experiment, {}),
        ]

    def plots(self) -> list[Plot]:
        """Return a plot of our times and the paper's."""
        paper = {"gpu_seconds": "2010, 9800 GTX+", "sequential_seconds": "2010, one CPU core"}
        return [Plot("seconds per run", time_curves(self.experiment) | paper)]
