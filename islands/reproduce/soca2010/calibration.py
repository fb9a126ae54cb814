"""The paper's parameter study: every combination of its levels.

The paper tried an orthogonal fraction of the 54 combinations, and printed its choice only. The
smallest such plan has 18 combinations; the facts of one are below the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar

from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.reproduce.cells import ASSIGNMENT, Cell, Fact, TableRow, mean
from islands.reproduce.selection import named
from islands.reproduce.soca2010.figures import INTERPRETATIONS
from islands.reproduce.table import SampleTable
from islands.reproduce.timing import scaled_facts
from islands.tables import Column

FACTORS: dict[str, tuple[Cell, ...]] = {
    "population": (512, 1024, 2048),
    "crossover_rate": (0.7, 0.8, 0.9),
    "mutation_rate": (0.05, 0.1, 0.2),
    "neighbours": (2, 4),
}
"""The levels of each setting."""

CHOSEN: tuple[Cell, ...] = (2048, 0.9, 0.1, 4)
"""The paper's choice."""

PLAN = tuple(
    (a, b, FACTORS["mutation_rate"][(i + j + k) % 3], d)
    for i, a in enumerate(FACTORS["population"])
    for j, b in enumerate(FACTORS["crossover_rate"])
    for k, d in enumerate(FACTORS["neighbours"])
)
"""An orthogonal plan: each pair of levels of two settings occurs equally often."""

_INSTANCES = ("qaplib/chr25a", "qaplib/kra30a")
"""The paper does not state whether it used kra30a or kra30b."""


class CalibrationTable(SampleTable):
    """The gaps and seconds of each combination."""

    name: ClassVar[str] = "calibration"
    title: ClassVar[str] = "calibration: gaps and seconds of all settings"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the paper says Kra30, which may be kra30a or kra30b; kra30a is used",
        "the paper does not print its orthogonal plan; all 54 settings run, and a plan of 18 is"
        " marked",
    )
    preset: ClassVar[str] = "soca2010"
    generations: ClassVar[int] = 500
    needs_all: ClassVar[bool] = False

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the two instances of the study."""
        return [named(name, index) for name in _INSTANCES]

    def columns(self) -> list[Column]:
        """Return the settings and their results."""
        return [
            *ASSIGNMENT,
            Column("population", "population", 10, "d"),
            Column("crossover_rate", "crossover", 9, ".1f"),
            Column("mutation_rate", "mutation", 8, ".2f"),
            Column("neighbours", "neighbours", 10, "d"),
            Column("best_gap", "best %", 6, ".2f"),
            Column("mean_gap", "mean %", 6, ".2f"),
            Column("deviation", "st.dev.", 7, ".2f"),
            Column("hits", "hits", 4, "d"),
            Column("seconds", "s/run", 9, ".4f"),
            Column("in_plan"),
            Column("generations"),
            Column("runs"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with every combination of the levels."""
        for levels in product(*FACTORS.values()):
            setting = dict(zip(FACTORS, levels, strict=True))
            sample = self.sample(problem, **setting)
            yield {
                "instance": problem.instance,
                "n": problem.size,
                **setting,
                "best_gap": sample.best_gap,
                "mean_gap": sample.mean_gap,
                "deviation": sample.deviation,
                "hits": sample.hits,
                "seconds": self.seconds(sample),
                "in_plan": int(levels in PLAN),
                "generations": sample.generations,
                "runs": len(sample.costs),
            }

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gap and seconds of each level, and the best combination."""
        levels = [fact for name in FACTORS for fact in level_facts(rows, name)]
        absent = Fact("missing", len(self.missing), f"missing: {', '.join(self.missing)}")
        return [
            *levels,
            *best_facts(rows),
            *plan_facts(rows),
            *([absent] if self.missing else ()),
            *scaled_facts(rows, self.experiment),
        ]


def level_facts(rows: Sequence[TableRow], name: str) -> list[Fact]:
    """Return the means of the rows with each level of a setting."""
    words, facts = [], []
    for level in FACTORS[name]:
        mine = [row for row in rows if row[name] == level]
        gap, seconds = mean(mine, "mean_gap"), mean(mine, "seconds")
        words.append(f"{level}: {gap:.2f} %, {seconds:.4f} s")
        facts += [
            Fact(f"mean_gap_{name}_{level}", gap, ""),
            Fact(f"mean_seconds_{name}_{level}", seconds, ""),
        ]
    return [Fact(f"levels_{name}", len(words), f"{name:14}  {';  '.join(words)}"), *facts]


def best_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the combination with the smallest mean gap, and the paper's choice."""
    gaps = {
        levels: mean([row for row in rows if _levels(row) == levels], "mean_gap")
        for levels in dict.fromkeys(_levels(row) for row in rows)
    }
    best = min(gaps, key=lambda levels: gaps[levels])
    place = 1 + sum(gap < gaps[CHOSEN] for gap in gaps.values())
    return [
        Fact("best_setting", _words(best), f"best setting: {_words(best)}, {gaps[best]:.2f} %"),
        Fact("mean_gap_best_setting", gaps[best], ""),
        Fact(
            "mean_gap_paper_setting",
            gaps[CHOSEN],
            f"the paper's choice: {_words(CHOSEN)}, {gaps[CHOSEN]:.2f} %, place {place} of"
            f" {len(gaps)}",
        ),
    ]


def plan_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the setting that the orthogonal plan alone would choose: the best levels by mean."""
    mine = [row for row in rows if row["in_plan"]]
    chosen = tuple(
        min(levels, key=lambda level: mean([row for row in mine if row[name] == level], "mean_gap"))
        for name, levels in FACTORS.items()
    )
    gap = mean([row for row in rows if _levels(row) == chosen], "mean_gap")
    sentence = (
        f"an orthogonal plan of {len(PLAN)} of them (the paper does not print its own) would"
        f" choose: {_words(chosen)}, {gap:.2f} %"
    )
    return [Fact("plan_setting", _words(chosen), sentence), Fact("mean_gap_plan_setting", gap, "")]


def _levels(row: TableRow) -> tuple[Cell, ...]:
    return tuple(row[name] for name in FACTORS)


def _words(levels: Sequence[Cell]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(FACTORS, levels, strict=True))
