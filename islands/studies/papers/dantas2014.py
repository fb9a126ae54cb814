"""Dantas and Cáceres 2014: parallel genetic algorithms for the multidimensional knapsack.

The paper's population of 4096 is on one or more islands, with and without migration. It has charts
only, no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean

from islands.problems.base import Problem
from islands.studies.papers.cells import (
    Cell,
    Fact,
    GapPlot,
    TableRow,
    figures,
    matching,
    mean,
    named,
    numbers,
    significance,
)
from islands.studies.papers.dantas2014_islands import (
    ALL,
    INTERPRETATIONS,
    ONE,
    SEVERAL,
    DantasTable,
    EqualTimeTable,
    SizeTimesTable,
)
from islands.studies.papers.orlib import KINDS, all_names, kind
from islands.studies.papers.table import ALL_CORES, Paper, PooledTable, average
from islands.tables import Column, Row

_POOLED = ("last", "found", "deviation", "seconds")
"""Columns of single instances of which the means by kind are in files."""


prototype = partial(figures, "dantas2014-prototype")
"""Return the gaps of a plain sequential program by instance, with a column for each division."""


class GapsTable(DantasTable, PooledTable):
    """Charts 5 to 7: mean gaps of the best ever and of the last generation, by kind of problem."""

    name = "gaps"
    title = "charts 5 to 7: mean gaps of the best ever, in per cent"
    names = staticmethod(all_names)

    shown = (
        Column("kind", "m x n, tightness", 16, "<"),
        *map(Column, ("m", "n", "tightness", "series")),
        *(Column(each.name, each.words, 12, ".2f") for each in ALL),
        *(Column(f"{each.name}_{name}") for name in _POOLED for each in ALL),
        *map(Column, ("generations", "runs")),
    )
    plots = tuple(
        GapPlot({each.name: each.words}, f"mean gap, %, {each.sentence}", f"-{each.name}", "series")
        for each in ALL
    )

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the kind of a problem."""
        return kind(instance).name

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division."""
        for each in ALL:
            sample = self.sample(problem, **each.options())
            yield {
                "instance": problem.instance,
                "islands": each.count,
                "migration": each.migration,
                "last": fmean(sample.last_gaps) if sample.last_gaps else None,
                "found": fmean(sample.best_generations),
                **sample.cells(self.seconds(sample)),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Summarise a kind."""
        of = next(each for each in KINDS if each.name == group)
        row: dict[str, Cell] = {
            "kind": group,
            "m": of.m,
            "n": of.n,
            "tightness": of.tightness,
            "series": f"n = {of.n}, {of.tightness}",
            "generations": self.made_generations,
            "runs": len(self.seeds),
        }
        for each in ALL:
            mine = matching(parts, islands=each.count, migration=each.migration)
            row |= {
                each.name: average(mine, "mean_gap"),
                **{f"{each.name}_{name}": average(mine, name) for name in _POOLED},
            }
        yield self.filled(**row)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return means by m, n and tightness, and the effect of islands."""
        return [
            *(fact for name in ("m", "n", "tightness") for fact in level_facts(rows, name)),
            *(change_fact(rows, each.name, each.words) for each in SEVERAL),
            found_fact(rows),
            *last_facts(rows),
        ]


def level_facts(rows: Sequence[TableRow], name: str) -> list[Fact]:
    """Return the mean gaps of each m, n or tightness, for each division."""
    facts = []
    for level in dict.fromkeys(row[name] for row in rows):
        gaps = {each: mean(matching(rows, **{name: level}), each.name) for each in ALL}
        shown = ";  ".join(f"{each.words} {gap:.2f}" for each, gap in gaps.items())
        values = {each.name: gap for each, gap in gaps.items()}
        sentence = f"{name} = {level}:".ljust(19) + shown
        facts.append(Fact(sentence, named(f"mean_gap_{name}_{level}", values)))
    return facts


def change_fact(rows: Sequence[TableRow], name: str, words: str) -> Fact:
    """Return the difference of a division's gap from one island's, by m and n."""
    changes: dict[str, float] = {}
    for m, n in dict.fromkeys((row["m"], row["n"]) for row in rows):
        mine = matching(rows, m=m, n=n)
        changes[f"{m} x {n}"] = mean(mine, name) - mean(mine, ONE.name)
    shown = ";  ".join(f"{size} {change:+.2f}" for size, change in changes.items())
    worse = sum(change > 0 for change in changes.values())
    return Fact(
        f"{words} against 1 island, points of the gap:  {shown}",
        {f"sizes_worse_{name}": worse, **named(f"change_{name}", changes)},
    )


def found_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the mean generation of the best by n: late if runs have not converged."""
    sizes = dict.fromkeys(row["n"] for row in rows)
    parts = []
    for n in sizes:
        mine = matching(rows, n=n)
        found = ", ".join(f"{each.words} {mean(mine, each.name + '_found'):.0f}" for each in ALL)
        parts.append(f"n = {n}: {found}")
    ours = mean(rows, f"{ONE.name}_found")
    return Fact(f"generation of the best, mean:  {';  '.join(parts)}", {"found": ours})


def last_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the difference between the last generation's best and the best ever."""
    lost = {
        each: mean(rows, f"{each.name}_last") - mean(rows, each.name)
        for each in ALL
        if any(row[f"{each.name}_last"] is not None for row in rows)
    }
    if not lost:
        return []
    shown = ", ".join(f"{each.words} {points:.2f}" for each, points in lost.items())
    sentence = f"the best of the last generation is worse than the best ever by, points:  {shown}"
    values = {each.name: points for each, points in lost.items()}
    return [Fact(sentence, named("lost", values))]


_DIVISIONS = [each for each in ALL if each.name in next(iter(prototype().values()))]


class PrototypeTable(DantasTable):
    """Mean gaps of the best ever on seven problems, and those of a plain sequential program."""

    name = "prototype"
    title = "gaps of the best ever and of a plain sequential program, in per cent"
    interpretations = (
        *INTERPRETATIONS,
        "the paper has charts only: a plain sequential program stands for its numbers",
    )
    names = staticmethod(prototype)
    shown = (
        Column("instance", "instance", 17, "<"),
        Column("n"),
        Column("kind", "kind", 14, "<"),
        *(
            column
            for each in _DIVISIONS
            for column in (
                Column(each.name, each.words, 12, ".2f"),
                Column(f"{each.name}_prototype", "its", 4, ".1f"),
                Column(f"{each.name}_deviation"),
            )
        ),
        *map(Column, ("generations", "runs")),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance in each division."""
        row: dict[str, Cell] = {
            "instance": problem.instance,
            "n": problem.size,
            "kind": kind(problem.instance).name,
            "generations": self.made_generations,
            "runs": len(self.seeds),
        }
        for each in _DIVISIONS:
            sample = self.sample(problem, **each.options())
            row |= {
                each.name: sample.mean_gap,
                f"{each.name}_prototype": prototype()[problem.instance][each.name],
                f"{each.name}_deviation": sample.deviation,
            }
        yield self.filled(**row)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the means, and whether the two programs differ."""
        facts, pairs = [], list[tuple[float, ...]]()
        for each in _DIVISIONS:
            ours, its = mean(rows, each.name), mean(rows, f"{each.name}_prototype")
            sentence = f"{each.words}: mean gap {ours:.2f} %, the prototype's {its:.2f} %"
            facts.append(Fact(sentence, {f"mean_gap_{each.name}": ours}))
            pairs += numbers(rows, each.name, f"{each.name}_prototype")
        words = "all divisions, ours against the prototype's"
        return [*facts, *significance("prototype", words, pairs)]


PAPER = Paper(
    "Dantas and Cáceres 2014, parallel GAs for the knapsack (charts only, no numbers)",
    (GapsTable, PrototypeTable, EqualTimeTable, SizeTimesTable),
    threads=(1, ALL_CORES),
)
