"""Table 4: differential evolution with each of the three local searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import (
    ASSIGNMENT,
    Fact,
    Plot,
    TableRow,
    mean,
    mean_in_words,
    mean_ratio,
    numbers,
)
from islands.reproduce.jardim2021.figures import (
    INTERPRETATIONS,
    SEARCH_GAPS,
    SEARCH_INTERPRETATIONS,
    SEARCHES,
    searches,
)
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column


class LocalSearchesTable(SampleTable):
    """Our gaps, seconds and calls of the objective, and those of the thesis' experiment B.

    Its text states that local search improved every trial; its numbers of calls show a fifth.
    """

    name: ClassVar[str] = "local-searches"
    title: ClassVar[str] = "table 4: local searches"
    interpretations: ClassVar[tuple[str, ...]] = SEARCH_INTERPRETATIONS
    preset: ClassVar[str] = "jardim2021-b"
    generations: ClassVar[int] = 1000
    options: ClassVar[dict[str, Any]] = {}
    """Options of the runs besides the preset and the local search."""

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the table."""
        return [named(name, index) for name in searches()]

    def columns(self) -> list[Column]:
        """Return gaps, seconds and thousands of calls: ours and the thesis'."""
        return [
            *ASSIGNMENT,
            Column("search", "search", 8, "<"),
            Column("gap", "gap %", 6, ".2f"),
            Column("deviation", "st.dev.", 7, ".2f"),
            Column("thesis_gap", "2021 %", 6, ".2f"),
            Column("seconds", "s/run", 9, ".4f"),
            Column("thesis_seconds", "2021 s", 7, ".2f"),
            Column("speedup", "2021/ours", 9, ".0f"),
            Column("calls", "kcalls", 8, ".0f"),
            Column("thesis_calls", "2021", 8, ".0f"),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with each local search."""
        for search, thesis in searches()[problem.instance].items():
            sample = self.sample(problem, improver=search, **self.options)
            ours = self.seconds(sample)
            yield {
                "instance": problem.instance,
                "n": problem.size,
                "search": search,
                "gap": sample.mean_gap,
                "deviation": sample.deviation,
                "thesis_gap": thesis.gap,
                "seconds": ours,
                "thesis_seconds": thesis.seconds,
                "speedup": thesis.seconds / ours,
                "calls": sample.mean_evaluations / 1e3,
                "thesis_calls": thesis.calls,
                "generations": sample.generations,
                "runs": len(sample.costs),
            }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the means of each local search, and the smallest ratio of times."""
        ratios = [ratio for (ratio,) in numbers(rows, "speedup")]
        least = f"seconds of the thesis over ours: at least {min(ratios):.0f}"
        return [
            *(fact for search in SEARCHES for fact in _facts_of(search, rows)),
            Fact("least_speedup", min(ratios), least),
            *scaled_facts(rows, self.experiment),
        ]

    def plots(self) -> list[Plot]:
        """Return the seconds and the gaps of each local search."""
        ours = f"ours, {self.experiment.device}"
        seconds = {"seconds": ours, "thesis_seconds": "2021, RTX 2060"}
        gaps = {"gap": "ours", "thesis_gap": "2021"}
        return [
            Plot("seconds per run", seconds, by="search"),
            Plot("mean gap, %", gaps, "-gap", by="search", logarithmic=False),
        ]


class LocalSearchesAlwaysTable(LocalSearchesTable):
    """The same table with local search on every trial, as in the thesis' text."""

    name: ClassVar[str] = "local-searches-always"
    title: ClassVar[str] = "table 4, but with local search on every trial (the thesis: on a fifth)"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "how moves count is not stated: each difference of costs counts as an evaluation",
    )
    options: ClassVar[dict[str, Any]] = {"improver.rate": 1.0}
    is_extra: ClassVar[bool] = True


def _facts_of(search: str, rows: Sequence[TableRow]) -> list[Fact]:
    mine = [row for row in rows if row["search"] == search]
    gap, thesis = mean(mine, "gap"), mean(mine, "thesis_gap")
    calls = mean_ratio(mine, "calls", "thesis_calls")
    is_whole = len(mine) == len(searches())
    theirs = mean_in_words(thesis, SEARCH_GAPS[search], ".2f", is_whole=is_whole)
    return [
        Fact(
            f"mean_gap_{search}",
            gap,
            f"{search}: mean gap {gap:.2f} %, of the thesis' rows {theirs} %; mean ratio of our"
            f" calls to the thesis' {calls:.2f}",
        ),
        Fact(f"mean_gap_thesis_{search}", thesis, ""),
        *significance(
            search, f"{search}: gaps, ours against 2021", numbers(mine, "gap", "thesis_gap")
        ),
        Fact(f"mean_calls_ratio_{search}", calls, ""),
    ]
