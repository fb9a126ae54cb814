"""Table 3: differential evolution without local search, and the thesis' implementations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import ASSIGNMENT, Fact, Plot, TableRow, mean, mean_in_words, numbers
from islands.reproduce.jardim2021.figures import (
    IMPLEMENTATION_GAPS,
    IMPLEMENTATIONS,
    INTERPRETATIONS,
    implementations,
)
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import cpu_cells, cpu_columns, speedup_facts, time_curves
from islands.tables import Column
from islands.text import counted

LARGE = 128
_NOISE = 2.0
"""Standard errors of the difference of two means that count as noise."""
_RUNS = 10
"""Runs of the thesis; it prints no deviations, so ours are used."""


def wanted(n: int) -> int:
    """Return the target speed-up over the thesis' fastest implementation."""
    return 300 if n >= LARGE else 100


class ImplementationsTable(SampleTable):
    """Our gaps and seconds, and those of the thesis' experiment A."""

    name: ClassVar[str] = "implementations"
    title: ClassVar[str] = "table 3: implementations, without local search"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the thesis has three programs: ours is compared with each of them. A block for each pair"
        " of facilities, GPU-P, is not included, as it changes only the time",
    )
    is_timed: ClassVar[bool] = True
    preset: ClassVar[str] = "jardim2021-a"
    generations: ClassVar[int] = 1000

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the table."""
        return [named(name, index) for name in implementations()]

    def columns(self) -> list[Column]:
        """Return our mean gap and the thesis' gaps, then our seconds and the thesis'."""
        return [
            *ASSIGNMENT,
            Column("gap", "gap %", 6, ".2f"),
            Column("deviation", "st.dev.", 7, ".2f"),
            *(Column(f"{each}_gap", f"{each} %", 7, ".2f") for each in IMPLEMENTATIONS),
            Column("seconds", "s/run", 9, ".4f"),
            Column("alone_seconds", "s alone", 9, ".4f"),
            *(Column(f"{each}_seconds", f"{each} s", 7, ".2f") for each in IMPLEMENTATIONS),
            Column("speedup", "fastest/ours", 12, ".0f"),
            Column("wanted", "wanted", 6, "d"),
            *cpu_columns(self.experiment.threads),
            Column("evaluations"),
            Column("rate"),
            *(Column(f"{each}_rate") for each in IMPLEMENTATIONS),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance: all runs in one batch, and one run alone for its time."""
        thesis = implementations()[problem.instance]
        sample = self.sample(problem)
        ours = self.seconds(sample)
        yield {
            "instance": problem.instance,
            "n": problem.size,
            "gap": sample.mean_gap,
            "deviation": sample.deviation,
            **{f"{each}_gap": thesis[each].gap for each in thesis},
            "seconds": ours,
            "alone_seconds": self.seconds(self.sample_of(problem, 1)),
            **{f"{each}_seconds": thesis[each].seconds for each in thesis},
            "speedup": min(each.seconds for each in thesis.values()) / ours,
            "wanted": wanted(problem.size),
            **cpu_cells(self.experiment, problem, ours),
            "evaluations": sample.mean_evaluations,
            "rate": sample.mean_evaluations / sample.seconds / 1e3,
            **{f"{each}_rate": thesis[each].rate for each in thesis},
            "generations": sample.generations,
            "runs": len(sample.costs),
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gaps, a comparison with the thesis, and the ratios of times."""
        speedups = speedup_facts(rows, self.experiment, {})
        return [*gap_facts(rows), *ratio_facts(rows), *speedups]

    def plots(self) -> list[Plot]:
        """Return plots of seconds, gaps and calls of the objective per second."""
        thesis = {each: f"2021, {words}" for each, words in IMPLEMENTATIONS.items()}
        ours = f"ours, {self.experiment.device}"

        def with_thesis(quantity: str, own: str) -> dict[str, str]:
            return {own: ours} | {f"{each}_{quantity}": words for each, words in thesis.items()}

        seconds = time_curves(self.experiment) | with_thesis("seconds", "seconds")
        return [
            Plot("seconds per run", seconds),
            Plot("mean gap, %", with_thesis("gap", "gap"), "-gap", logarithmic=False),
            Plot("thousands of calls per second", with_thesis("rate", "rate"), "-rate"),
        ]


def gap_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the mean gaps, and how many of ours are at most the thesis' least."""
    means = {each: mean(rows, f"{each}_gap") for each in IMPLEMENTATIONS}
    is_whole = len(rows) == len(implementations())
    theirs = ", ".join(
        f"{each} {mean_in_words(value, IMPLEMENTATION_GAPS[each], '.2f', is_whole=is_whole)}"
        for each, value in means.items()
    )
    ours = mean(rows, "gap")
    at_most, good = (sum(_is_as_good(row, noise) for row in rows) for noise in (0.0, _NOISE))
    return [
        Fact("mean_gap", ours, f"mean gaps: ours {ours:.2f} %; of the thesis' rows {theirs}"),
        *(Fact(f"mean_gap_{each}", value, "") for each, value in means.items()),
        *(
            fact
            for each in IMPLEMENTATIONS
            for fact in significance(
                f"gap_{each}", f"gaps, ours against {each}", numbers(rows, "gap", f"{each}_gap")
            )
        ),
        Fact(
            "as_good",
            good,
            f"our mean gap is at most the least of the three on {at_most} of"
            f" {counted(len(rows), 'instance')},"
            f" or within {_NOISE:g} standard errors above it on {good}",
        ),
        Fact("at_most_the_least", at_most, ""),
    ]


def ratio_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the smallest ratio of times, and how many reach the target."""
    least = min(rows, key=lambda row: numbers([row], "speedup"))
    ((speedup,),) = numbers([least], "speedup")
    enough = sum(ratio >= goal for ratio, goal in numbers(rows, "speedup", "wanted"))
    return [
        Fact(
            "least_speedup",
            speedup,
            f"seconds of the thesis' fastest over ours: at least {speedup:.0f} (on"
            f" {least['instance']}); the target, {wanted(0)} and from n = {LARGE} {wanted(LARGE)},"
            f" is reached on {enough} of {counted(len(rows), 'instance')}",
        ),
        Fact("as_fast_as_wanted", enough, ""),
    ]


def _is_as_good(row: TableRow, noise: float) -> bool:
    """Return whether our mean gap is at most the least plus `noise` standard errors."""
    (thesis,) = numbers([row], *(f"{each}_gap" for each in IMPLEMENTATIONS))
    errors = [sd * sqrt(1 / runs + 1 / _RUNS) for sd, runs in numbers([row], "deviation", "runs")]
    return any(gap <= min(thesis) + noise * sum(errors) for (gap,) in numbers([row], "gap"))
