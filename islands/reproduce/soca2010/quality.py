"""Table II: hits of the best known value, and gaps, of ten runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import ASSIGNMENT, Cell, Fact, Plot, TableRow, mean, numbers
from islands.reproduce.runs import Sample
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.soca2010.figures import INTERPRETATIONS, performance, quality
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column
from islands.text import counted


class QualityTable(SampleTable):
    """Our hits and gaps and the paper's; with elitist replacement if no run hits."""

    name: ClassVar[str] = "quality"
    title: ClassVar[str] = "table II: hits of the best known value, and gaps"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "tables II and III list different instances: this table has those of both",
        "every solution of esc16f costs 0, but the paper has 6 hits of 10: a hit is a run that"
        " ends at the best known value",
    )
    preset: ClassVar[str] = "soca2010"
    generations: ClassVar[int] = 5000

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of table II, then those only in table III."""
        return [named(name, index) for name in dict.fromkeys([*quality(), *performance()])]

    def columns(self) -> list[Column]:
        """Return hits and gaps: ours, the paper's, and ours with elitist replacement."""
        return [
            *ASSIGNMENT,
            Column("known", "known", 8, "d"),
            Column("hits", "hits", 4, "d"),
            Column("best_gap", "best %", 6, ".2f"),
            Column("mean_gap", "mean %", 6, ".2f"),
            Column("paper_hits", "2010 hits", 9, "d"),
            Column("paper_gap", "2010 %", 6, ".2f"),
            Column("elitist_hits", "elitist hits", 12, "d"),
            Column("elitist_best_gap", "best %", 6, ".2f"),
            Column("elitist_mean_gap", "mean %", 6, ".2f"),
            Column("seconds", "s/run", 9, ".4f"),
            Column("runs", "runs", 4, "d"),
            Column("generations"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance; if no run hits, also with elitist replacement."""
        sample, paper = self.sample(problem), quality().get(problem.instance)
        elitist = None if sample.hits else self.sample(problem, replacement="elitist")
        yield {
            "instance": problem.instance,
            "n": problem.size,
            "known": problem.best_known.value if problem.best_known else None,
            **_cells(sample, ""),
            "paper_hits": paper.hits if paper else None,
            "paper_gap": paper.gap if paper else None,
            **(_cells(elitist, "elitist_") if elitist else {}),
            "seconds": self.seconds(sample),
            "runs": len(sample.costs),
            "generations": sample.generations,
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of instances with hits, and the mean gaps."""
        best, ours = mean(rows, "best_gap"), mean(rows, "mean_gap")
        printed = [gap for (gap,) in numbers(rows, "paper_gap")]
        theirs = f"; the paper's {fmean(printed):.2f} %" if printed else ""
        sentence = f"mean gap of the best runs {best:.2f} %{theirs}; of all runs {ours:.2f} %"
        return [
            *reached_facts(rows),
            Fact("mean_best_gap", best, sentence),
            Fact("mean_gap", ours, ""),
            *significance(
                "best_gap",
                "gaps of the best runs, ours against 2010",
                numbers(rows, "best_gap", "paper_gap"),
            ),
            *scaled_facts(rows, self.experiment),
        ]

    def plots(self) -> list[Plot]:
        """Return a plot of the gaps."""
        curves = {
            "best_gap": "ours, best",
            "mean_gap": "ours, mean",
            "elitist_best_gap": "ours with elitist replacement, best",
            "paper_gap": "2010",
        }
        return [Plot("gap, %", curves, "-gap", logarithmic=False)]


def reached_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the number of instances with hits: with the paper's replacement, and with either."""
    hit = [row for row in rows if row["hits"]]
    elitist = [row for row in rows if row.get("elitist_hits")]
    never = [row for row in rows if row not in hit and row not in elitist]
    theirs = sum(gap == 0 for (gap,) in numbers(rows, "paper_gap"))
    printed = len(numbers(rows, "paper_gap"))
    sentence = (
        f"best known value reached on {len(hit)} of {counted(len(rows), 'instance')} with"
        f" generational replacement{_named(' and with elitist replacement on', elitist)}"
        f"{_named(', never on', never)}; in 2010 on {theirs} of {printed}"
    )
    return [
        Fact("reached", len(hit), sentence),
        Fact("reached_with_either", len(hit) + len(elitist), ""),
    ]


def _named(words: str, rows: Sequence[TableRow]) -> str:
    return f"{words} {', '.join(str(row['instance']) for row in rows)}" if rows else ""


def _cells(sample: Sample, prefix: str) -> dict[str, Cell]:
    return {
        f"{prefix}hits": sample.hits,
        f"{prefix}best_gap": sample.best_gap,
        f"{prefix}mean_gap": sample.mean_gap,
    }
