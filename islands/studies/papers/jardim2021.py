"""Jardim 2021: differential evolution on a GPU for the quadratic assignment problem.

The printed figures are means of ten runs on an RTX 2060 and a Ryzen 5 3600X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import sqrt
from statistics import fmean
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.studies.papers.cells import (
    ASSIGNMENT,
    Fact,
    GapPlot,
    Plot,
    TableRow,
    figures,
    matching,
    mean,
    mean_in_words,
    mean_ratio,
    named,
    numbers,
    significance,
)
from islands.studies.papers.table import ALL_CORES, Paper, SampleTable
from islands.studies.papers.timing import CPU
from islands.tables import Column, Row
from islands.text import counted

_MOVES_COUNT = "how moves count is not stated: each difference of costs counts as an evaluation"
INTERPRETATIONS = (
    "the printed repair of equal keys does not work; here equal keys keep their order",
    "the thesis does not say how flows are indexed; here the first matrix is indexed by pairs of"
    " facilities, the second by their locations",
)
"""What was chosen where the thesis is silent or unclear."""
SEARCH_INTERPRETATIONS = (
    *INTERPRETATIONS,
    "the text says that every trial is improved, the printed evaluations imply a fifth; here a"
    " fifth is improved",
    _MOVES_COUNT,
)
"""The same for the experiments with local search."""

IMPLEMENTATIONS = {
    "GPU": "one block",
    "GPU-P": "objective in n² blocks",
    "CPU": "CPU threads",
}
"""The three implementations of the thesis."""
SEARCHES = ("swap", "two_opt", "reinsert")
"""The thesis' local searches by our names."""
IMPLEMENTATION_GAPS = {"GPU": 10.97, "GPU-P": 10.85, "CPU": 10.59}
"""Printed mean gaps of table 3; the first is truncated."""
SEARCH_GAPS = {"swap": 8.38, "two_opt": 7.93, "reinsert": 9.07}
"""Printed mean gaps of table 4; that of `two_opt` is truncated."""
LITERATURE_GAPS = {"mean_gap": 4.69, "best_gap": 3.37}
"""Printed averages of the gaps of table 5."""

LARGE = 128
"""Size of an instance from which the target speed-up is larger."""
_NOISE = 2.0
"""Standard errors of the difference of two means that count as noise."""
_RUNS = 10
"""Runs of the thesis; it prints no deviations, so ours are used."""


implementations = partial(figures, "jardim2021-implementations", "implementation")
"""Return table 3, without local search, by instance and implementation: the gap, the seconds, and
the rate, thousands of calls of the objective per second."""
searches = partial(figures, "jardim2021-local-searches", "search")
"""Return table 4 by instance and local search; calls are in thousands."""
literature = partial(figures, "jardim2021-literature")
"""Return table 5 by instance; calls are in millions, `best_calls` the fewest."""


def wanted(n: int) -> int:
    """Return the target speed-up over the thesis' fastest implementation."""
    return 300 if n >= LARGE else 100


def _with_thesis(quantity: str) -> dict[str, str]:
    """Return the curves of our results and of those of each implementation."""
    thesis = {f"{each}_{quantity}": f"2021, {IMPLEMENTATIONS[each]}" for each in IMPLEMENTATIONS}
    return {quantity: "ours, {device}"} | thesis


class ImplementationsTable(SampleTable):
    """Table 3: our gaps and seconds, and those of the thesis' experiment A."""

    name = "implementations"
    title = "table 3: implementations, without local search"
    interpretations = (
        *INTERPRETATIONS,
        "the thesis has three programs: ours is compared with each of them. A block for each pair"
        " of facilities, GPU-P, is not included, as it changes only the time",
    )
    is_timed = True
    preset = "jardim2021-a"
    generations = 1000
    names = staticmethod(implementations)

    shown = (
        *ASSIGNMENT,
        Column("gap", "gap %", 6, ".2f"),
        Column("deviation", "st.dev.", 7, ".2f"),
        *(Column(f"{each}_gap", f"{each} %", 7, ".2f") for each in IMPLEMENTATIONS),
        Column("seconds", "s/run", 9, ".4f"),
        Column("alone_seconds", "s alone", 9, ".4f"),
        *(Column(f"{each}_seconds", f"{each} s", 7, ".2f") for each in IMPLEMENTATIONS),
        Column("speedup", "fastest/ours", 12, ".0f"),
        Column("wanted", "wanted", 6, "d"),
        CPU,
        *map(Column, ("evaluations", "rate")),
        *(Column(f"{each}_rate") for each in IMPLEMENTATIONS),
        *map(Column, ("generations", "runs")),
    )
    plots = (
        Plot(_with_thesis("seconds"), with_times=True),
        GapPlot(_with_thesis("gap")),
        Plot(_with_thesis("rate"), "thousands of calls per second", "-rate"),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance: all runs in one batch, and one run alone for its time."""
        thesis, sample = implementations()[problem.instance], self.sample(problem)
        fastest = min(each["seconds"] for each in thesis.values())
        theirs = {
            f"{each}_{figure}": cell for each, row in thesis.items() for figure, cell in row.items()
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
        return [*gap_facts(rows), ratio_fact(rows), *self.speedup_facts(rows)]


def gap_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the mean gaps, and how many of ours are at most the thesis' least."""
    means = {each: mean(rows, f"{each}_gap") for each in IMPLEMENTATIONS}
    is_whole = len(rows) == len(implementations())
    theirs = ", ".join(
        f"{each} {mean_in_words(value, IMPLEMENTATION_GAPS[each], is_whole=is_whole)}"
        for each, value in means.items()
    )
    ours = mean(rows, "gap")
    at_most, good = (sum(_is_as_good(row, noise) for row in rows) for noise in (0.0, _NOISE))
    tests = [
        significance(
            f"gap_{each}", f"gaps, ours against {each}", numbers(rows, "gap", f"{each}_gap")
        )
        for each in IMPLEMENTATIONS
    ]
    return [
        Fact(
            f"mean gaps: ours {ours:.2f} %; of the thesis' rows {theirs}",
            {"mean_gap": ours, **named("mean_gap", means)},
        ),
        *(fact for facts in tests for fact in facts),
        Fact(
            f"our mean gap is at most the least of the three on {at_most} of"
            f" {counted(len(rows), 'instance')},"
            f" or within {_NOISE:g} standard errors above it on {good}",
            {"as_good": good, "at_most_the_least": at_most},
        ),
    ]


def ratio_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the smallest ratio of times, and how many reach the target."""
    least = min(rows, key=lambda row: numbers([row], "speedup"))
    ((speedup,),) = numbers([least], "speedup")
    enough = sum(ratio >= goal for ratio, goal in numbers(rows, "speedup", "wanted"))
    return Fact(
        f"seconds of the thesis' fastest over ours: at least {speedup:.0f} (on"
        f" {least['instance']}); the target, {wanted(0)} and from n = {LARGE} {wanted(LARGE)},"
        f" is reached on {enough} of {counted(len(rows), 'instance')}",
        {"least_speedup": speedup, "as_fast_as_wanted": enough},
    )


def _is_as_good(row: TableRow, noise: float) -> bool:
    """Return whether our mean gap is at most the least plus `noise` standard errors."""
    (thesis,) = numbers([row], *(f"{each}_gap" for each in IMPLEMENTATIONS))
    errors = [sd * sqrt(1 / runs + 1 / _RUNS) for sd, runs in numbers([row], "deviation", "runs")]
    return any(gap <= min(thesis) + noise * sum(errors) for (gap,) in numbers([row], "gap"))


class LocalSearchesTable(SampleTable):
    """Table 4: differential evolution with each of the three local searches (experiment B).

    Its text states that local search improved every trial; its numbers of calls show a fifth.
    """

    name = "local-searches"
    title = "table 4: local searches"
    interpretations: ClassVar[tuple[str, ...]] = SEARCH_INTERPRETATIONS
    preset = "jardim2021-b"
    generations = 1000
    names = staticmethod(searches)
    options: ClassVar[dict[str, Any]] = {}
    """Options of the runs besides the preset and the local search."""

    shown = (
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
    )
    plots = (
        Plot({"seconds": "ours, {device}", "thesis_seconds": "2021, RTX 2060"}, by="search"),
        GapPlot({"gap": "ours", "thesis_gap": "2021"}, by="search"),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with each local search."""
        for search, thesis in searches()[problem.instance].items():
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
        least = min(ratio for (ratio,) in numbers(rows, "speedup"))
        sentence = f"seconds of the thesis over ours: at least {least:.0f}"
        return [
            *(fact for search in SEARCHES for fact in _facts_of(search, rows)),
            Fact(sentence, {"least_speedup": least}),
        ]


class LocalSearchesAlwaysTable(LocalSearchesTable):
    """The same table with local search on every trial, as in the thesis' text."""

    name = "local-searches-always"
    title = "table 4, but with local search on every trial (the thesis: on a fifth)"
    interpretations = (*INTERPRETATIONS, _MOVES_COUNT)
    options: ClassVar[dict[str, Any]] = {"improver.rate": 1.0}
    is_extra = True


def _facts_of(search: str, rows: Sequence[TableRow]) -> list[Fact]:
    mine = matching(rows, search=search)
    gap, thesis = mean(mine, "gap"), mean(mine, "thesis_gap")
    calls = mean_ratio(mine, "calls", "thesis_calls")
    is_whole = len(mine) == len(searches())
    theirs = mean_in_words(thesis, SEARCH_GAPS[search], is_whole=is_whole)
    sentence = (
        f"{search}: mean gap {gap:.2f} %, of the thesis' rows {theirs} %; mean ratio of our"
        f" calls to the thesis' {calls:.2f}"
    )
    values = {f"mean_gap_{search}": gap, f"mean_gap_thesis_{search}": thesis}
    pairs = numbers(mine, "gap", "thesis_gap")
    return [
        Fact(sentence, {**values, f"mean_calls_ratio_{search}": calls}),
        *significance(search, f"{search}: gaps, ours against 2021", pairs),
    ]


class LiteratureTable(SampleTable):
    """Table 5: our best and mean costs with 2-opt, and those of the thesis' experiment C."""

    name = "literature"
    title = "table 5: best and mean costs against the literature"
    interpretations = SEARCH_INTERPRETATIONS
    preset = "jardim2021-c"
    generations = 15_000
    names = staticmethod(literature)

    shown = (
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
        *map(Column, ("fewest_calls", "thesis_fewest_calls")),
        Column("seconds", "s/run", 9, ".3f"),
        *map(Column, ("generations", "runs")),
    )
    plots = (
        GapPlot(
            {
                "mean_gap": "ours, mean",
                "thesis_mean_gap": "2021, mean",
                "best_gap": "ours, best",
                "thesis_best_gap": "2021, best",
            },
            "gap, %",
        ),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance."""
        sample, thesis = self.sample(problem), literature()[problem.instance]
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
        """Return the average gaps, and on how many instances ours is at most the thesis'."""
        gaps = numbers(rows, "mean_gap", "thesis_mean_gap")
        as_good = sum(ours <= thesis for ours, thesis in gaps)
        reached = sum(hits > 0 for (hits,) in numbers(rows, "hits"))
        theirs = sum(gap == 0 for (gap,) in numbers(rows, "thesis_best_gap"))
        return [
            _average(rows, "mean_gap", "mean"),
            _average(rows, "best_gap", "best"),
            Fact(
                f"our mean is at most the thesis' on {as_good} of {counted(len(rows), 'instance')}",
                {"as_good": as_good},
            ),
            Fact(
                f"the best known value was reached on {counted(reached, 'instance')}, in 2021"
                f" on {theirs}",
                {"reached": reached},
            ),
            *significance("mean_gap", "mean gaps, ours against 2021", gaps),
        ]


def _average(rows: Sequence[TableRow], column: str, word: str) -> Fact:
    """Return the averages of our column and of the thesis' column."""
    ours, thesis = mean(rows, column), mean(rows, f"thesis_{column}")
    is_whole = len(rows) == len(literature())
    theirs = mean_in_words(thesis, LITERATURE_GAPS[column], is_whole=is_whole)
    sentence = f"average gap of the {word}: ours {ours:.2f} %, of the thesis' rows {theirs} %"
    return Fact(sentence, {f"average_{column}": ours, f"average_thesis_{column}": thesis})


PAPER = Paper(
    "Jardim 2021, differential evolution for the QAP (bachelor's thesis, UFOP)",
    (ImplementationsTable, LocalSearchesTable, LiteratureTable, LocalSearchesAlwaysTable),
    threads=(1, ALL_CORES),
    printed={"table3": "implementations", "table4": "local-searches", "table5": "literature"},
)
