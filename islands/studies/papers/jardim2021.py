"""Jardim 2021: differential evolution on a GPU for the quadratic assignment problem.

The printed figures are means of ten runs on an RTX 2060 and a Ryzen 5 3600X.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.studies.papers.cells import Fact, TableRow, with_printed
from islands.studies.papers.rows import matching, mean, mean_ratio, named, numbers, significance
from islands.studies.papers.table import Paper, PaperTable
from islands.tables import Row
from islands.text import counted

IMPLEMENTATIONS = ("GPU", "GPU-P", "CPU")
"""The three implementations of the thesis."""

LARGE = 128
"""Minimum size of an instance with the larger target speed-up."""
_NOISE = 2.0
"""Standard errors of the difference of two means that count as noise."""
_RUNS = 10
"""Number of runs of the thesis; it prints no deviations, so ours stand for them."""


def wanted(n: int) -> int:
    """Return the target speed-up over the thesis' fastest implementation."""
    return 300 if n >= LARGE else 100


class ImplementationsTable(PaperTable, of="jardim2021/implementations"):
    """Table 3: our gaps and seconds, and those of the thesis' experiment A."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance: all runs in one batch, and one run alone for its time."""
        thesis, sample = self.printed()[problem.instance], self.sample(problem)
        fastest = min(row["seconds"] for row in thesis.values())
        theirs = {
            f"{name}_{figure}": cell for name, row in thesis.items() for figure, cell in row.items()
        }
        yield self.timed_row(
            problem,
            sample,
            theirs,
            gap=sample.mean_gap,
            speedup=float(fastest / self.seconds(sample)),
            wanted=wanted(problem.size),
            rate=sample.mean_evaluations / sample.seconds / 1e3,
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gaps, a comparison with the thesis, and the ratios of times."""
        ours, theirs = mean(rows, "gap"), self.means_of(rows)
        means = {name: mean(rows, f"{name}_gap") for name in IMPLEMENTATIONS}
        words = ", ".join(f"{name} {theirs[f'{name}_gap']}" for name in IMPLEMENTATIONS)
        facts = [
            self.fact("means", rows, {"mean_gap": ours, **named("mean_gap", means)}, theirs=words)
        ]
        for name in IMPLEMENTATIONS:
            pairs = numbers(rows, "gap", f"{name}_gap")
            facts += significance(f"gap_{name}", f"our gaps and those of {name}", pairs)
        at_most, good = (sum(_is_as_good(row, noise) for row in rows) for noise in (0.0, _NOISE))
        counts = {"as_good": good, "at_most_the_least": at_most}
        facts += [self.fact("at_most", rows, counts, noise=_NOISE), self._ratio_fact(rows)]
        return [*facts, *self.speedup_facts(rows)]

    def _ratio_fact(self, rows: Sequence[TableRow]) -> Fact:
        """Return the smallest ratio of times, and the number of instances that reach the target."""
        least = min(rows, key=lambda row: numbers([row], "speedup"))
        ((speedup,),) = numbers([least], "speedup")
        enough = sum(ratio >= goal for ratio, goal in numbers(rows, "speedup", "wanted"))
        values = {"least_speedup": speedup, "as_fast_as_wanted": enough}
        goals = {"small": wanted(0), "large": LARGE, "wanted": wanted(LARGE)}
        return self.fact("ratio", rows, values, where=least["instance"], **goals)


def _is_as_good(row: TableRow, noise: float) -> bool:
    """Return whether our mean gap is at most the smallest one plus `noise` standard errors."""
    (thesis,) = numbers([row], *(f"{name}_gap" for name in IMPLEMENTATIONS))
    errors = [sd * sqrt(1 / runs + 1 / _RUNS) for sd, runs in numbers([row], "deviation", "runs")]
    return any(gap <= min(thesis) + noise * sum(errors) for (gap,) in numbers([row], "gap"))


class LocalSearchesTable(PaperTable, of="jardim2021/local-searches"):
    """Table 4: differential evolution with each of the three local searches (experiment B)."""

    options: ClassVar[Mapping[str, Any]] = {}
    """Options of the runs besides the preset and the local search."""
    printed_gaps: ClassVar[Mapping[str, float]]
    """Printed mean gaps of each local search, by our names."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with each local search."""
        for search, thesis in self.printed()[problem.instance].items():
            sample = self.sample(problem, improver=search, **self.options)
            yield self.row(
                problem,
                sample,
                **named("thesis", thesis),
                search=search,
                gap=sample.mean_gap,
                speedup=thesis["seconds"] / self.seconds(sample),
                calls=sample.mean_evaluations / 1e3,
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the means of each local search, and the smallest ratio of times."""
        facts = []
        for search, printed in self.printed_gaps.items():
            search_rows = matching(rows, search=search)
            gap, thesis = mean(search_rows, "gap"), mean(search_rows, "thesis_gap")
            calls = mean_ratio(search_rows, "calls", "thesis_calls")
            theirs = with_printed(thesis, printed, is_whole=len(search_rows) == len(self.printed()))
            values = {"mean_gap": gap, "mean_gap_thesis": thesis, "mean_calls_ratio": calls}
            pairs = numbers(search_rows, "gap", "thesis_gap")
            facts.append(self.fact("search", search_rows, values, search, theirs=theirs))
            facts += significance(search, f"{search}: our gaps and those of the thesis", pairs)
        least = min(ratio for (ratio,) in numbers(rows, "speedup"))
        return [*facts, self.fact("least", rows, {"least_speedup": least})]


class LocalSearchesAlwaysTable(LocalSearchesTable, of="jardim2021/local-searches-always"):
    """The same table with local search on every trial, as in the thesis' text."""


class LiteratureTable(PaperTable, of="jardim2021/literature"):
    """Table 5: our best and mean costs with 2-opt, and those of the thesis' experiment C."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance."""
        sample, thesis = self.sample(problem), self.printed()[problem.instance]
        yield self.row(
            problem,
            sample,
            **named("thesis", thesis),
            mean=fmean(sample.costs),
            calls=sample.mean_evaluations / 1e6,
            thesis_calls=thesis["mean_calls"],
            fewest_calls=min(sample.evaluations) / 1e6,
            thesis_fewest_calls=thesis["best_calls"],
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the average gaps, and the number of instances on which ours is not larger."""
        gaps = numbers(rows, "mean_gap", "thesis_mean_gap")
        as_good = sum(ours <= thesis for ours, thesis in gaps)
        reached = sum(hits > 0 for (hits,) in numbers(rows, "hits"))
        theirs = sum(gap == 0 for (gap,) in numbers(rows, "thesis_best_gap"))
        words = counted(reached, "instance")
        return [
            *(self._average(rows, which) for which in ("mean", "best")),
            self.fact("as_good", rows, {"as_good": as_good}),
            self.fact("reached", rows, {"reached": reached}, words=words, theirs=theirs),
            *significance("mean_gap", "our mean gaps and those of the thesis", gaps),
        ]

    def _average(self, rows: Sequence[TableRow], which: str) -> Fact:
        """Return the averages of our column and of the thesis' column."""
        ours, thesis = (mean(rows, f"{whose}{which}_gap") for whose in ("", "thesis_"))
        values = {f"average_{which}_gap": ours, f"average_thesis_{which}_gap": thesis}
        theirs = self.means_of(rows)[f"thesis_{which}_gap"]
        return self.fact("average", rows, values, which=which, ours=ours, theirs=theirs)


PAPER = Paper.of(
    "jardim2021",
    *(ImplementationsTable, LocalSearchesTable, LiteratureTable, LocalSearchesAlwaysTable),
)
