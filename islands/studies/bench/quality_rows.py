"""The tables of `quality`: methods on instances and groups of instances, and statistical tests."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from statistics import fmean

import numpy as np

from islands.statistics import SIGNIFICANT, against, holm, mean_ranks
from islands.studies.bench.base import table
from islands.studies.bench.quality_runs import KEY, RunRow, grouped, labels, with_references
from islands.studies.pages.curves import final_losses, target_of
from islands.studies.significance import mann_whitney
from islands.tables import Row

KNOWN = "best known"
TARGETS = {"1 %": 1.0, "0.1 %": 0.1, "0.01 %": 0.01, KNOWN: 0.0}
"""The target gaps in per cent by name; the last one is the best known value."""
SHARES = (10, 50, 90)
"""The shown quantiles of the times to a gap, in per cent of the runs."""

TARGET = table("quality_targets")
QUALITY = table("quality")
MEANS = table("quality_means")
MOMENTS = table("quality_moments")
_MEDIANS = {"to_1": "1 %", "to_0_1": "0.1 %", "to_0_01": "0.01 %"}
"""The names of the targets for the columns with median seconds."""


def at_shares(times: Sequence[float]) -> dict[str, float | None]:
    """Return the seconds until 10, 50 and 90 % of the runs reached a gap; None if they did not."""
    quantiles = np.quantile(times, [share / 100 for share in SHARES], method="inverted_cdf")
    return {
        f"seconds_{share}": float(seconds) if np.isfinite(seconds) else None
        for share, seconds in zip(SHARES, quantiles, strict=True)
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
    times = {name: targets[target]["seconds_50"] for name, target in _MEDIANS.items()}
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
    """Yield a row for each of the `moments`, with the gaps of the runs of one method."""
    shared = {"group": group, "backend": rows[0].backend, "method": rows[0].method}
    for seconds in moments(rows[0].limit):
        gaps = [float(row.curve("").at(np.array([seconds]))[0]) for row in rows]
        mean = fmean(gaps) if np.isfinite(gaps).all() else None
        hits = sum(gap <= 0 for gap in gaps)
        yield MOMENTS.row(**shared, seconds=seconds, runs=len(rows), hits=hits, mean_gap=mean)


def moments(limit: float) -> list[float]:
    """Return the times 0.1, 0.2, 0.5, 1, ... up to and including the limit."""
    steps = [step * 10.0**power for power in range(-1, 6) for step in (1, 2, 5)]
    return [*(round(step, 1) for step in steps if step < 0.999 * limit), limit]


def marked(p: float) -> str:
    """Return a p-value as text; a significant one has a star."""
    return f"{p:.2g}{'*' if p < SIGNIFICANT else ' '}"


CONTRASTS = table("quality_tests", marked=marked)
RANKS = table("quality_ranks", marked=marked)
CHANGES = table("changes", marked=marked)


def contrasts(rows: Sequence[RunRow]) -> Iterator[Row]:
    """Yield the tests of each method against the first one on the same instance."""
    names, tests = labels(rows), list[Row]()
    for of_instance in grouped(rows, attrgetter("instance")):
        groups = grouped(of_instance, KEY)
        rows_of = {names[rows[0].backend, rows[0].method]: rows for rows in groups}
        first, *others = rows_of
        tests += [_contrast(first, other, rows_of) for other in others]
    gaps, times = (holm([row[name] for row in tests]) for name in ("p_gap", "p_time"))
    for row, gap, time in zip(tests, gaps, times, strict=True):
        yield row.but(p_gap=gap, p_time=time)


def _contrast(first: str, other: str, rows_of: Mapping[str, Sequence[RunRow]]) -> Row:
    of_other, of_first = rows_of[other], rows_of[first]
    curves = [row.curve("") for rows in rows_of.values() for row in rows]
    is_hit = of_other[0].is_known and any(row.hits for row in (*of_other, *of_first))
    target = 0.0 if is_hit else target_of(curves)
    samples = of_other, of_first
    gaps = mann_whitney(*([row.final for row in rows] for rows in samples))
    times = mann_whitney(*([row.curve("").time_to(target) for row in rows] for rows in samples))
    return CONTRASTS.row(
        instance=of_other[0].instance,
        first=first,
        method=other,
        runs=len(of_other),
        p_gap=gaps.p,
        a_gap=gaps.a,
        effect_gap=gaps.size,
        target=target,
        p_time=times.p,
        a_time=times.a,
        effect_time=times.size,
    )


def rank_rows(rows: Sequence[RunRow]) -> Iterator[Row]:
    """Yield the mean rank of each method over the problems that all methods have run."""
    names = labels(rows)
    methods, losses = final_losses([row.curve(names[row.backend, row.method]) for row in rows])
    if len(methods) < 2 or len(losses) < 2:
        return
    for name, rank, p in zip(methods, mean_ranks(losses), against(losses, 0), strict=True):
        yield RANKS.row(method=name, problems=len(losses), mean_rank=rank, p=p)


def changes(before: Sequence[RunRow], now: Sequence[RunRow]) -> Iterator[Row]:
    """Yield the change of each method on each instance that both measurements have.

    They may have different devices or numbers of ranks, which are then compared.
    """
    earlier = {KEY(rows[0]): rows for rows in grouped(before, KEY)}
    changes = [
        _change(earlier[KEY(rows[0])], rows)
        for rows in grouped(now, KEY)
        if KEY(rows[0]) in earlier
    ]
    for change, p in zip(changes, holm([change["p"] for change in changes]), strict=True):
        yield change.but(p=p)


def _change(before: Sequence[RunRow], now: Sequence[RunRow]) -> Row:
    both = with_references([*before, *now])
    old, new = both[: len(before)], both[len(before) :]
    limit = min(old[0].limit, new[0].limit)
    # The gap at the shorter limit; a run with that limit may end slightly after it.
    gaps = [
        [r.final if r.limit <= limit else float(r.curve("").at(np.array([limit]))[0]) for r in rows]
        for rows in (old, new)
    ]
    means = [fmean(values) if np.isfinite(values).all() else None for values in gaps]
    target, seconds = _times(old, new)
    if len({*gaps[0], *gaps[1]}) == 1:
        to_best = [[row.curve("").time_to(row.final) for row in rows] for rows in (old, new)]
        test = mann_whitney(to_best[1], to_best[0])
    else:
        test = mann_whitney(gaps[1], gaps[0])
    return CHANGES.row(
        **new[0].key_cells(),
        devices=[old[0].device, new[0].device],
        limit=limit,
        gap_before=means[0],
        gap_now=means[1],
        gap_difference=None if None in means else means[1] - means[0],  # type: ignore[operator]
        target=target,
        seconds_before=seconds[0] if seconds else None,
        seconds_now=seconds[1] if seconds else None,
        seconds_ratio=max(seconds[0], 1e-3) / max(seconds[1], 1e-3) if seconds else None,
        p=test.p,
        a=test.a,
    )


def _times(
    old: Sequence[RunRow], new: Sequence[RunRow]
) -> tuple[str | None, tuple[float, float] | None]:
    """Return the smallest target that half of the old and new runs reached, and both medians."""
    for name, gap in sorted(TARGETS.items(), key=itemgetter(1)):
        times = [[row.curve("").time_to(gap) for row in rows] for rows in (old, new)]
        before, now = (float(np.quantile(values, 0.5, method="inverted_cdf")) for values in times)
        if np.isfinite(before) and np.isfinite(now):
            return name, (before, now)
    return None, None
