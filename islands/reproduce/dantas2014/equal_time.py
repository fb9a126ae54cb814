"""One island or more at equal evaluations, at equal time, and on as many processors as islands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.reproduce.cells import Column, Fact, Plot, Row, mean
from islands.reproduce.dantas2014.divisions import ONE, RUNS, Division, divided
from islands.reproduce.dantas2014.first_problems import FirstProblems
from islands.reproduce.orlib import kind
from islands.reproduce.pooled import average, total
from islands.reproduce.runs import Sample
from islands.reproduce.timing import scaled_facts

_DIVIDED = divided(2, 8, 32, 64)
_COMPARED = (ONE, *_DIVIDED)
_WAYS = {
    "evaluations": "with the evaluations of the paper",
    "time": "in the time of 1 island here",
    "processors": "in the time of 1 island on as many processors as islands",
}


class EqualTime(FirstProblems):
    """Mean gaps of the best ever by size, with three measures of what is equal.

    On the paper's cluster each island has a processor of its own, so that in the time of one
    island, P of them pass P times as many generations.
    """

    name: ClassVar[str] = "islands"
    title: ClassVar[str] = "1 to 64 islands: mean gaps of the best ever, in per cent"
    runs: ClassVar[int] = RUNS

    def columns(self) -> list[Column]:
        """Return the gap of each way, and what it changes against one island."""
        return [
            Column("size", "m x n", 8),
            Column("n"),
            Column("m"),
            Column("division", "islands", 12),
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
        """Return what is kept of each instance."""
        names = ["instance", "division", *_WAYS, *(f"{way}_generations" for way in _WAYS)]
        return [Column(name) for name in (*names, "seconds", "runs")]

    def instance_rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance in each division, up to three times."""
        yardstick = self.sample(problem, is_warm=True, **ONE.options())
        for each in _COMPARED:
            equal = yardstick if each == ONE else self.sample(problem, **each.options())
            passed = self.experiment.generations
            in_time = max(1, round(passed * yardstick.seconds / equal.seconds))
            samples = {
                "evaluations": equal,
                "time": self._longer(problem, each, equal, in_time),
                "processors": self._longer(problem, each, equal, passed * each.count),
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
        """Return runs that pass so many generations."""
        if division == ONE or generations == equal.generations:
            return equal
        stop: dict[str, Any] = {"stop": [f"generations={generations}"]}
        return self.sample(problem, **division.options(), **stop)

    def pooled(self, group: str, parts: Sequence[Row]) -> Iterator[Row]:
        """Sum a size up for each division."""
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

    def facts(self, rows: Sequence[Row]) -> list[Fact]:
        """Return on how many sizes each division is worse than one island, and by how much."""
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
        """Return the gaps by n at equal evaluations and on as many processors."""
        return [
            Plot(
                f"mean gap, %, {_WAYS[way]}", {way: "gap"}, f"-{way}", "division", logarithmic=False
            )
            for way in _WAYS
        ]
