"""Table 5: differential evolution with 2-opt against the best values of the literature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import ASSIGNMENT, Fact, Plot, TableRow, mean, mean_in_words, numbers
from islands.reproduce.jardim2021.figures import LITERATURE_GAPS, SEARCH_INTERPRETATIONS, literature
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column
from islands.text import counted


class LiteratureTable(SampleTable):
    """Our best and mean costs, and those of the thesis' experiment C."""

    name: ClassVar[str] = "literature"
    title: ClassVar[str] = "table 5: best and mean costs against the literature"
    interpretations: ClassVar[tuple[str, ...]] = SEARCH_INTERPRETATIONS
    preset: ClassVar[str] = "jardim2021-c"
    generations: ClassVar[int] = 15_000

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the table."""
        return [named(name, index) for name in literature()]

    def columns(self) -> list[Column]:
        """Return best and mean costs, gaps and calls: ours and the thesis'."""
        return [
            *ASSIGNMENT,
            Column("known", "known", 8, "d"),
            Column("best", "our best", 8, "d"),
            Column("thesis_best", "2021", 8, "d"),
            Column("best_gap", "gap %", 6, ".2f"),
            Column("thesis_best_gap", "2021 %", 6, ".2f"),
            Column("mean", "our mean", 10, ".0f"),
            Column("thesis_mean", "2021", 8, "d"),
            Column("mean_gap", "gap %", 6, ".2f"),
            Column("thesis_mean_gap", "2021 %", 6, ".2f"),
            Column("deviation"),
            Column("hits", "hits", 4, "d"),
            Column("calls", "Mcalls", 7, ".2f"),
            Column("thesis_calls", "2021", 7, ".2f"),
            Column("fewest_calls"),
            Column("thesis_fewest_calls"),
            Column("seconds", "s/run", 9, ".3f"),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance."""
        thesis, sample = literature()[problem.instance], self.sample(problem)
        yield {
            "instance": problem.instance,
            "n": problem.size,
            "known": problem.best_known.value if problem.best_known else None,
            "best": min(sample.costs),
            "thesis_best": thesis.best,
            "best_gap": sample.best_gap,
            "thesis_best_gap": thesis.best_gap,
            "mean": fmean(sample.costs),
            "thesis_mean": thesis.mean,
            "mean_gap": sample.mean_gap,
            "thesis_mean_gap": thesis.mean_gap,
            "deviation": sample.deviation,
            "hits": sample.hits,
            "calls": sample.mean_evaluations / 1e6,
            "thesis_calls": thesis.mean_calls,
            "fewest_calls": min(sample.evaluations) / 1e6,
            "thesis_fewest_calls": thesis.best_calls,
            "seconds": self.seconds(sample),
            "generations": sample.generations,
            "runs": len(sample.costs),
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the average gaps, and on how many instances ours is at most the thesis'."""
        gaps = numbers(rows, "mean_gap", "thesis_mean_gap")
        as_good = sum(ours <= thesis for ours, thesis in gaps)
        reached = sum(hits > 0 for (hits,) in numbers(rows, "hits"))
        theirs = sum(gap == 0 for (gap,) in numbers(rows, "thesis_best_gap"))
        return [
            *_average(rows, "mean_gap", "mean"),
            *_average(rows, "best_gap", "best"),
            Fact(
                "as_good",
                as_good,
                f"our mean is at most the thesis' on {as_good} of {counted(len(rows), 'instance')}",
            ),
            Fact(
                "reached",
                reached,
                f"the best known value was reached on {counted(reached, 'instance')}, in 2021"
                f" on {theirs}",
            ),
            *significance("mean_gap", "mean gaps, ours against 2021", gaps),
            *scaled_facts(rows, self.experiment),
        ]

    def plots(self) -> list[Plot]:
        """Return the gaps of the mean and of the best."""
        curves = {
            "mean_gap": "ours, mean",
            "thesis_mean_gap": "2021, mean",
            "best_gap": "ours, best",
            "thesis_best_gap": "2021, best",
        }
        return [Plot("gap, %", curves, "-gap", logarithmic=False)]


def _average(rows: Sequence[TableRow], column: str, word: str) -> list[Fact]:
    """Return the averages of our column and of the thesis' column."""
    ours, thesis = mean(rows, column), mean(rows, f"thesis_{column}")
    is_whole = len(rows) == len(literature())
    theirs = mean_in_words(thesis, LITERATURE_GAPS[column], ".2f", is_whole=is_whole)
    sentence = f"average gap of the {word}: ours {ours:.2f} %, of the thesis' rows {theirs} %"
    return [
        Fact(f"average_{column}", ours, sentence),
        Fact(f"average_thesis_{column}", thesis, ""),
    ]
