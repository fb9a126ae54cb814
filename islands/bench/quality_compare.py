"""Compare the runs of `quality` with those of an earlier measurement, method by method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar

import numpy as np

from islands.bench.base import METHOD, RecordRow
from islands.bench.quality_rows import TARGETS
from islands.bench.quality_runs import RunRow, by_key, with_references
from islands.bench.quality_tests import marked
from islands.statistics import holm, mann_whitney
from islands.tables import Column, Table


@dataclass(frozen=True)
class Change(RecordRow):
    """A method on an instance, before and now; gaps are compared at the shorter time limit."""

    table: ClassVar[Table] = Table(
        "changes",
        (
            Column("instance", "instance", 18, "<"),
            Column("gap_before", "gap before", 9, ".4f"),
            Column("gap_now", "now", 9, ".4f"),
            Column("gap_difference", "difference", 10, "+.4f"),
            Column("target", "target", 12, "<"),
            Column("seconds_before", "s before", 8, ".2f"),
            Column("seconds_now", "now", 8, ".2f"),
            Column("seconds_ratio", "ratio", 6, ".2f"),
            Column("p", "p", 9, marked),
            Column("a", "A", 4, ".2f"),
            METHOD,
        ),
        above="Gaps after the shorter time limit, and median seconds to the target. p: Mann and"
        " Whitney's test of the\ngaps, or of the times if all runs end with the same gap,"
        " corrected by Holm's method; A: P(now is better). A ratio above 1 is faster.",
    )

    instance: str
    backend: str
    method: str
    devices: Sequence[str]
    """The device before and now."""
    limit: float
    gap_before: float | None
    """The mean of the runs; None if one has no solution."""
    gap_now: float | None
    gap_difference: float | None
    """Negative is better now."""
    target: str | None
    """The smallest gap that half of the runs reached, before and now."""
    seconds_before: float | None
    seconds_now: float | None
    seconds_ratio: float | None
    """Before over now: more than 1 is faster now."""
    p: float
    a: float
    """The probability that a run is better now, ties counted half."""


def changes(before: Sequence[RunRow], now: Sequence[RunRow]) -> Iterator[Change]:
    """Yield the change of each method on each instance that both measurements have.

    Devices and numbers of ranks may differ, which is what is compared then.
    """
    earlier, later = by_key(before), by_key(now)
    found = [_change(earlier[key], rows) for key, rows in later.items() if key in earlier]
    for change, p in zip(found, holm([each.p for each in found]), strict=True):
        yield replace(change, p=p)


def _change(before: Sequence[RunRow], now: Sequence[RunRow]) -> Change:
    both = with_references([*before, *now])
    old, new = both[: len(before)], both[len(before) :]
    limit = min(old[0].limit, new[0].limit)
    gaps = [_gaps(rows, limit) for rows in (old, new)]
    means = [fmean(each) if np.isfinite(each).all() else None for each in gaps]
    target, times = _times(old, new)
    if len({*gaps[0], *gaps[1]}) == 1:
        to_best = [[row.curve("").time_to(row.final) for row in rows] for rows in (old, new)]
        test = mann_whitney(to_best[1], to_best[0])
    else:
        test = mann_whitney(gaps[1], gaps[0])
    return Change(
        *new[0].key,
        devices=[old[0].device, new[0].device],
        limit=limit,
        gap_before=means[0],
        gap_now=means[1],
        gap_difference=None if None in means else means[1] - means[0],  # type: ignore[operator]
        target=target,
        seconds_before=times[0] if times else None,
        seconds_now=times[1] if times else None,
        seconds_ratio=max(times[0], 1e-3) / max(times[1], 1e-3) if times else None,
        p=test.p,
        a=test.a,
    )


def _gaps(rows: Sequence[RunRow], limit: float) -> list[float]:
    """Return the gap of each run at a time, or at its end if it ended around that time."""
    return [
        row.final if row.limit <= limit else float(row.curve("").at(np.array([limit]))[0])
        for row in rows
    ]


def _times(
    old: Sequence[RunRow], new: Sequence[RunRow]
) -> tuple[str | None, tuple[float, float] | None]:
    """Return the smallest target with both median times."""
    for name, gap in sorted(TARGETS.items(), key=lambda each: each[1]):
        before, now = (
            float(
                np.quantile(
                    [row.curve("").time_to(gap) for row in rows], 0.5, method="inverted_cdf"
                )
            )
            for rows in (old, new)
        )
        if np.isfinite(before) and np.isfinite(now):
            return name, (before, now)
    return None, None
