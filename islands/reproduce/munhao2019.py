"""Munhão et al. 2019: a binary particle swarm on a GPU for the multidimensional knapsack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from math import sqrt
from typing import Any, ClassVar

from islands.cells.configurations import random
from islands.cells.domains import Range
from islands.configuration.resolve import layers
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.reproduce.cells import Fact, Plot, TableRow, mean, numbers, significance
from islands.reproduce.munhao2019_figures import (
    MODELS,
    RUNS,
    InstanceGroup,
    comparison,
    gk,
    orlib,
    sac94,
    set_facts,
    speedup_facts,
)
from islands.reproduce.orlib import first_names
from islands.reproduce.table import (
    ALL_CORES,
    Paper,
    PooledTable,
    SampleTable,
    average,
    least,
    standard_error,
    total,
)
from islands.reproduce.timing import cpu_cells, cpu_columns
from islands.tables import Column
from islands.text import counted

INTERPRETATIONS = (
    "only the initial inertia 1 is stated: it stays high, and decreases to 0.5 near the end",
    "initial positions are not stated: all particles begin feasible",
    "the weight that divides the profit in m2 is not stated: the sum over all constraints",
)
"""What was chosen where the paper is silent."""
GOAL = 100
"""The target speed-up over the paper's GPU."""
RANGES = {"c1": (0.5, 2.0), "c2": (0.5, 2.0), "penalty": (100.0, 500.0)}
"""The ranges that the paper drew from; only m1 has a penalty."""
RANDOM = 10
"""Number of random configurations. Number 0 is the paper's choice."""

_OF_MODEL = {"m1": tuple(RANGES), "m2": ("c1", "c2")}
_SEED = 1
_DIGITS = 9  # gaps that differ only beyond these digits are equal


class MunhaoTable(SampleTable):
    """What all tables have."""

    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    preset = MODELS["m1"]
    also = (MODELS["m2"],)
    generations = 600
    runs: ClassVar[int] = RUNS


class ModelsTable(MunhaoTable, PooledTable):
    """Tables 1 to 6: both models on each group of instances of a set, ours and the printed ones."""

    prints_hits: ClassVar[bool] = False
    goals: ClassVar[Mapping[str, int]] = {}
    """Target speed-ups of groups, if not `GOAL`."""

    @staticmethod
    @abstractmethod
    def groups() -> Mapping[str, InstanceGroup]:
        """Return the paper's figures."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of all groups."""
        return [name for group in cls.groups().values() for name in group.instances]

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the group that contains the instance."""
        return next(name for name, each in cls.groups().items() if instance in each.instances)

    def columns(self) -> list[Column]:
        """Return gaps, times and hits: ours and the paper's."""
        cpu = cpu_columns(self.experiment.threads)
        return [
            Column("group", "instances", 13, "<"),
            Column("n", "n", 4, "d"),
            Column("m", "m", 3, "d"),
            Column("model", "model", 5, "<"),
            Column("best", "best %", 7, ".3f", lambda of: least(of.parts, "best_gap")),
            Column("paper_best", "2019", 7, ".3f", lambda of: of.paper.best),
            Column("mean", "mean %", 7, ".3f", lambda of: average(of.parts, "mean_gap")),
            Column("paper_mean", "2019", 7, ".3f", lambda of: of.paper.mean),
            Column("deviation", "st.dev.", 7, ".3f", lambda of: average(of.parts, "deviation")),
            Column("paper_deviation", "2019", 6, ".3f", lambda of: of.paper.deviation),
            Column("error", value=lambda of: standard_error(of.parts)),
            Column("paper_error", value=_paper_error),
            Column("hits", "hits" if self.prints_hits else "", 4, "d", partial(_total, "hits")),
            *([Column("paper_hits", "2019", 4, "d", lambda of: of.paper.hits)] * self.prints_hits),
            Column("without", "none", 4, "d", partial(_total, "without")),
            Column("milliseconds", "ms/run", 8, ".3f"),
            Column("paper_milliseconds", "2019 ms", 8, ".1f", lambda of: of.paper.milliseconds),
            Column("ratio", "2019/ours", 9, ".1f", _ratio),
            Column("wanted", "wanted", 6, "d"),
            *(replace(each, value=partial(_average, each.name)) for each in cpu),
            Column("paper_speedup", "2019 CPU/GPU", 12, ".2f", lambda of: of.paper.speedup),
            Column("generations", value=_longest),
            Column("runs", value=partial(_total, "runs")),
        ]

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with both models; time the CPU on the first instance of each group."""
        name = self.group(problem.instance)
        group, is_first = self.groups()[name], not self.has_begun(name)
        for model, preset in MODELS.items():
            sample = self.sample(referred(problem, group.reference), preset=preset)
            ours = self.seconds(sample)
            yield {
                "instance": problem.instance,
                "model": model,
                **sample.cells(ours),
                **(cpu_cells(self.experiment, problem, ours, preset=preset) if is_first else {}),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Summarise a group for each model."""
        of = self.groups()[group]
        for model, paper in of.printed.items():
            mine = [row for row in parts if row["model"] == model]
            seconds = average(mine, "seconds") or 0.0
            yield self.cells(
                group=group,
                n=of.n,
                m=of.m,
                model=model,
                parts=mine,
                paper=paper,
                milliseconds=type(seconds)(1000 * seconds),
                wanted=self.goals.get(group, GOAL),
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the comparison of our gaps, times and hits with the paper's."""
        _, parts = self.parts()
        speedups = speedup_facts(rows, self.experiment.threads)
        return [*set_facts(rows, parts), *speedups]

    def plots(self) -> list[Plot]:
        """Return plots of the times and the gaps."""
        times = {"milliseconds": "ours", "paper_milliseconds": "2019, GTX 1050 Ti"}
        gaps = {"mean": "ours, mean", "paper_mean": "2019, mean"}
        return [
            Plot("milliseconds per run", times, by="model"),
            Plot("mean gap, %", gaps, "-gap", by="model", logarithmic=False),
        ]


def _total(name: str, of: Any) -> int:
    return total(of.parts, name)


def _average(name: str, of: Any) -> float | None:
    return average(of.parts, name)


def _paper_error(of: Any) -> float:
    """Return the printed standard error of the mean over the instances of a group."""
    return float(of.paper.deviation / sqrt(RUNS * len(of.parts)))


def _ratio(of: Any) -> float:
    return float(of.paper.milliseconds / of.milliseconds)


def _longest(of: Any) -> int:
    return max(total([row], "generations") for row in of.parts)


class Sac94Table(ModelsTable):
    """Instances from practice, with numbers of hits of the optimum."""

    name = "sac94"
    title = "tables 3 and 4: SAC-94"
    prints_hits = True
    groups = staticmethod(sac94)


class GkTable(ModelsTable):
    """Large instances, with gaps to the paper's reference values."""

    name = "gk"
    title = "tables 5 and 6: Glover and Kochenberger, gaps to the paper's references"
    goals: ClassVar[Mapping[str, int]] = {"gk11": 500}
    groups = staticmethod(gk)


class OrLibraryTable(ModelsTable):
    """Random problems, ten of each size and tightness."""

    name = "orlib"
    title = "tables 1 and 2: OR-Library"
    groups = staticmethod(orlib)


def referred(problem: Problem, reference: int | None) -> Problem:
    """Return the problem with gaps to `reference`, if it is given."""
    if reference is None:
        return problem
    problem = copy(problem)
    problem.best_known = BestKnown(reference, "best_known", "reference value of the paper's gaps")
    return problem


class ComparisonTable(MunhaoTable):
    """Table 7: our best gaps with both models, and the three printed ones.

    The third is of the particle swarm of Hembecker et al. (2007).
    """

    name = "comparison"
    title = "table 7: best gaps, compared with Hembecker et al. (2007)"
    interpretations = (
        *INTERPRETATIONS,
        "the values of Hembecker et al. (2007) are those that the paper prints",
    )
    names = staticmethod(comparison)

    def columns(self) -> list[Column]:
        """Return the gaps of each model, ours and the paper's, and those of Hembecker."""
        return [
            Column("instance", "instance", 12, "<"),
            Column("n", "n", 3, "d"),
            Column("known", "known", 7, "d"),
            *(column for model in MODELS for column in self._columns_of(model)),
            Column("hembecker_gap", "2007 %", 6, ".3f", lambda ran: ran.paper.hembecker),
            Column("generations", value=lambda ran: max(each.generations for each in ran.samples)),
            Column(
                "runs",
                value=lambda ran: sum(len(each.costs) + each.without for each in ran.samples),
            ),
        ]

    def _columns_of(self, model: str) -> list[Column]:
        return [
            Column(f"{model}_best", f"{model} best", 8, ".0f", lambda ran: ran.by[model].best),
            Column(f"{model}_gap", "gap %", 6, ".3f", lambda ran: ran.by[model].best_gap),
            Column(f"{model}_paper_gap", "2019 %", 6, ".3f", lambda ran: getattr(ran.paper, model)),
            Column(f"{model}_seconds", value=lambda ran: self.seconds(ran.by[model])),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with both models."""
        by = {model: self.sample(problem, preset=preset) for model, preset in MODELS.items()}
        paper = comparison()[problem.instance]
        yield self.row(problem, by["m1"], by=by, samples=by.values(), paper=paper)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return on how many instances each model is at least as good as the others."""
        facts = []
        for model in MODELS:
            gap = f"{model}_gap"
            printed, hembecker = (
                sum(ours <= theirs for ours, theirs in numbers(rows, gap, name))
                for name in (f"{model}_paper_gap", "hembecker_gap")
            )
            sentence = (
                f"{model}: mean of the best gaps {mean(rows, gap):.3f} %; at most the paper's on"
                f" {printed} of {counted(len(rows), 'instance')}, at most Hembecker's on"
                f" {hembecker}"
            )
            facts += [
                Fact(f"as_good_as_printed_{model}", printed, sentence),
                Fact(f"as_good_as_hembecker_{model}", hembecker),
                *significance(
                    model,
                    f"{model}: best gaps, ours against 2019",
                    numbers(rows, gap, f"{model}_paper_gap"),
                ),
            ]
        return [*facts]


def _runs(ran: Any) -> int:
    return sum(len(each.costs) + each.without for each in ran.samples)


class SearchTable(MunhaoTable, PooledTable):
    """The paper's parameter search: the gaps of each configuration and its choice, best first."""

    name = "search"
    title = "parameter search: random configurations on 27 problems"
    runs = 10
    names = staticmethod(first_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the same group for all: a configuration is ranked on all instances."""
        return "all"

    def columns(self) -> list[Column]:
        """Return the configuration and its results."""
        return [
            Column("model", "model", 5, "<"),
            Column("configuration", "configuration", 13, "d"),
            *(Column(name, name, 8, ".4f") for name in RANGES),
            Column("mean", "mean %", 7, ".3f"),
            Column("rank", "mean rank", 9, ".2f"),
            Column("without", "none", 4, "d"),
            Column("instances", "instances", 9, "d"),
            Column("generations"),
            Column("runs"),
        ]

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with each configuration of both models."""
        for model, preset in MODELS.items():
            rows = []
            for number, configuration in enumerate(configurations(model)):
                sample = self.sample(problem, preset=preset, **configuration)
                rows.append({"configuration": number, **sample.cells(self.seconds(sample))})
            for row, rank in zip(rows, ranks([_loss(row) for row in rows]), strict=True):
                numbered = {"configuration": row["configuration"], "rank": rank}
                yield {"instance": problem.instance, "model": model, **numbered, **row}

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Yield the configurations of each model by mean rank, best first."""
        for model in MODELS:
            rows = []
            for number, configuration in enumerate(configurations(model)):
                of = (model, number)
                mine = [row for row in parts if (row["model"], row["configuration"]) == of]
                rows.append(_summary(model, number, configuration, mine))
            yield from sorted(rows, key=lambda row: numbers([row], "rank", "configuration"))

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the best configuration of each model, and the rank of the paper's choice."""
        facts = []
        for model in MODELS:
            mine = [row for row in rows if row["model"] == model]
            found = [rank for (rank,) in numbers(mine, "rank")]
            own = found[[row["configuration"] for row in mine].index(0)]
            place = 1 + sum(rank < own for rank in found)
            others = found.count(own) - 1
            shared = f" with {counted(others, 'other')}" if others else ""
            best = ", ".join(f"{name} {mine[0][name]:.6g}" for name in _OF_MODEL[model])
            sentence = (
                f"{model}: best mean rank with {best}; the paper's choice has place"
                f" {place}{shared} of {len(mine)}"
            )
            facts.append(Fact(f"place_of_the_papers_{model}", place, sentence))
        return [*facts]


@cache
def configurations(model: str) -> Sequence[Mapping[str, float]]:
    """Return the paper's choice, then the configurations that `islands tune` draws with seed 1."""
    preset = layers({"preset": MODELS[model]})[0].values
    names = _OF_MODEL[model]
    domains = [Range(name, *RANGES[name]) for name in names]
    drawn = random(domains, RANDOM, _SEED, lambda values: tuple(values.items())).configurations[1:]
    return [{name: preset[name] for name in names}, *(each.values for each in drawn)]


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, 1 the smallest; equal values share their mean rank."""
    below = [sum(other < value for other in values) for value in values]
    return [at + (values.count(value) + 1) / 2 for at, value in zip(below, values, strict=True)]


def _loss(row: TableRow) -> float:
    """Return the mean gap of all runs; a run without a feasible solution has 100 %."""
    without, runs = total([row], "without"), total([row], "runs")
    found = (runs - without) * sum(gap for (gap,) in numbers([row], "mean_gap"))
    return round((found + 100 * without) / runs, _DIGITS)


def _summary(
    model: str, number: int, configuration: Mapping[str, float], parts: Sequence[TableRow]
) -> TableRow:
    return {
        "model": model,
        "configuration": number,
        **configuration,
        "mean": average(parts, "mean_gap"),
        "rank": average(parts, "rank"),
        "without": total(parts, "without"),
        "instances": len(parts),
        "generations": max(total([row], "generations") for row in parts),
        "runs": total(parts, "runs"),
    }


PAPER = Paper(
    "Munhão et al. 2019, binary PSO for the knapsack (WSCAD 2019, extended proceedings)",
    (Sac94Table, GkTable, ComparisonTable, OrLibraryTable, SearchTable),
    threads=(1, ALL_CORES),
    printed={
        "table1": "orlib",
        "table2": "orlib",
        "table3": "sac94",
        "table4": "sac94",
        "table5": "gk",
        "table6": "gk",
        "table7": "comparison",
    },
)
