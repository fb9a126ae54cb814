"""One or more islands with equal evaluations, equal time, and one processor per island."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.reproduce.cells import Fact, Plot, TableRow, mean
from islands.reproduce.dantas2014.divisions import (
    INTERPRETATIONS,
    ONE,
    RUNS,
    Division,
    SizeTable,
    divided,
)
from islands.reproduce.orlib import kind
from islands.reproduce.pooled import average, total
from islands.reproduce.runs import Sample
from islands.reproduce.timing import scaled_facts
from islands.tables import Column

_DIVIDED = divided(2, 8, 32, 64)
_COMPARED = (ONE, *_DIVIDED)
_WAYS = {
    "evaluations": "with the evaluations of the paper",
    "time": "in the time of 1 island here",
    "processors": "in the time of 1 island with a processor per island",
}


class EqualTimeTable(SizeTable):
    """Mean gaps of the best ever by size, with three definitions of equal effort.

    On the paper's cluster each island has its own processor: in the time of one island, P islands
    compute P times the generations.
    """

    name: ClassVar[str] = "islands"
    title: ClassVar[str] = "1 to 64 islands: mean gaps of the best ever, in per cent"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    runs: ClassVar[int] = RUNS

    def columns(self) -> list[Column]:
        """Return the gap for each definition, and its difference from one island."""
        return [
            Column("size", "m x n", 8, "<"),
            Column("n"),
            Column("m"),
            Column("division", "islands", 12, "<"),
            Column("islands"),
            Column("migration"),
            Column("evaluations", "equal evaluations", 17, ".2f"),
            Column("evaluations_generations"),
            Column("evaluations_change", "change", 6, "+.2f"),
            Column("time", "equal time", 10, ".2f"),
            Column("time_change", "change", 6, "+.2f"),
            Column("time_generations", "generations", 11, ".0f"),
            Column("processors", "P processors", 12, ".2f"),
            Column("processors_change", "change", 6, "+.2f"),
            Column("processors_generations", "generations", 11, ".0f"),
            Column("seconds"),
            Column("runs"),
        ]

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        names = ["instance", "division", *_WAYS, *(f"{way}_generations" for way in _WAYS)]
        return [Column(name) for name in (*names, "seconds", "runs")]

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division, up to three times."""
        one_island = self.sample(problem, is_warm=True, **ONE.options())
        for each in _COMPARED:
            equal = one_island if each == ONE else self.sample(problem, **each.options())
            generations = self.experiment.generations
            in_time = max(1, round(generations * one_island.seconds / equal.seconds))
            samples = {
                "evaluations": equal,
                "time": self._longer(problem, each, equal, in_time),
                "processors": self._longer(problem, each, equal, generations * each.count),
            }
            yield {
                "instance": problem.instance,
                "division": each.words,
                **{way: sample.mean_gap for way, sample in samples.items()},
                **{f"{way}_generations": sample.generations for way, sample in samples.items()},
                "seconds": equal.seconds,
                "runs": len(equal.costs),
            }

    def _longer(
        self, problem: Problem, division: Division, equal: Sample, generations: int
    ) -> Sample:
        """Return a sample of runs with the given generations."""
        if division == ONE or generations == equal.generations:
            return equal
        stop: dict[str, Any] = {"stop": [f"generations={generations}"]}
        return self.sample(problem, **division.options(), **stop)

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Summarise a size for each division."""
        of = kind(str(parts[0]["instance"]))
        ones = [row for row in parts if row["division"] == ONE.words]
        for each in _COMPARED:
            mine = [row for row in parts if row["division"] == each.words]
            changes = {
                f"{way}_change": mean(mine, way) - mean(ones, way) if each != ONE else None
                for way in _WAYS
            }
            generations = (f"{way}_generations" for way in _WAYS)
            yield {
                "size": group,
                "n": of.n,
                "m": of.m,
                "division": each.words,
                "islands": each.count,
                "migration": each.migration,
                **{way: average(mine, way) for way in _WAYS},
                **changes,
                **{name: average(mine, name) for name in generations},
                "seconds": average(mine, "seconds"),
                "runs": total(mine, "runs"),
            }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return how often and by how much each division differs from one island."""
        facts = []
        for way, words in _WAYS.items():
            for each in _DIVIDED:
                mine = [row for row in rows if row["division"] == each.words]
                change = mean(mine, f"{way}_change")
                worse = [str(row["size"]) for row in mine if mean([row], f"{way}_change") > 0]
                where = f" ({', '.join(worse)})" if worse else ""
                sentence = (
                    f"{words}, {each.words}: {change:+.2f} points against 1 island; worse on"
                    f" {len(worse)} of {len(mine)} sizes{where}"
                )
                facts.append(Fact(f"change_{way}_{each.name}", change, sentence))
        return [*facts, *scaled_facts(rows, self.experiment)]

    def plots(self) -> list[Plot]:
        """Return the gaps by size for each definition of equal effort."""
        return [
            Plot(
                f"mean gap, %, {_WAYS[way]}",
                {way: "gap"},
                f"-{way}",
                "division",
                logarithmic=False,
                classes="size",
            )
            for way in _WAYS
        ]
