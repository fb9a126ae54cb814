"""Soca et al. 2010: PUGACE, cellular evolutionary algorithms on a GPU.

The printed figures are from ten runs on a GeForce 9800 GTX+ and on one core of a Pentium. The paper
tried an orthogonal subset of 54 combinations of settings, and prints only its choice. Here, all 54
are run, and a fact states what a smallest orthogonal subset (18 combinations) would choose.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean
from typing import Any

from islands.problems.base import Problem
from islands.studies.papers.cells import Cell, Fact, TableRow
from islands.studies.papers.rows import matching, mean, mean_ratio, numbers, significance
from islands.studies.papers.table import Paper, PaperTable
from islands.tables import Row

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
"""An orthogonal subset: each pair of levels of two settings occurs equally often."""

WANTED = 200
"""The target speed-up over the paper's GPU."""


class CalibrationTable(PaperTable, of="soca2010/calibration"):
    """The paper's parameter study: the gaps and seconds of every combination of its levels."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the two instances; the paper does not state whether it used kra30a or kra30b."""
        return "qaplib/chr25a", "qaplib/kra30a"

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with every combination of the levels."""
        for levels in product(*FACTORS.values()):
            setting: dict[str, Any] = dict(zip(FACTORS, levels, strict=True))
            sample = self.sample(problem, **setting)
            yield self.row(problem, sample, **setting, in_plan=int(levels in PLAN))

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean gap and seconds of each level, and the best combination."""
        missing, names = {"missing": len(self.missing)}, ", ".join(self.missing)
        return [
            *(self._level_fact(rows, name) for name in FACTORS),
            *self._best_facts(rows),
            self.plan_fact(rows),
            *([self.fact("missing", rows, missing, names=names)] if self.missing else ()),
        ]

    def _level_fact(self, rows: Sequence[TableRow], name: str) -> Fact:
        """Return the means of the rows for each level of a setting."""
        words, values = [], dict[str, Cell]()
        for level in FACTORS[name]:
            level_rows = matching(rows, **{name: level})
            gap, seconds = mean(level_rows, "mean_gap"), mean(level_rows, "seconds")
            words.append(f"{level}: {gap:.2f} %, {seconds:.4f} s")
            values |= {f"mean_gap_{name}_{level}": gap, f"mean_seconds_{name}_{level}": seconds}
        values = {f"levels_{name}": len(words), **values}
        return self.fact("level", rows, values, setting=name, means=";  ".join(words))

    def _best_facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the combination with the smallest mean gap, and the paper's choice."""
        combinations = dict.fromkeys(tuple(row[name] for name in FACTORS) for row in rows)
        gaps = {levels: _gap(rows, levels) for levels in combinations}
        best = min(gaps, key=lambda levels: gaps[levels])
        place = 1 + sum(gap < gaps[CHOSEN] for gap in gaps.values())
        values: dict[str, Cell] = {"best_setting": _words(best)}
        values["mean_gap_best_setting"] = gaps[best]
        own, words = {"mean_gap_paper_setting": gaps[CHOSEN]}, _words(CHOSEN)
        return [
            self.fact("best", rows, values),
            self.fact("chosen", rows, own, chosen=words, place=place, places=len(gaps)),
        ]

    @classmethod
    def plan_fact(cls, rows: Sequence[TableRow]) -> Fact:
        """Return the setting that the plan alone would choose: the levels with the best means."""
        plan_rows = matching(rows, in_plan=1)
        chosen = tuple(
            min(levels, key=lambda level: mean(matching(plan_rows, **{name: level}), "mean_gap"))
            for name, levels in FACTORS.items()
        )
        gap, words = _gap(rows, chosen), _words(chosen)
        values: dict[str, Cell] = {"plan_setting": words, "mean_gap_plan_setting": gap}
        return cls.fact("plan", rows, values, size=len(PLAN))


def _gap(rows: Sequence[TableRow], levels: tuple[Cell, ...]) -> float:
    return mean(matching(rows, **dict(zip(FACTORS, levels, strict=True))), "mean_gap")


def _words(levels: Sequence[Cell]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(FACTORS, levels, strict=True))


class PerformanceTable(PaperTable, of="soca2010/performance"):
    """Table III: our seconds, the paper's two columns, and our CPU as the sequential version."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Time an instance: all runs in one batch, one run alone, and the CPU."""
        paper, sample = self.printed()[problem.instance], self.sample(problem)
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
        gpu = {"least_speedup_gpu": min(ratios), "as_fast_as_wanted": enough}
        cpu = {"mean_speedup_sequential": mean_ratio(rows, "sequential_seconds", "seconds")}
        return [
            self.fact("gpu", rows, gpu, wanted=WANTED),
            self.fact("sequential", rows, cpu, printed=mean(rows, "paper_speedup")),
            *self.speedup_facts(rows),
        ]


class QualityTable(PaperTable, of="soca2010/quality"):
    """Table II: hits and gaps, ours and the paper's; if no run hits, also elitist replacement."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of table II, then those only in table III."""
        return [*dict.fromkeys([*cls.printed(), *PerformanceTable.printed()])]

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance; if no run hits, also with elitist replacement."""
        sample, paper = self.sample(problem), self.printed().get(problem.instance, {})
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
        gaps = {"mean_best_gap": mean(rows, "best_gap"), "mean_gap": mean(rows, "mean_gap")}
        printed = [gap for (gap,) in numbers(rows, "paper_gap")]
        theirs = f" ({fmean(printed):.2f} % in the paper)" if printed else ""
        pairs = numbers(rows, "best_gap", "paper_gap")
        return [
            self._reached_fact(rows),
            self.fact("gaps", rows, gaps, theirs=theirs),
            *significance("best_gap", "gaps of our best runs and those of the paper", pairs),
        ]

    def _reached_fact(self, rows: Sequence[TableRow]) -> Fact:
        """Return the number of instances with hits, for the paper's replacement and for either."""
        hit = [row for row in rows if row["hits"]]
        elitist = [row for row in rows if row.get("elitist_hits")]
        never = [row for row in rows if row not in hit and row not in elitist]
        printed = numbers(rows, "paper_gap")
        return self.fact(
            "reached",
            rows,
            {"reached": len(hit), "reached_with_either": len(hit) + len(elitist)},
            elitist=_named(" and with elitist replacement on", elitist),
            never=_named(", never on", never),
            theirs=sum(gap == 0 for (gap,) in printed),
            printed=len(printed),
        )


def _named(words: str, rows: Sequence[TableRow]) -> str:
    return f"{words} {', '.join(str(row['instance']) for row in rows)}" if rows else ""


PAPER = Paper.of("soca2010", CalibrationTable, QualityTable, PerformanceTable)
