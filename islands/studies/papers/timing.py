"""Seconds of a run on the requested backend, compared with our CPU backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.problems.base import Problem
from islands.studies.papers.cells import (
    Cell,
    Fact,
    Plot,
    Scaled,
    TableRow,
    mean_ratio,
    numbers,
    significance,
)
from islands.studies.papers.experiment import Experiment, RunResult
from islands.studies.papers.sample import Sample
from islands.tables import Column
from islands.text import counted

CPU_SECONDS = 2.0
"""Time limit of a timed CPU run; the time of a run that reaches it is scaled."""
_EVERY = 5

CPU = Column("cpu")
"""Stands for the columns of `cpu_cells` in a list of columns."""
SECONDS = (Column("seconds", "ours s", 9, ".3f"), Column("generations"), CPU)
"""The columns of `time_cells`."""


class TimedExperiment(Experiment):
    """Makes runs whose times are compared with those of our CPU, and with the paper's."""

    def paper_seconds(self, run: RunResult | Sample) -> float:
        """Return seconds scaled to the paper's generations; generation 0 counts as one."""
        if run.generations == self.generations:
            return run.seconds
        return Scaled(run.seconds * (self.generations + 1) / (run.generations + 1))

    def seconds(self, sample: Sample) -> float:
        """Return the seconds of a run, scaled if its number of generations was changed.

        Otherwise a run with fewer generations ended by its number of evaluations.
        """
        return self.paper_seconds(sample) if self.is_changed else sample.seconds

    def median_run(self, runs: Sequence[RunResult]) -> RunResult:
        """Return the run with the median time; of two in the middle, the faster."""
        return sorted(runs, key=self.paper_seconds)[(len(runs) - 1) // 2]

    def timed(self, problem: Problem, seed: int = 1, **settings: Any) -> RunResult:
        """Time a run on the CPU; it ends early if it takes long."""
        stop = [*self.stop(), f"seconds={CPU_SECONDS:g}"]
        options = {"backend": "cpu", "stop": stop, "record.every": _EVERY, **settings}
        return self.run(problem, seed, **options)

    def time_cells(self, problem: Problem, runs: Sequence[RunResult]) -> dict[str, Any]:
        """Return the cells of `SECONDS`: the median of some runs, and the CPU."""
        run = self.median_run(runs)
        ours = self.paper_seconds(run)
        cpu = self.cpu_cells(problem, ours)
        return {"seconds": ours, "generations": run.generations, **cpu}

    def cpu_columns(self) -> list[Column]:
        """Return the columns of `cpu_cells`."""
        cpu, ratios = [], []
        for each in self.asked.threads:
            cpu += [Column(f"cpu_{each}_seconds", f"CPU {each} s", 9, ".2f")]
            cpu += [Column(f"cpu_{each}_generations")]
            ratios += [Column(f"speedup_cpu_{each}", f"CPU {each}/ours", 10, ".1f")]
        return [*cpu, *ratios]

    def cpu_cells(self, problem: Problem, ours: float, **settings: Any) -> TableRow:
        """Time the CPU with each number of threads; return the cells of `cpu_columns`."""
        cells: dict[str, Cell] = {}
        for threads in self.asked.threads:
            result = self.timed(problem, **settings, threads=threads)
            seconds = self.paper_seconds(result)
            cells[f"cpu_{threads}_seconds"] = seconds
            cells[f"cpu_{threads}_generations"] = result.generations
            cells[f"speedup_cpu_{threads}"] = seconds / ours
        return {column.name: cells[column.name] for column in self.cpu_columns()}

    def curves(self, plot: Plot) -> dict[str, str]:
        """Return the labels of the columns of a plot, those of our times first."""
        curves = {"seconds": "ours, {device}"} if plot.with_times else {}
        for each in self.asked.threads if plot.with_times else ():
            curves[f"cpu_{each}_seconds"] = f"our CPU, {counted(each, 'thread')}"
        curves |= plot.curves
        return {name: label.format(device=self.asked.device) for name, label in curves.items()}

    def speedup_facts(
        self, rows: Sequence[TableRow], printed: Mapping[int, float] | None = None
    ) -> list[Fact]:
        """Return our mean speed-ups over our CPU, with the printed ones of brkgaCuda, if any.

        The printed ones are means over all instances of the paper.
        """
        facts, printed = [], printed or {}
        for threads in self.asked.threads:
            cpu = f"cpu_{threads}_seconds"
            mean = mean_ratio(rows, cpu, "seconds")
            words = counted(threads, "thread")
            sentence = f"mean speed-up over our CPU with {words}: {mean:.2f}"
            if threads in printed:
                paper = f"{printed[threads]:.2f}"
                sentence += f"; printed: brkgaCuda over brkgaAPI with {words}: {paper}"
            facts += [
                Fact(sentence, {f"mean_speedup_cpu_{threads}": mean}),
                *significance(
                    f"cpu_{threads}", "our times against it", numbers(rows, "seconds", cpu)
                ),
            ]
        return facts

    def scaled_facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of times that were scaled from shorter runs, if any."""
        scaled = sum(isinstance(cell, Scaled) for row in rows for cell in row.values())
        if not scaled:
            return []
        sentence = (
            "~: time of a shorter run, scaled to"
            f" {counted(self.generations, 'generation')} ({counted(scaled, 'cell')})."
            f" Timed CPU runs end after {CPU_SECONDS:g} s; --out and --json have the exact numbers"
        )
        return [Fact(sentence, {"scaled_cells": scaled})]
