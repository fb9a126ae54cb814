"""The paper's parameter search: random configurations on one problem of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar

from islands.campaign.configurations import Reals, random
from islands.configuration.resolve import layers
from islands.problems.base import Problem
from islands.reproduce.cells import Fact, TableRow, numbers
from islands.reproduce.munhao2019.figures import INTERPRETATIONS, MODELS
from islands.reproduce.orlib import first_names
from islands.reproduce.pooled import PooledTable, average, sample_cells, sample_columns, total
from islands.reproduce.timing import scaled_facts
from islands.tables import Column
from islands.text import counted

RANGES = {"c1": (0.5, 2.0), "c2": (0.5, 2.0), "penalty": (100.0, 500.0)}
"""The ranges that the paper drew from; only m1 has a penalty."""
RANDOM = 10
"""Number of random configurations. Number 0 is the paper's choice."""

_OF_MODEL = {"m1": tuple(RANGES), "m2": ("c1", "c2")}
_SEED = 1
_DIGITS = 9  # gaps that differ only beyond these digits are equal


class SearchTable(PooledTable):
    """The gaps of each configuration, best first, including the paper's choice."""

    name: ClassVar[str] = "search"
    title: ClassVar[str] = "parameter search: random configurations on 27 problems"
    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    preset: ClassVar[str] = MODELS["m1"]
    also: ClassVar[tuple[str, ...]] = (MODELS["m2"],)
    generations: ClassVar[int] = 600
    runs: ClassVar[int] = 10

    @classmethod
    def names(cls) -> list[str]:
        """Return the first problem of each kind in the OR-Library."""
        return first_names()

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

    def part_columns(self) -> list[Column]:
        """Return the columns of the rows of single instances."""
        return [Column(name) for name in ("instance", "model", "configuration", "rank")] + (
            sample_columns()
        )

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with each configuration of both models."""
        for model, preset in MODELS.items():
            rows = []
            for number, configuration in enumerate(configurations(model)):
                sample = self.sample(problem, preset=preset, **configuration)
                rows.append({"configuration": number, **sample_cells(sample, self.seconds(sample))})
            for row, rank in zip(rows, ranks([_loss(row) for row in rows]), strict=True):
                yield {"instance": problem.instance, "model": model, "rank": rank, **row}

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
        return [*facts, *scaled_facts(rows, self.experiment)]


@cache
def configurations(model: str) -> Sequence[Mapping[str, float]]:
    """Return the paper's choice, then the configurations that `islands tune` draws with seed 1."""
    preset = layers({"preset": MODELS[model]})[0].values
    names = _OF_MODEL[model]
    domains = [Reals(name, *RANGES[name]) for name in names]
    drawn = random(domains, RANDOM, _SEED, str).configurations[1:]
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
