"""Soca et al. 2010: PUGACE, cellular evolutionary algorithms on a GPU.

The printed figures are of ten runs on a GeForce 9800 GTX+ and on one core of a Pentium. The paper
tried an orthogonal fraction of 54 combinations of settings, and printed its choice only. The
smallest such plan has 18 combinations; the facts of one are below the table of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

from islands.problems.base import Problem
from islands.studies.papers.cells import (
    ASSIGNMENT,
    Cell,
    Fact,
    GapPlot,
    Plot,
    TableRow,
    figures,
    matching,
    mean,
    mean_ratio,
    numbers,
    significance,
)
from islands.studies.papers.table import ALL_CORES, Paper, SampleTable
from islands.studies.papers.timing import CPU
from islands.tables import Column, Row
from islands.text import counted

INTERPRETATIONS = (
    "the fitness of the proportional selection is not stated: 1 / (1 + cost)",
    "the threads of a block share random decisions: here 64 consecutive individuals do",
    "the best individual may be lost, as in the paper; it is stored separately, and counts",
)
"""What was chosen where the paper is silent."""

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

WANTED = 200
"""The target speed-up over the paper's GPU."""


quality = partial(figures, "soca2010-quality")
"""Return hits and gap of ten runs by instance (table II); gaps are apparently of the best run.

The hits cannot all be correct: on esc16f every assignment costs 0, but six hits are printed.
"""
performance = partial(figures, "soca2010-performance")
"""Return the seconds of a run by instance (table III); two instances are not in table II."""


class CalibrationTable(SampleTable):
    """The paper's parameter study: the gaps and seconds of every combination of its levels."""

    name = "calibration"
    title = "calibration: gaps and seconds of all settings"
    interpretations = (
        *INTERPRETATIONS,
        "the paper says Kra30, which may be kra30a or kra30b; kra30a is used",
        "the paper does not print its orthogonal plan; all 54 settings run, and a plan of 18 is"
        " marked",
    )
    preset = "soca2010"
    generations = 500
    needs_all = False
    names = staticmethod(lambda: _INSTANCES)

    shown = (
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
        *map(Column, ("in_plan", "generations", "runs")),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with every combination of the levels."""
        for levels in product(*FACTORS.values()):
            setting: dict[str, Any] = dict(zip(FACTORS, levels, strict=True))
            sample = self.sample(problem, **setting)
            yield self.row(problem, sample, **setting, in_plan=int(levels in PLAN))

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gap and seconds of each level, and the best combination."""
        absent = Fact(f"missing: {', '.join(self.missing)}", {"missing": len(self.missing)})
        return [
            *(level_fact(rows, name) for name in FACTORS),
            *best_facts(rows),
            plan_fact(rows),
            *([absent] if self.missing else ()),
        ]


def level_fact(rows: Sequence[TableRow], name: str) -> Fact:
    """Return the means of the rows with each level of a setting."""
    words, values = [], dict[str, Cell]()
    for level in FACTORS[name]:
        mine = matching(rows, **{name: level})
        gap, seconds = mean(mine, "mean_gap"), mean(mine, "seconds")
        words.append(f"{level}: {gap:.2f} %, {seconds:.4f} s")
        values |= {f"mean_gap_{name}_{level}": gap, f"mean_seconds_{name}_{level}": seconds}
    return Fact(f"{name:14}  {';  '.join(words)}", {f"levels_{name}": len(words), **values})


def best_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the combination with the smallest mean gap, and the paper's choice."""
    gaps = {
        levels: mean([row for row in rows if _levels(row) == levels], "mean_gap")
        for levels in dict.fromkeys(_levels(row) for row in rows)
    }
    best = min(gaps, key=lambda levels: gaps[levels])
    place = 1 + sum(gap < gaps[CHOSEN] for gap in gaps.values())
    return [
        Fact(
            f"best setting: {_words(best)}, {gaps[best]:.2f} %",
            {"best_setting": _words(best), "mean_gap_best_setting": gaps[best]},
        ),
        Fact(
            f"the paper's choice: {_words(CHOSEN)}, {gaps[CHOSEN]:.2f} %, place {place} of"
            f" {len(gaps)}",
            {"mean_gap_paper_setting": gaps[CHOSEN]},
        ),
    ]


def plan_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the setting that the orthogonal plan alone would choose: the best levels by mean."""
    mine = matching(rows, in_plan=1)
    chosen = tuple(
        min(levels, key=lambda level: mean(matching(mine, **{name: level}), "mean_gap"))
        for name, levels in FACTORS.items()
    )
    gap = mean([row for row in rows if _levels(row) == chosen], "mean_gap")
    sentence = (
        f"an orthogonal plan of {len(PLAN)} of them (the paper does not print its own) would"
        f" choose: {_words(chosen)}, {gap:.2f} %"
    )
    return Fact(sentence, {"plan_setting": _words(chosen), "mean_gap_plan_setting": gap})


def _levels(row: TableRow) -> tuple[Cell, ...]:
    return tuple(row[name] for name in FACTORS)


def _words(levels: Sequence[Cell]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(FACTORS, levels, strict=True))


class QualityTable(SampleTable):
    """Table II: our hits and gaps and the paper's; with elitist replacement if no run hits."""

    name = "quality"
    title = "table II: hits of the best known value, and gaps"
    interpretations = (
        *INTERPRETATIONS,
        "tables II and III list different instances: this table has those of both",
        "every solution of esc16f costs 0, but the paper has 6 hits of 10: a hit is a run that"
        " ends at the best known value",
    )
    preset = "soca2010"
    generations = 5000

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of table II, then those only in table III."""
        return [*dict.fromkeys([*quality(), *performance()])]

    shown = (
        *ASSIGNMENT,
        Column("known", "known", 8, "d"),
        Column("hits", "hits", 4, "d"),
        Column("best_gap", "best %", 6, ".2f"),
        Column("mean_gap", "mean %", 6, ".2f"),
        Column("paper_hits", "2010 hits", 9, "d"),
        Column("paper_gap", "2010 %", 6, ".2f"),
        Column("elitist_hits", "elitist hits", 6, "d"),
        Column("elitist_best_gap", "best %", 6, ".2f"),
        Column("elitist_mean_gap", "mean %", 6, ".2f"),
        Column("seconds", "s/run", 9, ".4f"),
        Column("runs", "runs", 4, "d"),
        Column("generations"),
    )
    plots = (
        GapPlot(
            {
                "best_gap": "ours, best",
                "mean_gap": "ours, mean",
                "elitist_best_gap": "ours with elitist replacement, best",
                "paper_gap": "2010",
            },
            "gap, %",
        ),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance; if no run hits, also with elitist replacement."""
        sample, paper = self.sample(problem), quality().get(problem.instance, {})
        elitist = None if sample.hits else self.sample(problem, replacement="elitist")
        yield self.row(
            problem,
            sample,
            **{f"paper_{name}": paper.get(name) for name in ("hits", "gap")},
            **{
                f"elitist_{name}": None if elitist is None else getattr(elitist, name)
                for name in ("hits", "best_gap", "mean_gap")
            },
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of instances with hits, and the mean gaps."""
        best, ours = mean(rows, "best_gap"), mean(rows, "mean_gap")
        printed = [gap for (gap,) in numbers(rows, "paper_gap")]
        theirs = f"; the paper's {fmean(printed):.2f} %" if printed else ""
        sentence = f"mean gap of the best runs {best:.2f} %{theirs}; of all runs {ours:.2f} %"
        return [
            reached_fact(rows),
            Fact(sentence, {"mean_best_gap": best, "mean_gap": ours}),
            *significance(
                "best_gap",
                "gaps of the best runs, ours against 2010",
                numbers(rows, "best_gap", "paper_gap"),
            ),
        ]


def reached_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the number of instances with hits: with the paper's replacement, and with either."""
    hit = [row for row in rows if row["hits"]]
    elitist = [row for row in rows if row.get("elitist_hits")]
    never = [row for row in rows if row not in hit and row not in elitist]
    theirs = sum(gap == 0 for (gap,) in numbers(rows, "paper_gap"))
    printed = len(numbers(rows, "paper_gap"))
    sentence = (
        f"best known value reached on {len(hit)} of {counted(len(rows), 'instance')} with"
        f" generational replacement{_named(' and with elitist replacement on', elitist)}"
        f"{_named(', never on', never)}; in 2010 on {theirs} of {printed}"
    )
    either = len(hit) + len(elitist)
    return Fact(sentence, {"reached": len(hit), "reached_with_either": either})


def _named(words: str, rows: Sequence[TableRow]) -> str:
    return f"{words} {', '.join(str(row['instance']) for row in rows)}" if rows else ""


class PerformanceTable(SampleTable):
    """Table III: our seconds, the paper's two columns, and our CPU as the sequential version."""

    name = "performance"
    title = "table III: seconds of a run"
    interpretations = INTERPRETATIONS
    is_timed = True
    preset = "soca2010"
    generations = 5000
    names = staticmethod(performance)

    shown = (
        *ASSIGNMENT,
        Column("seconds", "s/run", 9, ".4f"),
        Column("alone_seconds", "s alone", 9, ".4f"),
        Column("gpu_seconds", "2010 GPU s", 10, ".2f"),
        Column("sequential_seconds", "2010 CPU s", 10, ".2f"),
        Column("speedup_gpu", "GPU/ours", 8, ".0f"),
        Column("speedup_sequential", "CPU/ours", 8, ".0f"),
        CPU,
        Column("paper_speedup", "2010 CPU/GPU", 12, ".2f"),
        *map(Column, ("evaluations", "generations", "runs")),
    )
    plots = (
        Plot(
            {"gpu_seconds": "2010, 9800 GTX+", "sequential_seconds": "2010, one CPU core"},
            with_times=True,
        ),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Time an instance: all runs in one batch, one run alone, and the CPU."""
        paper, sample = performance()[problem.instance], self.sample(problem)
        theirs = {
            "gpu_seconds": paper["gpu_seconds"],
            "sequential_seconds": paper["cpu_seconds"],
            "speedup_gpu": paper["gpu_seconds"] / self.seconds(sample),
            "speedup_sequential": paper["cpu_seconds"] / self.seconds(sample),
            "paper_speedup": paper["speedup"],
        }
        yield self.timed_row(problem, sample, theirs)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the ratios of the paper's times to ours, and of the CPU's to ours."""
        ratios = [ratio for (ratio,) in numbers(rows, "speedup_gpu")]
        enough = sum(ratio >= WANTED for ratio in ratios)
        sequential = mean_ratio(rows, "sequential_seconds", "seconds")
        printed = mean(rows, "paper_speedup")
        return [
            Fact(
                f"the paper's GPU seconds over ours: at least {min(ratios):.0f}; the"
                f" target, {WANTED}, is reached on {enough} of {counted(len(rows), 'instance')}",
                {"least_speedup_gpu": min(ratios), "as_fast_as_wanted": enough},
            ),
            Fact(
                f"mean of the paper's CPU seconds over ours: {sequential:.0f}; mean of the"
                f" speed-ups printed in these rows, over its own GPU: {printed:.2f}",
                {"mean_speedup_sequential": sequential},
            ),
            *self.speedup_facts(rows),
        ]


PAPER = Paper(
    "Soca et al. 2010, PUGACE (CEC 2010, doi:10.1109/CEC.2010.5586286)",
    (CalibrationTable, QualityTable, PerformanceTable),
    threads=(1, ALL_CORES),
    printed={"table2": "quality", "table3": "performance"},
)
