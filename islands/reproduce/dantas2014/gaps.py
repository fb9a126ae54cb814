"""Charts 5 to 7: gaps by the number of constraints, on one or more islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import ClassVar

from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, Plot, TableRow, mean
from islands.reproduce.dantas2014.divisions import (
    ALL,
    GENERATIONS,
    INTERPRETATIONS,
    ONE,
    PRESET,
    RUNS,
    SEVERAL,
)
from islands.reproduce.orlib import KINDS, all_names, kind
from islands.reproduce.pooled import PooledTable, average, sample_cells, sample_columns
from islands.reproduce.timing import scaled_facts
from islands.tables import Column


class GapsTable(PooledTable):
    """Mean gaps of the best ever and of the last generation, by kind of problem."""

    name: ClassVar[str] = "gaps"
    title: ClassVar[str] = "charts 5 to 7: mean gaps of the best ever, in per cent"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    preset: ClassVar[str] = PRESET
    generations: ClassVar[int] = GENERATIONS
    runs: ClassVar[int] = RUNS

    @classmethod
    def names(cls) -> list[str]:
        """Return all problems of the OR-Library."""
        return all_names()

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
            *(Column(f"{each.name}_last") for each in ALL),
            *(Column(f"{each.name}_found") for each in ALL),
            *(Column(f"{each.name}_deviation") for each in ALL),
            *(Column(f"{each.name}_seconds") for each in ALL),
            Column("generations"),
            Column("runs"),
        ]

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        names = ("instance", "islands", "migration", "last", "found")
        return [*(Column(name) for name in names), *sample_columns()]

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
                **sample_cells(sample, self.seconds(sample)),
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
                f"{each.name}_last": average(mine, "last"),
                f"{each.name}_found": average(mine, "found"),
                f"{each.name}_deviation": average(mine, "deviation"),
                f"{each.name}_seconds": average(mine, "seconds"),
            }
        yield row

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return means by m, n and tightness, and the effect of islands."""
        return [
            *(fact for name in ("m", "n", "tightness") for fact in level_facts(rows, name)),
            *(fact for each in SEVERAL for fact in change_facts(rows, each.name, each.words)),
            found_fact(rows),
            *last_facts(rows),
            *scaled_facts(rows, self.experiment),
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
        first, *others = (
            Fact(f"mean_gap_{name}_{level}_{each.name}", gap, "") for each, gap in gaps.items()
        )
        sentence = f"{name} = {level}:".ljust(19) + shown
        facts += [Fact(first.name, first.value, sentence), *others]
    return facts


def change_facts(rows: Sequence[TableRow], name: str, words: str) -> list[Fact]:
    """Return the difference of a division's gap from one island's, by m and n."""
    changes: dict[str, float] = {}
    for size in dict.fromkeys(f"{row['m']} x {row['n']}" for row in rows):
        mine = [row for row in rows if f"{row['m']} x {row['n']}" == size]
        changes[size] = mean(mine, name) - mean(mine, ONE.name)
    shown = ";  ".join(f"{size} {change:+.2f}" for size, change in changes.items())
    worse = sum(change > 0 for change in changes.values())
    facts = [Fact(f"change_{name}_{size}", change, "") for size, change in changes.items()]
    sentence = f"{words} against 1 island, points of the gap:  {shown}"
    return [Fact(f"sizes_worse_{name}", worse, sentence), *facts]


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
    first, *others = (Fact(f"lost_{each.name}", points, "") for each, points in lost.items())
    sentence = f"the best of the last generation is worse than the best ever by, points:  {shown}"
    return [Fact(first.name, first.value, sentence), *others]
