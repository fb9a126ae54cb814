"""Our gaps and those of a plain sequential program, as the paper has no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, TableRow, mean, numbers, read_printed
from islands.reproduce.dantas2014.divisions import (
    ALL,
    GENERATIONS,
    INTERPRETATIONS,
    PRESET,
    RUNS,
    Division,
)
from islands.reproduce.orlib import kind
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column


@cache
def prototype() -> Mapping[str, Mapping[str, float]]:
    """Return the prototype's gaps by instance and division."""
    rows = read_printed(Path(__file__).with_name("prototype.csv"))
    return {
        row["instance"]: {name: float(gap) for name, gap in row.items() if name != "instance"}
        for row in rows
    }


class PrototypeTable(SampleTable):
    """Mean gaps of the best ever on seven problems, and those of a second program."""

    name: ClassVar[str] = "prototype"
    title: ClassVar[str] = "gaps of the best ever and of a plain sequential program, in per cent"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the paper has charts only: a plain sequential program stands for its numbers",
    )
    preset: ClassVar[str] = PRESET
    generations: ClassVar[int] = GENERATIONS
    runs: ClassVar[int] = RUNS

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances that the prototype ran."""
        return [named(name, index) for name in prototype()]

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
            *scaled_facts(rows, self.experiment),
        ]


def _divisions() -> list[Division]:
    named = next(iter(prototype().values()))
    return [each for each in ALL if each.name in named]
