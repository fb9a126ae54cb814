"""Dantas and Cáceres 2014: parallel genetic algorithms for the multidimensional knapsack.

The paper's population of 4096 is on one or more islands, with and without migration. It has charts
only, no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean

from islands.problems.base import Problem
from islands.reproduce.cells import (
    Cell,
    Fact,
    Plot,
    TableRow,
    facts_of,
    mean,
    numbers,
    printed_rows,
    significance,
)
from islands.reproduce.dantas2014_islands import (
    ALL,
    INTERPRETATIONS,
    ONE,
    SEVERAL,
    DantasTable,
    Division,
    EqualTimeTable,
    SizeTimesTable,
)
from islands.reproduce.orlib import KINDS, all_names, kind
from islands.reproduce.table import ALL_CORES, Paper, PooledTable, average
from islands.tables import Column

_POOLED = ("last", "found", "deviation", "seconds")
"""Columns of single instances of which the means by kind are in files."""


@cache
def prototype() -> Mapping[str, Mapping[str, float]]:
    """Return the gaps of a plain sequential program by instance and division."""
    return {
        row["instance"]: {name: float(gap) for name, gap in row.items() if name != "instance"}
        for row in printed_rows("dantas2014-prototype")
    }


class GapsTable(DantasTable, PooledTable):
    """Charts 5 to 7: mean gaps of the best ever and of the last generation, by kind of problem."""

    name = "gaps"
    title = "charts 5 to 7: mean gaps of the best ever, in per cent"
    names = staticmethod(all_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the kind of a problem."""
        return kind(instance).name

    def columns(self) -> list[Column]:
        """Return the kind and the gaps of each division."""
        return [
            Column("kind", "m x n, tightness", 16, "<"),
            Column("m"),
            Column("n"),
            Column("tightness"),
            Column("series"),
            *(Column(each.name, each.words, 12, ".2f") for each in ALL),
            *(Column(f"{each.name}_{name}") for name in _POOLED for each in ALL),
            Column("generations"),
            Column("runs"),
        ]

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

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Summarise a kind."""
        of = next(each for each in KINDS if each.name == group)
        row: dict[str, Cell] = {
            "kind": group,
            "m": of.m,
            "n": of.n,
            "tightness": of.tightness,
            "series": f"n = {of.n}, {of.tightness}",
            "generations": self.experiment.generations,
            "runs": len(self.experiment.seeds(self.runs)),
        }
        for each in ALL:
            mine = [
                part
                for part in parts
                if (part["islands"], part["migration"]) == (each.count, each.migration)
            ]
            row |= {
                each.name: average(mine, "mean_gap"),
                **{f"{each.name}_{name}": average(mine, name) for name in _POOLED},
            }
        yield row

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return means by m, n and tightness, and the effect of islands."""
        return [
            *(fact for name in ("m", "n", "tightness") for fact in level_facts(rows, name)),
            *(fact for each in SEVERAL for fact in change_facts(rows, each.name, each.words)),
            found_fact(rows),
            *last_facts(rows),
        ]

    def plots(self) -> list[Plot]:
        """Return a plot of the gaps by m for each division."""
        return [
            Plot(
                f"mean gap, %, {each.sentence}",
                {each.name: each.words},
                f"-{each.name}",
                "series",
                logarithmic=False,
            )
            for each in ALL
        ]


def level_facts(rows: Sequence[TableRow], name: str) -> list[Fact]:
    """Return the mean gaps of each m, n or tightness, for each division."""
    facts = []
    for level in dict.fromkeys(row[name] for row in rows):
        mine = [row for row in rows if row[name] == level]
        gaps = {each: mean(mine, each.name) for each in ALL}
        shown = ";  ".join(f"{each.words} {gap:.2f}" for each, gap in gaps.items())
        named = {each.name: gap for each, gap in gaps.items()}
        sentence = f"{name} = {level}:".ljust(19) + shown
        facts += facts_of(f"mean_gap_{name}_{level}", named, sentence)
    return facts


def change_facts(rows: Sequence[TableRow], name: str, words: str) -> list[Fact]:
    """Return the difference of a division's gap from one island's, by m and n."""
    changes: dict[str, float] = {}
    for size in dict.fromkeys(f"{row['m']} x {row['n']}" for row in rows):
        mine = [row for row in rows if f"{row['m']} x {row['n']}" == size]
        changes[size] = mean(mine, name) - mean(mine, ONE.name)
    shown = ";  ".join(f"{size} {change:+.2f}" for size, change in changes.items())
    worse = sum(change > 0 for change in changes.values())
    sentence = f"{words} against 1 island, points of the gap:  {shown}"
    return [
        Fact(f"sizes_worse_{name}", worse, sentence),
        *facts_of(f"change_{name}", changes),
    ]


def found_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the mean generation of the best by n: late if runs have not converged."""
    sizes = dict.fromkeys(row["n"] for row in rows)
    parts = []
    for n in sizes:
        mine = [row for row in rows if row["n"] == n]
        found = ", ".join(f"{each.words} {mean(mine, each.name + '_found'):.0f}" for each in ALL)
        parts.append(f"n = {n}: {found}")
    ours = mean(rows, f"{ONE.name}_found")
    return Fact("found", ours, f"generation of the best, mean:  {';  '.join(parts)}")


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
    return facts_of("lost", {each.name: points for each, points in lost.items()}, sentence)


class PrototypeTable(DantasTable):
    """Mean gaps of the best ever on seven problems, and those of a plain sequential program."""

    name = "prototype"
    title = "gaps of the best ever and of a plain sequential program, in per cent"
    interpretations = (
        *INTERPRETATIONS,
        "the paper has charts only: a plain sequential program stands for its numbers",
    )
    names = staticmethod(prototype)

    def columns(self) -> list[Column]:
        """Return the gaps of each division, ours and the prototype's."""
        return [
            Column("instance", "instance", 17, "<"),
            Column("n"),
            Column("kind", "kind", 14, "<"),
            *(
                column
                for each in _divisions()
                for column in (
                    Column(each.name, each.words, 12, ".2f"),
                    Column(f"{each.name}_prototype", "its", 4, ".1f"),
                    Column(f"{each.name}_deviation"),
                )
            ),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division."""
        row: dict[str, Cell] = {
            "instance": problem.instance,
            "n": problem.size,
            "kind": kind(problem.instance).name,
            "generations": self.experiment.generations,
            "runs": len(self.experiment.seeds(self.runs)),
        }
        for each in _divisions():
            sample = self.sample(problem, **each.options())
            row |= {
                each.name: sample.mean_gap,
                f"{each.name}_prototype": prototype()[problem.instance][each.name],
                f"{each.name}_deviation": sample.deviation,
            }
        yield row

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the means, and whether the two programs differ."""
        facts = []
        for each in _divisions():
            ours, its = mean(rows, each.name), mean(rows, f"{each.name}_prototype")
            sentence = f"{each.words}: mean gap {ours:.2f} %, the prototype's {its:.2f} %"
            facts.append(Fact(f"mean_gap_{each.name}", ours, sentence))
        pairs = [
            pair
            for each in _divisions()
            for pair in numbers(rows, each.name, f"{each.name}_prototype")
        ]
        return [
            *facts,
            *significance("prototype", "all divisions, ours against the prototype's", pairs),
        ]


def _divisions() -> list[Division]:
    named = next(iter(prototype().values()))
    return [each for each in ALL if each.name in named]


PAPER = Paper(
    "Dantas and Cáceres 2014, parallel GAs for the knapsack (charts only, no numbers)",
    (GapsTable, PrototypeTable, EqualTimeTable, SizeTimesTable),
    threads=(1, ALL_CORES),
)
