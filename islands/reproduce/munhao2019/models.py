"""Tables 1 to 6: the models m1 and m2 on the OR-Library, SAC-94 and Glover and Kochenberger's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from math import sqrt
from typing import ClassVar

from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, Plot, TableRow
from islands.reproduce.munhao2019.facts import set_facts, speedup_facts
from islands.reproduce.munhao2019.figures import (
    INTERPRETATIONS,
    MODELS,
    RUNS,
    InstanceGroup,
    ModelFigures,
    gk,
    orlib,
    sac94,
)
from islands.reproduce.pooled import (
    PooledTable,
    average,
    least,
    sample_cells,
    sample_columns,
    standard_error,
    total,
)
from islands.reproduce.timing import cpu_cells, cpu_columns, scaled_facts
from islands.tables import Column

GOAL = 100
"""The target speed-up over the paper's GPU."""


class ModelsTable(PooledTable):
    """Both models on each group of instances of a set: our figures and the printed ones."""

    preset: ClassVar[str] = MODELS["m1"]
    also: ClassVar[tuple[str, ...]] = (MODELS["m2"],)
    generations: ClassVar[int] = 600
    runs: ClassVar[int] = RUNS
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
        return [
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
            Column("error"),
            Column("paper_error"),
            *([Column("hits", "hits", 4, "d")] if self.prints_hits else [Column("hits")]),
            *([Column("paper_hits", "2019", 4, "d")] if self.prints_hits else []),
            Column("without", "none", 4, "d"),
            Column("milliseconds", "ms/run", 8, ".3f"),
            Column("paper_milliseconds", "2019 ms", 8, ".1f"),
            Column("ratio", "2019/ours", 9, ".1f"),
            Column("wanted", "wanted", 6, "d"),
            *cpu_columns(self.experiment.threads),
            Column("paper_speedup", "2019 CPU/GPU", 12, ".2f"),
            Column("generations"),
            Column("runs"),
        ]

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        columns = [Column(name) for name in ("instance", "model")] + sample_columns()
        return columns + cpu_columns(self.experiment.threads)

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
                **sample_cells(sample, ours),
                **(cpu_cells(self.experiment, problem, ours, preset=preset) if is_first else {}),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[TableRow]:
        """Summarise a group for each model."""
        figures = self.groups()[group]
        for model, printed in figures.printed.items():
            mine = [row for row in parts if row["model"] == model]
            yield {
                "group": group,
                "n": figures.n,
                "m": figures.m,
                "model": model,
                **self._cells(group, mine, printed),
            }

    def _cells(
        self, group: str, parts: Sequence[TableRow], printed: ModelFigures
    ) -> dict[str, Cell]:
        seconds = average(parts, "seconds") or 0.0
        milliseconds = type(seconds)(1000 * seconds)
        cpu = [column.name for column in cpu_columns(self.experiment.threads)]
        return {
            "best": least(parts, "best_gap"),
            "paper_best": printed.best,
            "mean": average(parts, "mean_gap"),
            "paper_mean": printed.mean,
            "deviation": average(parts, "deviation"),
            "paper_deviation": printed.deviation,
            "error": standard_error(parts),
            "paper_error": printed.deviation / sqrt(RUNS * len(parts)),
            "hits": total(parts, "hits"),
            **({"paper_hits": printed.hits} if self.prints_hits else {}),
            "without": total(parts, "without"),
            "milliseconds": milliseconds,
            "paper_milliseconds": printed.milliseconds,
            "ratio": printed.milliseconds / milliseconds,
            "wanted": self.goals.get(group, GOAL),
            **{name: average(parts, name) for name in cpu},
            "paper_speedup": printed.speedup,
            "generations": max(total([row], "generations") for row in parts),
            "runs": total(parts, "runs"),
        }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the comparison of our gaps, times and hits with the paper's."""
        _, parts = self.parts()
        speedups = speedup_facts(rows, self.experiment.threads)
        return [*set_facts(rows, parts), *speedups, *scaled_facts(rows, self.experiment)]

    def plots(self) -> list[Plot]:
        """Return plots of the times and the gaps."""
        times = {"milliseconds": "ours", "paper_milliseconds": "2019, GTX 1050 Ti"}
        gaps = {"mean": "ours, mean", "paper_mean": "2019, mean"}
        return [
            Plot("milliseconds per run", times, by="model"),
            Plot("mean gap, %", gaps, "-gap", by="model", logarithmic=False),
        ]


class Sac94Table(ModelsTable):
    """Instances from practice, with numbers of hits of the optimum."""

    name: ClassVar[str] = "sac94"
    title: ClassVar[str] = "tables 3 and 4: SAC-94"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    prints_hits: ClassVar[bool] = True

    @staticmethod
    def groups() -> Mapping[str, InstanceGroup]:
        """Return the families by size."""
        return sac94()


class GkTable(ModelsTable):
    """Large instances, with gaps to the paper's reference values."""

    name: ClassVar[str] = "gk"
    title: ClassVar[str] = "tables 5 and 6: Glover and Kochenberger, gaps to the paper's references"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    goals: ClassVar[Mapping[str, int]] = {"gk11": 500}

    @staticmethod
    def groups() -> Mapping[str, InstanceGroup]:
        """Return the instances."""
        return gk()


class OrLibraryTable(ModelsTable):
    """Random problems, ten of each size and tightness."""

    name: ClassVar[str] = "orlib"
    title: ClassVar[str] = "tables 1 and 2: OR-Library"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS

    @staticmethod
    def groups() -> Mapping[str, InstanceGroup]:
        """Return the kinds of problems."""
        return orlib()


def referred(problem: Problem, reference: int | None) -> Problem:
    """Return the problem with gaps to `reference`, if it is given."""
    if reference is None:
        return problem
    problem = copy(problem)
    problem.best_known = BestKnown(reference, "best_known", "reference value of the paper's gaps")
    return problem
