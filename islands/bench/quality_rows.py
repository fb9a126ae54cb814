"""The rows of the benchmark `quality`: of each method on an instance, and on groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from islands.bench.base import METHOD, RecordRow
from islands.bench.quality_runs import RunRow
from islands.tables import Column, Table
from islands.text import count

KNOWN = "best known"
TARGETS = {"1 %": 1.0, "0.1 %": 0.1, "0.01 %": 0.01, KNOWN: 0.0}
"""Gaps, by name; the last is the reference of an instance."""
_SHARES = (0.1, 0.5, 0.9)


def at_shares(times: Sequence[float]) -> list[float | None]:
    """Return the seconds until 10, 50 and 90 % of the runs had reached a gap; None: not yet."""
    found = np.quantile(times, _SHARES, method="inverted_cdf")
    return [float(each) if np.isfinite(each) else None for each in found]


@dataclass(frozen=True)
class TargetRow(RecordRow):
    """When the runs of a method reached a gap on an instance."""

    table: ClassVar[Table] = Table("quality_targets", ())

    instance: str
    backend: str
    method: str
    target: str
    runs: int
    reached: int
    seconds_10: float | None
    """Seconds until 10 % of the runs had reached it; None if fewer did."""
    seconds_50: float | None
    seconds_90: float | None

    @classmethod
    def of(cls, target: str, rows: Sequence[RunRow]) -> TargetRow:
        """Return the row of a target for the runs of one method on one instance."""
        times = [row.curve("").time_to(TARGETS[target]) for row in rows]
        reached = int(np.isfinite(times).sum())
        return cls(*rows[0].key, target, len(rows), reached, *at_shares(times))


@dataclass(frozen=True)
class QualityRow(RecordRow):
    """One method on one instance; gaps are to the best known value, in per cent."""

    table: ClassVar[Table] = Table(
        "quality",
        (
            Column("instance", "instance", 18, "<"),
            Column("size", "n", 5),
            Column("known", "known", 9),
            Column("runs", "runs"),
            Column("hits", "hits"),
            Column("best", "best", 9),
            Column("mean_gap", "mean gap", 9, ".4f"),
            Column("worst_gap", "worst gap", 9, ".4f"),
            Column("seconds", "seconds", 7, ".2f"),
            *(
                Column(name, title, 6, ".2f", group="median seconds to")
                for name, title in (("to_1", "1 %"), ("to_0_1", "0.1 %"), ("to_0_01", "0.01 %"))
            ),
            *(
                Column(f"to_known_{each}", f"{each} %", 6, ".2f", group="best known at % of runs")
                for each in (10, 50, 90)
            ),
            Column("evaluations", "evals", 6, count),
            METHOD,
        ),
    )

    instance: str
    backend: str
    method: str
    device: str
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
    """Mean time of the search."""
    seconds_to_best: float
    """Mean time until the best cost was seen."""
    to_1: float | None
    """Median seconds to a gap of 1 %; None if fewer than half of the runs reached it."""
    to_0_1: float | None
    to_0_01: float | None
    to_known_10: float | None
    """Seconds until 10 % of the runs had reached the best known value."""
    to_known_50: float | None
    to_known_90: float | None
    evaluations: float
    proved: int
    """Runs of a rival that proved their solution optimal."""

    @classmethod
    def of(cls, rows: Sequence[RunRow]) -> QualityRow:
        """Return the row of the runs of one method on one instance."""
        first, costs = rows[0], [row.cost for row in rows if row.cost is not None]
        gaps = [row.final for row in rows if row.is_known and np.isfinite(row.final)]
        half = {name: TargetRow.of(name, rows).seconds_50 for name in TARGETS}
        known = TargetRow.of(KNOWN, rows)
        seconds = (*list(half.values())[:3], known.seconds_10, known.seconds_50, known.seconds_90)
        columns = ("to_1", "to_0_1", "to_0_01", "to_known_10", "to_known_50", "to_known_90")
        shown = seconds if first.is_known else [None] * len(columns)
        times: dict[str, Any] = dict(zip(columns, shown, strict=True))
        return cls(
            *first.key,
            device=first.device,
            group=first.group,
            size=first.size,
            constraints=first.constraints,
            known=first.reference if first.is_known else None,
            runs=len(rows),
            hits=sum(row.hits for row in rows),
            best=(max if first.maximise else min)(costs, default=None),
            mean_gap=fmean(gaps) if gaps else None,
            worst_gap=max(gaps, default=None),
            seconds=fmean(row.seconds for row in rows),
            seconds_to_best=fmean(row.seconds_to_best for row in rows),
            evaluations=fmean(row.evaluations for row in rows),
            proved=sum(row.proved for row in rows),
            **times,
        )


@dataclass(frozen=True)
class QualityMeans(RecordRow):
    """The summary of one method on a group of instances."""

    table: ClassVar[Table] = Table(
        "quality_means",
        (
            Column("group", "group", 18, "<"),
            *(Column(each, each) for each in ("instances", "reached", "always")),
            *(Column(each, each, 6) for each in ("runs", "hits", "proved")),
            Column("mean_gap", "mean gap", 9, ".4f"),
            Column("worst_gap", "worst gap", 9, ".4f"),
            Column("seconds", "seconds", 8, ".2f"),
            METHOD,
        ),
    )

    group: str
    backend: str
    method: str
    instances: int
    reached: int
    """Instances on which at least one run reached the best known value."""
    always: int
    """Instances on which all runs reached it."""
    runs: int
    hits: int
    proved: int
    mean_gap: float | None
    """Mean over the instances of the mean gap of their runs."""
    worst_gap: float | None
    seconds: float

    @classmethod
    def of(cls, group: str, rows: Sequence[QualityRow]) -> QualityMeans:
        """Return the summary of the rows of one method."""
        gaps = [row.mean_gap for row in rows if row.mean_gap is not None]
        worst = [row.worst_gap for row in rows if row.worst_gap is not None]
        return cls(
            group=group,
            backend=rows[0].backend,
            method=rows[0].method,
            instances=len(rows),
            reached=sum(row.hits > 0 for row in rows),
            always=sum(row.hits == row.runs for row in rows),
            runs=sum(row.runs for row in rows),
            hits=sum(row.hits for row in rows),
            proved=sum(row.proved for row in rows),
            mean_gap=fmean(gaps) if gaps else None,
            worst_gap=max(worst, default=None),
            seconds=fmean(row.seconds for row in rows),
        )


@dataclass(frozen=True)
class MomentRow(RecordRow):
    """The state of the runs of one method on a group of instances at one time."""

    table: ClassVar[Table] = Table(
        "quality_moments",
        (
            Column("group", "group", 18, "<"),
            Column("seconds", "after s", 8, "g"),
            Column("runs", "runs", 6),
            Column("hits", "hits", 6),
            Column("mean_gap", "mean gap", 9, ".4f"),
            METHOD,
        ),
    )

    group: str
    backend: str
    method: str
    seconds: float
    runs: int
    hits: int
    """Runs at the reference of their instance."""
    mean_gap: float | None
    """Mean over all runs; None while one of them has no solution."""

    @classmethod
    def all_of(cls, group: str, rows: Sequence[RunRow]) -> Iterator[MomentRow]:
        """Yield the row of each time up to the limit for the runs of one method."""
        for seconds in moments(rows[0].limit):
            gaps = [float(row.curve("").at(np.array([seconds]))[0]) for row in rows]
            mean = fmean(gaps) if np.isfinite(gaps).all() else None
            at = sum(gap <= 0 for gap in gaps)
            yield cls(group, rows[0].backend, rows[0].method, seconds, len(rows), at, mean)


def moments(limit: float) -> list[float]:
    """Return 0.1, 0.2, 0.5, 1, ... up to the limit, which is the last."""
    steps = [step * 10.0**power for power in range(-1, 6) for step in (1, 2, 5)]
    return [*(round(each, 1) for each in steps if each < 0.999 * limit), limit]
