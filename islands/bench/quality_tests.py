"""Tests of the differences between methods: each against the first, on each instance and on all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from islands.bench.base import RecordRow
from islands.bench.quality_runs import RunRow, by_key, labels
from islands.report.curves import target_of
from islands.statistics import SIGNIFICANT, against, holm, mann_whitney, mean_ranks
from islands.tables import Column, Table

Methods = Mapping[tuple[str, str], str]


def marked(p: float) -> str:
    """Return a p-value as text; a significant one has a star."""
    return f"{p:.2g}{'*' if p < SIGNIFICANT else ' '}"


@dataclass(frozen=True)
class ContrastRow(RecordRow):
    """A method against the first one on an instance; p-values are corrected by Holm's method.

    Those of the gaps form one family, those of the times another.
    """

    table: ClassVar[Table] = Table(
        "quality_tests",
        (
            Column("instance", "instance", 18, "<"),
            Column("runs", "runs", 5),
            Column("p_gap", "p gap", 9, marked),
            Column("a_gap", "A", 4, ".2f"),
            Column("effect_gap", "effect", 10, "<"),
            Column("p_time", "p time", 9, marked),
            Column("a_time", "A", 4, ".2f"),
            Column("effect_time", "effect", 10, "<"),
            Column("target", "target", 7, ".4f"),
            Column("method", "method", form="<"),
        ),
        above="Each method against the first one. A: the probability that its run has the smaller"
        " final gap, or the\nsmaller time to the target. p: Mann and Whitney's test, corrected by"
        " Holm's method; *: below 0.05",
    )

    instance: str
    first: str
    method: str
    runs: int
    p_gap: float
    """Of the final gaps."""
    a_gap: float
    """The probability that the method has the smaller gap, ties counted half."""
    effect_gap: str
    target: float
    """The gap to which times are compared: the best known value, or the median of all gaps."""
    p_time: float
    a_time: float
    effect_time: str


@dataclass(frozen=True)
class RankRow(RecordRow):
    """The mean rank of a method over all problems; a problem is an instance with a seed."""

    table: ClassVar[Table] = Table(
        "quality_ranks",
        (
            Column("mean_rank", "mean rank", form=".2f"),
            Column("problems", "problems"),
            Column("p", "p", 9, marked),
            Column("method", "method", form="<"),
        ),
        above="All instances and seeds. p: Wilcoxon's signed-rank test against the first method,"
        " Holm",
    )

    method: str
    problems: int
    mean_rank: float
    """Of the final gap; 1 is the best."""
    p: float | None


def contrasts(rows: Sequence[RunRow]) -> Iterator[ContrastRow]:
    """Yield the tests of each method against the first one of its instance."""
    names, samples = labels(rows), by_key(rows)
    found = []
    for instance in dict.fromkeys(row.instance for row in rows):
        mine = {names[key[1:]]: each for key, each in samples.items() if key[0] == instance}
        first, *others = mine
        found += [_contrast(instance, first, other, mine, rows) for other in others]
    gaps, times = holm([each.p_gap for each in found]), holm([each.p_time for each in found])
    for row, gap, time in zip(found, gaps, times, strict=True):
        yield replace(row, p_gap=gap, p_time=time)


def _contrast(
    instance: str,
    first: str,
    other: str,
    mine: Mapping[str, Sequence[RunRow]],
    rows: Sequence[RunRow],
) -> ContrastRow:
    one, two = mine[other], mine[first]
    curves = [row.curve("") for row in rows if row.instance == instance]
    target = 0.0 if one[0].is_known and any(row.hits for row in (*one, *two)) else target_of(curves)
    gaps = mann_whitney([row.final for row in one], [row.final for row in two])
    times = mann_whitney(*([row.curve("").time_to(target) for row in each] for each in (one, two)))
    return ContrastRow(
        instance=instance,
        first=first,
        method=other,
        runs=len(one),
        p_gap=gaps.p,
        a_gap=gaps.a,
        effect_gap=gaps.size,
        target=target,
        p_time=times.p,
        a_time=times.a,
        effect_time=times.size,
    )


def rank_rows(rows: Sequence[RunRow]) -> Iterator[RankRow]:
    """Yield the mean rank of each method over the problems that all methods have run."""
    names = labels(rows)
    finals: dict[str, dict[tuple[str, int], float]] = {}
    for row in rows:
        label = names[row.backend, row.method]
        finals.setdefault(label, {})[row.instance, row.seed] = row.final
    common = sorted(set.intersection(*(set(each) for each in finals.values()))) if finals else []
    if len(finals) < 2 or len(common) < 2:
        return
    losses = np.array([[each[key] for each in finals.values()] for key in common])
    for name, rank, p in zip(finals, mean_ranks(losses), against(losses, 0), strict=True):
        yield RankRow(name, len(common), rank, p)
