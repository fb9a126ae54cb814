"""Munhão et al. 2019: a binary particle swarm on a GPU for the multidimensional knapsack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from math import sqrt
from typing import Any, ClassVar

from islands.cells.configurations import random
from islands.cells.domains import Range
from islands.configuration.asked import Asked
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.studies.papers.cells import (
    Fact,
    GapPlot,
    Plot,
    TableRow,
    matching,
    mean,
    named,
    numbers,
    significance,
)
from islands.studies.papers.munhao2019_figures import (
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
from islands.studies.papers.orlib import first_names
from islands.studies.papers.table import (
    ALL_CORES,
    Paper,
    PooledTable,
    SampleTable,
    average,
    least,
    standard_error,
    total,
)
from islands.studies.papers.timing import CPU
from islands.tables import Column, Row
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


def _group_columns(*hits: Column) -> Sequence[Column]:
    """Return the columns of gaps and times, ours and the paper's, and of hits."""
    return (
        Column("group", "instances", 13, "<"),
        Column("n", "n", 4, "d"),
        Column("m", "m", 3, "d"),
        Column("model", "model", 5, "<"),
        Column("best", "best %", 7, ".3f"),
        Column("paper_best", "2019", 7, ".3f"),
        Column("mean", "mean %", 7, ".3f"),
        Column("paper_mean", "2019", 7, ".3f"),
        Column("deviation", "st.dev.", 7, ".3f"),
        Column("paper_deviation", "2019", 6, ".3f"),
        *map(Column, ("error", "paper_error")),
        *(hits or [Column("hits")]),
        Column("without", "none", 4, "d"),
        Column("milliseconds", "ms/run", 8, ".3f"),
        Column("paper_milliseconds", "2019 ms", 8, ".1f"),
        Column("ratio", "2019/ours", 9, ".1f"),
        Column("wanted", "wanted", 6, "d"),
        CPU,
        Column("paper_speedup", "2019 CPU/GPU", 12, ".2f"),
        *map(Column, ("generations", "runs")),
    )


class ModelsTable(MunhaoTable, PooledTable):
    """Tables 1 to 6: both models on each group of instances of a set, ours and the printed ones."""

    goals: ClassVar[Mapping[str, int]] = {}
    """Target speed-ups of groups, if not `GOAL`."""
    shown: ClassVar[Sequence[Column]] = _group_columns()
    plots = (
        Plot(
            {"milliseconds": "ours", "paper_milliseconds": "2019, GTX 1050 Ti"},
            "milliseconds per run",
            by="model",
        ),
        GapPlot({"mean": "ours, mean", "paper_mean": "2019, mean"}, by="model"),
    )

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
                **(self.cpu_cells(problem, ours, preset=preset) if is_first else {}),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Summarise a group for each model."""
        of = self.groups()[group]
        for model, paper in of.printed.items():
            mine = matching(parts, model=model)
            seconds = average(mine, "seconds") or 0.0
            milliseconds = type(seconds)(1000 * seconds)
            cpu = self.cpu_columns()
            yield self.filled(
                group=group,
                n=of.n,
                m=of.m,
                model=model,
                best=least(mine, "best_gap"),
                mean=average(mine, "mean_gap"),
                deviation=average(mine, "deviation"),
                error=standard_error(mine),
                **named("paper", paper),
                # The standard error of the mean over the instances.
                paper_error=float(paper["deviation"] / sqrt(RUNS * len(mine))),
                **{name: total(mine, name) for name in ("hits", "without", "runs")},
                milliseconds=milliseconds,
                ratio=float(paper["milliseconds"] / milliseconds),
                wanted=self.goals.get(group, GOAL),
                **{column.name: average(mine, column.name) for column in cpu},
                generations=max(total([row], "generations") for row in mine),
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the comparison of our gaps, times and hits with the paper's."""
        _, parts = self.parts()
        speedups = speedup_facts(rows, self.asked.threads)
        return [*set_facts(rows, parts), *speedups]


class Sac94Table(ModelsTable):
    """Instances from practice, with numbers of hits of the optimum."""

    name = "sac94"
    title = "tables 3 and 4: SAC-94"
    shown = _group_columns(Column("hits", "hits", 4, "d"), Column("paper_hits", "2019", 4, "d"))
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

    shown = (
        Column("instance", "instance", 12, "<"),
        Column("n", "n", 3, "d"),
        Column("known", "known", 7, "d"),
        *(
            column
            for model in MODELS
            for column in (
                Column(f"{model}_best", f"{model} best", 8, ".0f"),
                Column(f"{model}_gap", "gap %", 6, ".3f"),
                Column(f"{model}_paper_gap", "2019 %", 6, ".3f"),
                Column(f"{model}_seconds"),
            )
        ),
        Column("hembecker_gap", "2007 %", 6, ".3f"),
        *map(Column, ("generations", "runs")),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with both models."""
        paper, cells = comparison()[problem.instance], dict[str, Any]()
        samples = {model: self.sample(problem, preset=preset) for model, preset in MODELS.items()}
        for model, sample in samples.items():
            cells |= {
                f"{model}_best": sample.best,
                f"{model}_gap": sample.best_gap,
                f"{model}_paper_gap": paper[model],
                f"{model}_seconds": self.seconds(sample),
            }
        yield self.row(
            problem,
            samples["m1"],
            **cells,
            hembecker_gap=paper["hembecker"],
            generations=max(sample.generations for sample in samples.values()),
            runs=sum(sample.runs for sample in samples.values()),
        )

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
            values = {
                f"as_good_as_printed_{model}": printed,
                f"as_good_as_hembecker_{model}": hembecker,
            }
            words = f"{model}: best gaps, ours against 2019"
            pairs = numbers(rows, gap, f"{model}_paper_gap")
            facts += [Fact(sentence, values), *significance(model, words, pairs)]
        return facts


class SearchTable(MunhaoTable, PooledTable):
    """The paper's parameter search: the gaps of each configuration and its choice, best first."""

    name = "search"
    title = "parameter search: random configurations on 27 problems"
    runs = 10
    names = staticmethod(first_names)
    shown = (
        Column("model", "model", 5, "<"),
        Column("configuration", "configuration", 13, "d"),
        *(Column(name, name, 8, ".4f") for name in RANGES),
        Column("mean", "mean %", 7, ".3f"),
        Column("rank", "mean rank", 9, ".2f"),
        Column("without", "none", 4, "d"),
        Column("instances", "instances", 9, "d"),
        *map(Column, ("generations", "runs")),
    )

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the same group for all: a configuration is ranked on all instances."""
        return "all"

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with each configuration of both models."""
        from scipy.stats import rankdata

        for model, preset in MODELS.items():
            rows = []
            for configuration in configurations(model):
                sample = self.sample(problem, preset=preset, **configuration)
                rows.append(sample.cells(self.seconds(sample)))
            # Equal losses share their mean rank.
            ranks = rankdata([_loss(row) for row in rows]).tolist()
            for number, (rank, row) in enumerate(zip(ranks, rows, strict=True)):
                first = {"instance": problem.instance, "model": model}
                yield {**first, "configuration": number, "rank": rank, **row}

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the configurations of each model by mean rank, best first."""
        for model in MODELS:
            rows = []
            for number, configuration in enumerate(configurations(model)):
                mine = matching(parts, model=model, configuration=number)
                rows.append(self._summary(model, number, configuration, mine))
            yield from sorted(rows, key=lambda row: numbers([row], "rank", "configuration"))

    def _summary(
        self, model: str, number: int, values: Mapping[str, float], parts: Sequence[TableRow]
    ) -> Row:
        return self.filled(
            model=model,
            configuration=number,
            **{name: values.get(name) for name in RANGES},
            mean=average(parts, "mean_gap"),
            rank=average(parts, "rank"),
            without=total(parts, "without"),
            instances=len(parts),
            generations=max(total([row], "generations") for row in parts),
            runs=total(parts, "runs"),
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the best configuration of each model, and the rank of the paper's choice."""
        facts = []
        for model in MODELS:
            mine = matching(rows, model=model)
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
            facts.append(Fact(sentence, {f"place_of_the_papers_{model}": place}))
        return facts


@cache
def configurations(model: str) -> Sequence[Mapping[str, Any]]:
    """Return the paper's choice, then the configurations that `islands tune` draws with seed 1."""
    preset = Asked({"preset": MODELS[model]}).values
    names = _OF_MODEL[model]
    domains = [Range(name, *RANGES[name]) for name in names]
    drawn = random(domains, RANDOM, _SEED, lambda values: tuple(values.items())).configurations[1:]
    return [{name: preset[name] for name in names}, *(each.values for each in drawn)]


def _loss(row: TableRow) -> float:
    """Return the mean gap of all runs; a run without a feasible solution has 100 %."""
    without, runs = total([row], "without"), total([row], "runs")
    found = (runs - without) * sum(gap for (gap,) in numbers([row], "mean_gap"))
    return round((found + 100 * without) / runs, _DIGITS)


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
