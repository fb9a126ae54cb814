"""The population of Dantas and Cáceres 2014 on one or more islands, and their tables by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.studies.papers.cells import (
    Fact,
    GapPlot,
    Plot,
    TableRow,
    matching,
    mean,
    named,
)
from islands.studies.papers.orlib import first_names, kind
from islands.studies.papers.sample import Sample
from islands.studies.papers.table import PooledTable, SampleTable, average, total
from islands.studies.papers.timing import CPU
from islands.tables import Column, Row

INTERPRETATIONS = (
    "migration is described twice: ring is that of the text, broadcast that of Algorithm 2",
    "the paper does not say whether 4096 is per process or in total; here it is the total",
    "the probability of a mutation is not stated: one flip in each child",
    "the number of runs is not stated: ten of each problem, three of those that are timed",
)
"""What was chosen where the paper is silent."""

POPULATION = 4096
COUNTS = (2, 8, 32, 64)
"""The paper's numbers of processes."""
_WAYS = {
    "evaluations": "with the evaluations of the paper",
    "time": "in the time of 1 island here",
    "processors": "in the time of 1 island with a processor per island",
}
"""Definitions of equal effort."""


@dataclass(frozen=True)
class Division:
    """The population divided among `count` islands, with a migration topology."""

    count: int
    migration: str

    @property
    def name(self) -> str:
        """The name of its columns in files."""
        return f"{self.count}_{self.migration}" if self.count > 1 else "1"

    @property
    def words(self) -> str:
        """The displayed name."""
        return f"{self.count} {self.migration}" if self.count > 1 else "1 island"

    @property
    def sentence(self) -> str:
        """The name in a text that does not say that islands are counted."""
        migration = "no migration" if self.migration == "none" else f"migration {self.migration}"
        return f"{self.count} islands, {migration}" if self.count > 1 else self.words

    def options(self) -> dict[str, Any]:
        """Return the options that change the preset to this division."""
        return {
            "islands": self.count,
            "population": POPULATION // self.count,
            "migration": self.migration,
        }


ONE = Division(1, "none")
"""The paper's sequential program."""


def divided(*counts: int) -> tuple[Division, ...]:
    """Return the divisions into each number of islands, with each topology."""
    ways = ("none", "ring", "broadcast")
    return tuple(Division(count, migration) for count in counts for migration in ways)


SEVERAL = divided(8, 64)
ALL = (ONE, *SEVERAL)
_DIVIDED = divided(*COUNTS)
_COMPARED = (ONE, *_DIVIDED)


class DantasTable(SampleTable):
    """What all tables have."""

    preset = "dantas2014-cuda"
    generations = 50
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS


class SizeTable(DantasTable, PooledTable):
    """A table of the first problem of each kind, with one or more rows per size."""

    names = staticmethod(first_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the size of a problem."""
        return kind(instance).size


class EqualTimeTable(SizeTable):
    """Mean gaps of the best ever by size, with three definitions of equal effort.

    On the paper's cluster each island has its own processor: in the time of one island, P islands
    compute P times the generations.
    """

    name = "islands"
    title = "1 to 64 islands: mean gaps of the best ever, in per cent"

    shown = (
        Column("size", "m x n", 8, "<"),
        *map(Column, ("n", "m")),
        Column("division", "islands", 12, "<"),
        *map(Column, ("islands", "migration")),
        Column("evaluations", "equal evaluations", 17, ".2f"),
        Column("evaluations_generations"),
        Column("evaluations_change", "change", 6, "+.2f"),
        Column("time", "equal time", 10, ".2f"),
        Column("time_change", "change", 6, "+.2f"),
        Column("time_generations", "generations", 11, ".0f"),
        Column("processors", "P processors", 12, ".2f"),
        Column("processors_change", "change", 6, "+.2f"),
        Column("processors_generations", "generations", 11, ".0f"),
        *map(Column, ("seconds", "runs")),
    )
    plots = tuple(
        GapPlot({way: "gap"}, f"mean gap, %, {words}", f"-{way}", "division", classes="size")
        for way, words in _WAYS.items()
    )

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division, up to three times."""
        one_island = self.sample(problem, is_warm=True, **ONE.options())
        for each in _COMPARED:
            equal = one_island if each == ONE else self.sample(problem, **each.options())
            generations = self.made_generations
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

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Summarise a size for each division."""
        of = kind(str(parts[0]["instance"]))
        ones = matching(parts, division=ONE.words)
        for each in _COMPARED:
            mine = matching(parts, division=each.words)
            changes = {
                f"{way}_change": mean(mine, way) - mean(ones, way) if each != ONE else None
                for way in _WAYS
            }
            generations = (f"{way}_generations" for way in _WAYS)
            yield self.filled(
                size=group,
                n=of.n,
                m=of.m,
                division=each.words,
                islands=each.count,
                migration=each.migration,
                **{way: average(mine, way) for way in _WAYS},
                **changes,
                **{name: average(mine, name) for name in generations},
                seconds=average(mine, "seconds"),
                runs=total(mine, "runs"),
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return how often and by how much each division differs from one island."""
        facts = []
        for way, words in _WAYS.items():
            for each in _DIVIDED:
                mine = matching(rows, division=each.words)
                change = mean(mine, f"{way}_change")
                worse = [str(row["size"]) for row in mine if mean([row], f"{way}_change") > 0]
                where = f" ({', '.join(worse)})" if worse else ""
                sentence = (
                    f"{words}, {each.words}: {change:+.2f} points against 1 island; worse on"
                    f" {len(worse)} of {len(mine)} sizes{where}"
                )
                facts.append(Fact(sentence, {f"change_{way}_{each.name}": change}))
        return facts


def _name(count: int) -> str:
    """Return the name of a column in files."""
    return f"seconds_{count}_islands"


class SizeTimesTable(SizeTable):
    """Charts 2 to 4: our seconds and our CPU's, with one thread and with all threads.

    One thread stands for the sequential program, all threads for the paper's MPI program. A run
    uses one device, or those of all ranks. Ours is also timed with the population divided into the
    paper's numbers of processes, as islands.
    """

    name = "times"
    title = "charts 2 to 4: seconds of a run, means by size"
    interpretations = (
        *INTERPRETATIONS,
        "the processes of the MPI program may have threads, of which the text says nothing: each"
        " rank uses a GPU, or threads of a CPU",
    )
    is_timed = True
    runs = 3
    batched = False

    shown = (
        Column("size", "m x n", 8, "<"),
        *map(Column, ("m", "n", "series")),
        Column("ranks", "ranks", 5, "d"),
        Column("seconds", "ours s", 9, ".4f"),
        *(Column(_name(each), f"{each} islands", 10, ".4f") for each in COUNTS),
        CPU,
    )
    plots = (
        Plot({}, by="series", with_times=True),
        Plot({_name(each): f"{each} islands" for each in COUNTS}, suffix="-islands", by="series"),
    )

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Time an instance: the median run, and the CPU."""
        divided = {}
        for count in COUNTS:
            runs = self.results(problem, **Division(count, "ring").options())
            divided[_name(count)] = self.paper_seconds(self.median_run(runs))
        times = self.time_cells(problem, self.results(problem))
        first = {"instance": problem.instance, "seconds": None, "generations": None}
        yield {**first, **divided, **times}  # in the order of the columns

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Return the means of a size."""
        of = kind(str(parts[0]["instance"]))
        names = [column.name for column in self.cpu_columns()]
        yield self.filled(
            size=group,
            m=of.m,
            n=of.n,
            series=f"n = {of.n}",
            ranks=self.asked.world.size,
            **{name: average(parts, name) for name in ("seconds", *map(_name, COUNTS), *names)},
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean seconds by n, and the mean speed-ups over our CPU."""
        sizes = dict.fromkeys(row["n"] for row in rows)
        means = {n: mean(matching(rows, n=n), "seconds") for n in sizes}
        shown = ", ".join(f"n = {n}: {seconds:.4f} s" for n, seconds in means.items())
        divided = {_name(each): mean(rows, _name(each)) for each in COUNTS}
        by_islands = ", ".join(f"{each}: {divided[_name(each)]:.4f} s" for each in COUNTS)
        return [
            Fact(f"mean seconds of a run: {shown}", {"mean_seconds": mean(rows, "seconds")}),
            Fact(f"by the number of islands: {by_islands}", named("mean", divided)),
            *self.speedup_facts(rows),
        ]
