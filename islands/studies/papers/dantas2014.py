"""Dantas and Cáceres 2014: parallel genetic algorithms for the multidimensional knapsack.

The paper divides 4096 individuals among one or more islands, with and without migration. It has
only charts, without numbers; `printed/` has the gaps of a plain sequential program instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.studies.papers.cells import Cell, Fact, TableRow
from islands.studies.papers.experiment import Sample
from islands.studies.papers.orlib import KINDS, all_names, first_names, kind
from islands.studies.papers.rows import average, matching, mean, named, numbers, significance, total
from islands.studies.papers.table import Paper, PaperTable, PooledTable
from islands.tables import Row

POPULATION = 4096
COUNTS = (2, 8, 32, 64)
"""The paper's numbers of processes."""
_POOLED = ("last", "found", "deviation", "seconds")
"""Columns of single instances, whose means by kind are written to files."""


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

    def options(self) -> dict[str, Any]:
        """Return the options that change the preset to this division."""
        population = POPULATION // self.count
        return {"islands": self.count, "population": population, "migration": self.migration}


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


def _listed(values: Mapping[Any, float], form: str, between: str = ", ") -> str:
    """Return values with their names as text."""
    return between.join(f"{name} {value:{form}}" for name, value in values.items())


class GapsTable(PooledTable, of="dantas2014/gaps"):
    """Charts 5 to 7: mean gaps of the best solutions and of the last generation, by kind."""

    names = staticmethod(all_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the kind of a problem."""
        return kind(instance).name

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division."""
        for division in ALL:
            sample = self.sample(problem, **division.options())
            yield {
                "instance": problem.instance,
                "islands": division.count,
                "migration": division.migration,
                "last": fmean(sample.last_gaps) if sample.last_gaps else None,
                "found": fmean(sample.best_generations),
                **sample.cells(self.seconds(sample)),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the row of a kind."""
        of = next(division for division in KINDS if division.name == group)
        row: dict[str, Cell] = {
            **of._asdict(),
            "kind": group,
            "series": f"n = {of.n}, {of.tightness}",
            "generations": self.run_generations,
            "runs": len(self.seeds),
        }
        for division in ALL:
            own_parts = matching(parts, islands=division.count, migration=division.migration)
            row[division.name] = average(own_parts, "mean_gap")
            row |= {f"{division.name}_{name}": average(own_parts, name) for name in _POOLED}
        yield self.filled(**row)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return means by m, n and tightness, and the effect of islands."""
        return [
            *(fact for name in ("m", "n", "tightness") for fact in self._level_facts(rows, name)),
            *(self._change_fact(rows, division) for division in SEVERAL),
            self._found_fact(rows),
            *self._last_facts(rows),
        ]

    def _level_facts(self, rows: Sequence[TableRow], name: str) -> Iterator[Fact]:
        """Yield the mean gaps of each division, for each m, n or tightness."""
        for level in dict.fromkeys(row[name] for row in rows):
            level_rows = matching(rows, **{name: level})
            gaps = {division.name: mean(level_rows, division.name) for division in ALL}
            shown = _listed({division.words: gaps[division.name] for division in ALL}, ".2f", ";  ")
            values = named(f"mean_gap_{name}_{level}", gaps)
            yield self.fact("level", rows, values, level=f"{name} = {level}:", gaps=shown)

    def _change_fact(self, rows: Sequence[TableRow], division: Division) -> Fact:
        """Return the difference of a division's gap from one island's, by m and n."""
        changes: dict[str, float] = {}
        for m, n in dict.fromkeys((row["m"], row["n"]) for row in rows):
            size_rows = matching(rows, m=m, n=n)
            changes[f"{m} x {n}"] = mean(size_rows, division.name) - mean(size_rows, ONE.name)
        worse = sum(change > 0 for change in changes.values())
        name, shown = division.name, _listed(changes, "+.2f", ";  ")
        values = {f"sizes_worse_{name}": worse, **named(f"change_{name}", changes)}
        return self.fact("change", rows, values, division=division.words, changes=shown)

    def _found_fact(self, rows: Sequence[TableRow]) -> Fact:
        """Return the mean generation of the best by n, which is late if runs have not converged."""
        parts = []
        for n in dict.fromkeys(row["n"] for row in rows):
            size_rows = matching(rows, n=n)
            means = {division.words: mean(size_rows, f"{division.name}_found") for division in ALL}
            parts.append(f"n = {n}: {_listed(means, '.0f')}")
        ours = {"found": mean(rows, f"{ONE.name}_found")}
        return self.fact("found", rows, ours, generations=";  ".join(parts))

    def _last_facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return how much worse the best of the last generation is than the best of the run."""
        lost = {
            division: mean(rows, f"{division.name}_last") - mean(rows, division.name)
            for division in ALL
            if any(row[f"{division.name}_last"] is not None for row in rows)
        }
        values = named("lost", {division.name: points for division, points in lost.items()})
        shown = _listed({division.words: points for division, points in lost.items()}, ".2f")
        return [self.fact("lost", rows, values, points=shown)] if lost else []


class PrototypeTable(PaperTable, of="dantas2014/prototype"):
    """Mean gaps on seven problems, ours and those of a sequential program."""

    @classmethod
    def divisions(cls) -> list[Division]:
        """Return the divisions of which the program has gaps."""
        return [division for division in ALL if division.name in next(iter(cls.printed().values()))]

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance in each division."""
        row: dict[str, Cell] = {
            "kind": kind(problem.instance).name,
            "generations": self.run_generations,
            "runs": len(self.seeds),
        }
        for division in self.divisions():
            name, sample = division.name, self.sample(problem, **division.options())
            row[name], row[f"{name}_deviation"] = sample.mean_gap, sample.deviation
            row[f"{name}_prototype"] = self.printed()[problem.instance][name]
        yield self.row(problem, **row)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gaps of both programs in each division, and tests of the difference."""
        facts, pairs = [], list[tuple[float, ...]]()
        for division in self.divisions():
            ours, its = mean(rows, division.name), mean(rows, f"{division.name}_prototype")
            values = {f"mean_gap_{division.name}": ours}
            facts.append(
                self.fact("mean", rows, values, division=division.words, ours=ours, its=its)
            )
            pairs += numbers(rows, division.name, f"{division.name}_prototype")
        words = "our gaps in all divisions and those of the sequential program"
        return [*facts, *significance("prototype", words, pairs)]


class SizeTable(PooledTable):
    """A table of the first problem of each kind, with one or more rows per size."""

    names = staticmethod(first_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the size of a problem."""
        return kind(instance).size

    def size_row(self, group: str, parts: Sequence[TableRow], **cells: Any) -> Row:
        """Return the row of a size."""
        of = kind(str(parts[0]["instance"]))
        return self.filled(size=group, n=of.n, m=of.m, series=f"n = {of.n}", **cells)


class EqualTimeTable(SizeTable, of="dantas2014/islands"):
    """Mean gaps by size, with three definitions of equal effort.

    On the paper's cluster each island has its own processor: in the time of one island, P islands
    compute P times the generations.
    """

    ways: ClassVar[Mapping[str, str]]
    """Definitions of equal effort, in words."""

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance in each division, up to three times."""
        one_island = self.sample(problem, is_warm=True, **ONE.options())
        for division in _COMPARED:
            equal = one_island if division == ONE else self.sample(problem, **division.options())
            generations = self.run_generations
            in_time = max(1, round(generations * one_island.seconds / equal.seconds))
            samples = {
                "evaluations": equal,
                "time": self._longer(problem, division, equal, in_time),
                "processors": self._longer(problem, division, equal, generations * division.count),
            }
            yield {
                "instance": problem.instance,
                "division": division.words,
                **{way: sample.mean_gap for way, sample in samples.items()},
                **{f"{way}_generations": sample.generations for way, sample in samples.items()},
                "seconds": equal.seconds,
                "runs": len(equal.costs),
            }

    def _longer(
        self, problem: Problem, division: Division, equal: Sample, generations: int
    ) -> Sample:
        """Return a sample of runs with the given generations, or `equal` if it has as many."""
        if division == ONE or generations == equal.generations:
            return equal
        stop: dict[str, Any] = {"stop": [f"generations={generations}"]}
        return self.sample(problem, **division.options(), **stop)

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the rows of a size, one for each division."""
        ones = matching(parts, division=ONE.words)
        averaged = (*self.ways, *(f"{way}_generations" for way in self.ways), "seconds")
        for division in _COMPARED:
            own_parts = matching(parts, division=division.words)
            changes = {
                f"{way}_change": mean(own_parts, way) - mean(ones, way) if division != ONE else None
                for way in self.ways
            }
            yield self.size_row(
                group,
                parts,
                division=division.words,
                islands=division.count,
                migration=division.migration,
                **{name: average(own_parts, name) for name in averaged},
                **changes,
                runs=total(own_parts, "runs"),
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return how often and by how much each division differs from one island."""
        facts = []
        for way, words in self.ways.items():
            for division in _DIVIDED:
                own_rows = matching(rows, division=division.words)
                change = mean(own_rows, f"{way}_change")
                worse = [str(row["size"]) for row in own_rows if mean([row], f"{way}_change") > 0]
                where = f" ({', '.join(worse)})" if worse else ""
                values = {f"change_{way}_{division.name}": change}
                texts: dict[str, Any] = {"change": change, "worse": len(worse), "where": where}
                texts |= {"way": words, "division": division.words}
                facts.append(self.fact("change", own_rows, values, **texts))
        return facts


_name = "seconds_{}_islands".format
"""Returns the name of the column for a number of islands."""


class SizeTimesTable(SizeTable, of="dantas2014/times"):
    """Charts 2 to 4: our seconds and our CPU's, with one thread and with all threads.

    One thread stands for the paper's sequential program, all threads for its MPI program. A run
    uses one device, or those of all ranks. Our runs are also timed with as many islands as the
    paper has processes.
    """

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
        """Yield the row of a size, with means."""
        names = ["seconds", *map(_name, COUNTS), *(column.name for column in self.cpu_columns())]
        means = {name: average(parts, name) for name in names}
        yield self.size_row(group, parts, ranks=self.request.world.size, **means)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean seconds by n, and the mean speed-ups over our CPU."""
        sizes = dict.fromkeys(row["n"] for row in rows)
        by_size = {f"n = {n}:": mean(matching(rows, n=n), "seconds") for n in sizes}
        divided = {count: mean(rows, _name(count)) for count in COUNTS}
        values = named("mean", {_name(count): seconds for count, seconds in divided.items()})
        shown = _listed(by_size, ".4f", " s, ") + " s"
        ends = {f"{count}:": seconds for count, seconds in divided.items()}
        by_islands = _listed(ends, ".4f", " s, ") + " s"
        return [
            self.fact("seconds", rows, {"mean_seconds": mean(rows, "seconds")}, sizes=shown),
            self.fact("islands", rows, values, islands=by_islands),
            *self.speedup_facts(rows),
        ]


PAPER = Paper.of("dantas2014", GapsTable, PrototypeTable, EqualTimeTable, SizeTimesTable)
