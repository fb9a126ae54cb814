"""The rows of the benchmark `quality`: one per instance, one per group of instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from islands.bench.base import BenchRow
from islands.text import count


@dataclass(frozen=True)
class QualityRow(BenchRow):
    """One instance; gaps are to the best known value, in per cent, negative if better."""

    TABLE: ClassVar[str] = "quality"
    HEADER: ClassVar[str] = (
        "instance               n    m      known  runs  hits       best   mean gap  worst gap"
        "   seconds  to best    evals      HiGHS    gap  seconds"
    )

    device: str
    instance: str
    group: str
    size: int
    constraints: int | None
    known: float | None
    runs: int
    hits: int
    """Runs that reached the best known value."""
    best: float | None
    mean_gap: float | None
    worst_gap: float | None
    seconds: float
    """Mean time of a run, without compilation."""
    seconds_to_best: float
    """Estimated time until the best individual was found, from its generation."""
    evaluations: float
    highs: float | None
    highs_gap: float | None
    highs_seconds: float | None
    highs_proved: bool | None

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.instance:<18} {self.size:>5} {_shown(self.constraints, 4)}"
            f" {_shown(self.known, 10)} {self.runs:>5} {self.hits:>5} {_shown(self.best, 10)}"
            f" {_percent(self.mean_gap, 10)} {_percent(self.worst_gap, 10)} {self.seconds:>9.2f}"
            f" {self.seconds_to_best:>8.2f} {count(self.evaluations):>8}"
            f" {_shown(self.highs, 10)} {_percent(self.highs_gap, 6)}"
            f" {'-' if self.highs_seconds is None else f'{self.highs_seconds:.2f}':>8}"
        )


@dataclass(frozen=True)
class QualityMeans(BenchRow):
    """Summary of a group of instances."""

    TABLE: ClassVar[str] = "quality_means"
    HEADER: ClassVar[str] = (
        "group              instances  reached  always     runs     hits   mean gap  worst gap"
        "   seconds   HiGHS reached  mean gap  proved"
    )

    group: str
    instances: int
    reached: int
    """Instances on which at least one run reached the best known value."""
    always: int
    """Instances on which all runs reached it."""
    runs: int
    hits: int
    mean_gap: float | None
    """Mean over the instances of the mean gap of their runs."""
    worst_gap: float | None
    seconds: float
    highs_reached: int | None
    highs_mean_gap: float | None
    highs_proved: int | None

    @classmethod
    def of(cls, group: str, rows: Sequence[QualityRow]) -> QualityMeans:
        """Return the summary of rows."""
        gaps = [row.mean_gap for row in rows if row.mean_gap is not None]
        worst = [row.worst_gap for row in rows if row.worst_gap is not None]
        compared = [row for row in rows if row.highs_seconds is not None]
        theirs = [row.highs_gap for row in compared if row.highs_gap is not None]
        return cls(
            group=group,
            instances=len(rows),
            reached=sum(row.hits > 0 for row in rows),
            always=sum(row.hits == row.runs for row in rows),
            runs=sum(row.runs for row in rows),
            hits=sum(row.hits for row in rows),
            mean_gap=fmean(gaps) if gaps else None,
            worst_gap=max(worst, default=None),
            seconds=fmean(row.seconds for row in rows),
            highs_reached=sum(gap <= 0 for gap in theirs) if compared else None,
            highs_mean_gap=fmean(theirs) if theirs else None,
            highs_proved=sum(bool(row.highs_proved) for row in compared) if compared else None,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.group:<18} {self.instances:>9} {self.reached:>8} {self.always:>7}"
            f" {self.runs:>8} {self.hits:>8} {_percent(self.mean_gap, 10)}"
            f" {_percent(self.worst_gap, 10)} {self.seconds:>9.2f} {_shown(self.highs_reached, 15)}"
            f" {_percent(self.highs_mean_gap, 9)} {_shown(self.highs_proved, 7)}"
        )


def _shown(value: float | None, width: int) -> str:
    return f"{'-' if value is None else value:>{width}}"


def _percent(value: float | None, width: int) -> str:
    return f"{'-' if value is None else f'{value:.3f}':>{width}}"
