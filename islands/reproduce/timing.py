"""Seconds of a run on the requested backend, compared with our CPU backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, Scaled, TableRow, mean_ratio, numbers, significance
from islands.reproduce.experiment import Experiment, RunResult
from islands.tables import Column
from islands.text import counted

CPU_SECONDS = 2.0
"""Time limit of a timed CPU run; the time of a run that reaches it is scaled."""
_EVERY = 5


class TimedRun(Protocol):
    """A timed run, or the mean of several."""

    @property
    def seconds(self) -> float:
        """Seconds of the generation loop."""

    @property
    def generations(self) -> int:
        """Number of computed generations."""


def timed(
    experiment: Experiment,
    problem: Problem,
    seed: int = 1,
    threads: int | None = None,
    **settings: Any,
) -> RunResult:
    """Time a run on the CPU; it ends early if it takes long."""
    stop = [*experiment.stop(), f"seconds={CPU_SECONDS:g}"]
    options = {"backend": "cpu", "stop": stop, "record.every": _EVERY, **settings}
    return experiment.run(problem, seed, **options, **({"threads": threads} if threads else {}))


def paper_seconds(result: TimedRun, experiment: Experiment) -> float:
    """Return the seconds scaled to the paper's generations; generation 0 counts as one."""
    full = experiment.paper_generations
    if result.generations == full:
        return result.seconds
    return Scaled(result.seconds * (full + 1) / (result.generations + 1))


def median_run(results: Sequence[RunResult], experiment: Experiment) -> RunResult:
    """Return the run with the median time; of two in the middle, the faster."""
    by_time = sorted(results, key=lambda result: paper_seconds(result, experiment))
    return by_time[(len(by_time) - 1) // 2]


def time_columns(threads: Sequence[int]) -> list[Column]:
    """Return the columns of our seconds, the CPU's seconds, and their ratios."""
    return [Column("seconds", "ours s", 9, ".3f"), Column("generations"), *cpu_columns(threads)]


def cpu_columns(threads: Sequence[int]) -> list[Column]:
    """Return the columns of `cpu_cells`."""
    cpu, ratios = [], []
    for each in threads:
        cpu += [Column(f"cpu_{each}_seconds", f"CPU {each} s", 9, ".2f")]
        cpu += [Column(f"cpu_{each}_generations")]
        ratios += [Column(f"speedup_cpu_{each}", f"CPU {each}/ours", 10, ".1f")]
    return [*cpu, *ratios]


def cpu_cells(experiment: Experiment, problem: Problem, ours: float, **settings: Any) -> TableRow:
    """Time the CPU with each number of threads; return the cells of `cpu_columns`."""
    cells: dict[str, Cell] = {}
    for threads in experiment.threads:
        result = timed(experiment, problem, threads=threads, **settings)
        seconds = paper_seconds(result, experiment)
        cells[f"cpu_{threads}_seconds"] = seconds
        cells[f"cpu_{threads}_generations"] = result.generations
        cells[f"speedup_cpu_{threads}"] = seconds / ours
    return {column.name: cells[column.name] for column in cpu_columns(experiment.threads)}


def time_curves(experiment: Experiment) -> dict[str, str]:
    """Return the curves of our times with their labels."""
    cpu = {
        f"cpu_{each}_seconds": f"our CPU, {counted(each, 'thread')}" for each in experiment.threads
    }
    return {"seconds": f"ours, {experiment.device}"} | cpu


def speedup_facts(
    rows: Sequence[TableRow], experiment: Experiment, printed: Mapping[int, float]
) -> list[Fact]:
    """Return our mean speed-ups over our CPU, with the printed speed-ups of brkgaCuda, if any.

    The printed ones are means over all instances of the paper.
    """
    facts = []
    for threads in experiment.threads:
        cpu = f"cpu_{threads}_seconds"
        mean = mean_ratio(rows, cpu, "seconds")
        words = counted(threads, "thread")
        paper = ""
        if threads in printed:
            paper = f"; printed: brkgaCuda over brkgaAPI with {words}: {printed[threads]:.2f}"
        facts += [
            Fact(
                f"mean_speedup_cpu_{threads}",
                mean,
                f"mean speed-up over our CPU with {words}: {mean:.2f}{paper}",
            ),
            *significance(f"cpu_{threads}", "our times against it", numbers(rows, "seconds", cpu)),
        ]
    return facts


def scaled_facts(rows: Sequence[TableRow], experiment: Experiment) -> list[Fact]:
    """Return the number of times that were scaled from shorter runs, if any."""
    scaled = sum(isinstance(cell, Scaled) for row in rows for cell in row.values())
    if not scaled:
        return []
    sentence = (
        "~: time of a shorter run, scaled to"
        f" {counted(experiment.paper_generations, 'generation')} ({counted(scaled, 'cell')})."
        f" Timed CPU runs end after {CPU_SECONDS:g} s; --out and --json have the exact numbers"
    )
    return [Fact("scaled_cells", scaled, sentence)]
