"""Table 7: best gaps compared with the particle swarm of Hembecker et al. (2007)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import Cell, Fact, TableRow, mean, numbers
from islands.reproduce.munhao2019.figures import INTERPRETATIONS, MODELS, RUNS, comparison
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column
from islands.text import counted


class ComparisonTable(SampleTable):
    """Our best gaps with both models, and the three printed ones."""

    name: ClassVar[str] = "comparison"
    title: ClassVar[str] = "table 7: best gaps, compared with Hembecker et al. (2007)"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the values of Hembecker et al. (2007) are those that the paper prints",
    )
    preset: ClassVar[str] = MODELS["m1"]
    also: ClassVar[tuple[str, ...]] = (MODELS["m2"],)
    generations: ClassVar[int] = 600
    runs: ClassVar[int] = RUNS

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the instances of the table."""
        return [named(name, index) for name in comparison()]

    def columns(self) -> list[Column]:
        """Return the gaps of each model, ours and the paper's, and those of Hembecker."""
        return [
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
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with both models."""
        printed = comparison()[problem.instance]
        samples = {model: self.sample(problem, preset=preset) for model, preset in MODELS.items()}
        row: dict[str, Cell] = {
            "instance": problem.instance,
            "n": problem.size,
            "known": problem.best_known.value if problem.best_known else None,
        }
        for model, sample in samples.items():
            row |= {
                f"{model}_best": sample.best,
                f"{model}_gap": sample.best_gap,
                f"{model}_paper_gap": printed[model],
                f"{model}_seconds": self.seconds(sample),
            }
        yield row | {
            "hembecker_gap": printed["hembecker"],
            "generations": max(sample.generations for sample in samples.values()),
            "runs": sum(len(sample.costs) + sample.without for sample in samples.values()),
        }

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
                Fact(f"as_good_as_hembecker_{model}", hembecker, ""),
                *significance(
                    model,
                    f"{model}: best gaps, ours against 2019",
                    numbers(rows, gap, f"{model}_paper_gap"),
                ),
            ]
        return [*facts, *scaled_facts(rows, self.experiment)]
