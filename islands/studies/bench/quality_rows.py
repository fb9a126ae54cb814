"""The tables of the benchmark `quality`: of each method on an instance, and on groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from islands.studies.bench.base import table
from islands.studies.bench.quality_runs import RunRow
from islands.tables import Row

KNOWN = "best known"
TARGETS = {"1 %": 1.0, "0.1 %": 0.1, "0.01 %": 0.01, KNOWN: 0.0}
"""Gaps, by name; the last is the reference of an instance."""
SHARES = (10, 50, 90)
"""Shares of runs, in per cent, whose time to a gap is shown."""

TARGET = table("quality_targets")
QUALITY = table("quality")
MEANS = table("quality_means")
MOMENTS = table("quality_moments")
_HALF = {"to_1": "1 %", "to_0_1": "0.1 %", "to_0_01": "0.01 %"}
"""Columns of the median seconds to a gap."""


def at_shares(times: Sequence[float]) -> dict[str, float | None]:
    """Return the seconds until 10, 50 and 90 % of the runs had reached a gap; None: not yet."""
    found = np.quantile(times, [share / 100 for share in SHARES], method="inverted_cdf")
    return {
        f"seconds_{share}": float(seconds) if np.isfinite(seconds) else None
        for share, seconds in zip(SHARES, found, strict=True)
    }


def target_row(target: str, rows: Sequence[RunRow]) -> Row:
    """Return the row of a target for the runs of one method on one instance."""
    times = [row.curve("").time_to(TARGETS[target]) for row in rows]
    reached = int(np.isfinite(times).sum())
    key = rows[0].key_cells()
    return TARGET.row(**key, target=target, runs=len(rows), reached=reached, **at_shares(times))


def quality_row(rows: Sequence[RunRow]) -> Row:
    """Return the row of the runs of one method on one instance."""
    first, costs = rows[0], [row.cost for row in rows if row.cost is not None]
    gaps = [row.final for row in rows if row.is_known and np.isfinite(row.final)]
    targets = {name: target_row(name, rows) for name in TARGETS}
    times = {name: targets[target]["seconds_50"] for name, target in _HALF.items()}
    times |= {f"to_known_{share}": targets[KNOWN][f"seconds_{share}"] for share in SHARES}
    shared = ("device", "group", "size", "constraints")
    return QUALITY.row(
        **first.key_cells(),
        **{name: getattr(first, name) for name in shared},
        known=first.reference if first.is_known else None,
        runs=len(rows),
        hits=sum(row.hits for row in rows),
        best=(max if first.maximise else min)(costs, default=None),
        **_gaps(gaps, gaps),
        seconds=fmean(row.seconds for row in rows),
        seconds_to_best=fmean(row.seconds_to_best for row in rows),
        evaluations=fmean(row.evaluations for row in rows),
        proved=sum(row.proved for row in rows),
        **(times if first.is_known else dict.fromkeys(times)),
    )


def means_row(group: str, rows: Sequence[Row]) -> Row:
    """Return the summary of the rows of one method."""
    means, worst = (
        [row[name] for row in rows if row[name] is not None] for name in ("mean_gap", "worst_gap")
    )
    return MEANS.row(
        group=group,
        backend=rows[0]["backend"],
        method=rows[0]["method"],
        instances=len(rows),
        reached=sum(row["hits"] > 0 for row in rows),
        always=sum(row["hits"] == row["runs"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in ("runs", "hits", "proved")},
        **_gaps(means, worst),
        seconds=fmean(row["seconds"] for row in rows),
    )


def _gaps(means: Sequence[float], worst: Sequence[float]) -> Mapping[str, float | None]:
    return {"mean_gap": fmean(means) if means else None, "worst_gap": max(worst, default=None)}


def moment_rows(group: str, rows: Sequence[RunRow]) -> Iterator[Row]:
    """Yield the row of each time up to the limit for the runs of one method."""
    shared = {"group": group, "backend": rows[0].backend, "method": rows[0].method}
    for seconds in moments(rows[0].limit):
        gaps = [float(row.curve("").at(np.array([seconds]))[0]) for row in rows]
        mean = fmean(gaps) if np.isfinite(gaps).all() else None
        hits = sum(gap <= 0 for gap in gaps)
        yield MOMENTS.row(**shared, seconds=seconds, runs=len(rows), hits=hits, mean_gap=mean)


def moments(limit: float) -> list[float]:
    """Return 0.1, 0.2, 0.5, 1, ... up to the limit, which is the last."""
    steps = [step * 10.0**power for power in range(-1, 6) for step in (1, 2, 5)]
    return [*(round(each, 1) for each in steps if each < 0.999 * limit), limit]
