"""The rows of the benchmark `gpus`: runs on some of the ranks, and their speed-ups."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, geometric_mean, median
from typing import Any, Self

import numpy as np

from islands.configuration.resolved import Resolved
from islands.configuration.stop import time_limit
from islands.engine.build import RankOptions
from islands.parallel import World
from islands.progress import usage
from islands.studies.bench.base import spread, table
from islands.studies.bench.quality_rows import KNOWN, SHARES, at_shares
from islands.studies.bench.quality_runs import RunRow, followed
from islands.tables import Row, Table, columns_of
from islands.untrusted import content_digest


@dataclass(frozen=True)
class RestartLaw:
    """A shifted exponential model of the time to a target: T = start + Exp(mean).

    The first of p independent searches to reach the target takes start + Exp(mean / p).
    """

    start: float
    """Minimum seconds of a search."""
    mean: float
    """Mean of the seconds beyond this minimum."""

    @classmethod
    def fitted(cls, times: Sequence[float], limit: float) -> Self | None:
        """Fit the law to the times of runs; return None if fewer than two reached the target.

        Times beyond the limit are infinite. The estimates are those of maximum likelihood,
        corrected for bias: the first of n runs takes start + mean / n on average.
        """
        spent = np.sort(np.minimum(times, limit))
        reached = int(np.isfinite(times).sum())
        if reached < 2:
            return None
        mean = float((spent - spent[0]).sum()) / (reached - 1)
        start = float(spent[0]) - mean / len(spent)
        return cls(start, mean) if start >= 0 else cls(0.0, float(spent.sum()) / reached)

    def gain(self, searches: int) -> float:
        """Return the mean speed-up of several independent searches, of which the fastest counts."""
        return (self.start + self.mean) / (self.start + self.mean / searches)

    def distance(self, times: Sequence[float]) -> float:
        """Return the Kolmogorov-Smirnov distance to the runs, up to the last finite time."""
        finite = np.sort([time for time in times if np.isfinite(time)])
        rest = np.maximum(0.0, finite - self.start) / (self.mean or 1e-9)
        law, steps = 1.0 - np.exp(-rest), np.arange(len(finite) + 1) / len(times)
        return float(np.maximum(steps[1:] - law, law - steps[:-1]).max(initial=0.0))


TARGET, SPEED = "target", "speed"
"""The purpose of a run: the time to a target, or the speed over a number of generations."""
SAME, DIFFERENT, NOT_COMPARED = "same", "DIFFER", "-"
"""The results of the comparison of digests with those of one rank."""


@dataclass(frozen=True)
class GpuRunRow(RunRow):
    """A run on a number of ranks, a row of `RUNS`."""

    purpose: str
    settings: str
    """SHA-256 of the settings: runs with equal settings and seeds have equal digests."""
    digest: str
    """Empty if the time limit ended the run."""
    team: int
    """The largest number of ranks that share an island."""
    idle_ranks: int
    exchange: float
    """The share of the ranks' time in exchanges of teams, including waiting for each other."""
    migration: float
    waiting: float
    """The share in which ranks with work waited for others, outside of these exchanges."""
    idle: float
    """The share of ranks without work."""
    start_seconds: float
    """The time of generation 0."""
    start_evaluations: int

    @property
    def generations_per_second(self) -> float:
        """The speed without generation 0."""
        return self.generations / self._loop_seconds

    @property
    def evaluations_per_second(self) -> float:
        """The speed without generation 0."""
        return (self.evaluations - self.start_evaluations) / self._loop_seconds

    @property
    def _loop_seconds(self) -> float:
        return max(self.seconds - self.start_seconds, 1e-9)

    def time_to(self, gap: float) -> float:
        """Return the seconds until a gap; infinite if it is not reached within the limit."""
        seconds = self.curve("").time_to(gap)
        return seconds if seconds <= self.limit else np.inf


RUNS = Table("gpus_runs", columns_of(GpuRunRow))


def run_fields(resolved: Resolved, world: World, rank_options: RankOptions) -> dict[str, Any]:
    """Return the fields of a `GpuRunRow` that come from the result; collective."""
    fields, result, course = followed(resolved, world, rank_options)
    is_timed = result.seconds >= time_limit(resolved.spec.stop)
    # Without a report after generation 0, the speed is that of the whole run.
    first = course.first if course.first is not None and not course.first.generation else None
    first = first if result.generations > 0 else None
    return {
        **fields,
        "digest": "" if is_timed else result.digest,
        "team": result.team,
        "idle_ranks": result.idle_ranks,
        **shares(result.rank_seconds, result.idle_ranks),
        "start_seconds": first.seconds if first is not None else 0.0,
        "start_evaluations": first.evaluations if first is not None else 0,
    }


def shares(phases: Sequence[Mapping[str, float]], idle: int) -> dict[str, float]:
    """Return the share of each phase in the time of all ranks; `idle` ranks had no work.

    The ranks without work are those that waited longest, as they do nothing else.
    """
    by_work = sorted(phases, key=lambda rank: rank[usage.RANKS])
    working, without = by_work[: len(phases) - idle], by_work[len(phases) - idle :]
    whole = sum(sum(rank.values()) for rank in phases) or 1.0
    phase_of = {"exchange": usage.TEAM, "migration": usage.MIGRATION, "waiting": usage.RANKS}
    spent = {name: sum(rank[phase] for rank in working) for name, phase in phase_of.items()}
    spent["idle"] = sum(sum(rank.values()) for rank in without)
    return {name: seconds / whole for name, seconds in spent.items()}


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of settings without the number of GPUs, which only determines defaults."""
    others = {name: value for name, value in settings.items() if name != "sized_for_gpus"}
    return content_digest(others)


def digests(rows: Sequence[GpuRunRow], alone: Sequence[GpuRunRow]) -> str:
    """Compare the digests of runs with those of one rank with the same settings and seeds."""
    known = {(row.settings, row.seed): row.digest for row in alone if row.digest}
    pairs = [
        (row.digest, known[key])
        for row in rows
        if row.digest and (key := (row.settings, row.seed)) in known
    ]
    if not pairs or rows[0].ranks == alone[0].ranks:
        return NOT_COMPARED
    return SAME if all(digest == other for digest, other in pairs) else DIFFERENT


_SPENT = ("exchange", "migration", "waiting", "idle")
Runs = Mapping[int, Sequence[GpuRunRow]]
"""The runs of one method on one instance, by the number of ranks."""


def _up_to(row: Mapping[str, Any], name: str) -> str | None:
    """Return a speed-up as text, with `>` if it is a lower bound."""
    return None if row[name] is None else f"{'>' * row['is_at_least']}{row[name]:.2f}"


def _seconds_to(row: Mapping[str, Any], share: int) -> str:
    """Return the seconds to a target as text; missing ones exceed the limit."""
    seconds = row[f"seconds_{share}"]
    return f">{row['limit']:g}" if seconds is None else f"{seconds:.2f}"


SEARCHES = (2, 4, 8, 16)
"""Numbers of independent searches for which the gain of a `RestartLaw` is shown."""
_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "percent": lambda share: f"{100 * share:.1f}",
    "whole_percent": lambda share: f"{100 * share:.0f}",
    "up_to": partial(_up_to, name="speed_up"),
    "measured_up_to": partial(_up_to, name="measured"),
    **{f"seconds_to_{share}": partial(_seconds_to, share=share) for share in SHARES},
}
TARGETS, SPEEDS, LAWS, MEANS = (
    table(f"gpus_{name}", **_FUNCTIONS) for name in ("targets", "speed", "restarts", "means")
)


def target_rows(gap: float, runs: Runs) -> Iterator[Row]:
    """Yield a row for each number of ranks, in ascending order."""
    alone = runs[min(runs)]
    before = at_shares([row.time_to(gap) for row in alone])["seconds_50"]
    for ranks, rows in sorted(runs.items()):
        limit, times = rows[0].limit, at_shares([row.time_to(gap) for row in rows])
        now = times["seconds_50"]
        is_at_least = before is None and now is not None and rows is not alone
        base = limit if is_at_least else before
        speed_up = base / now if base is not None and now is not None else None
        yield TARGETS.row(
            **_shared(rows, alone),
            target=f"{gap:g} %" if gap else KNOWN,
            limit=limit,
            reached=sum(bool(np.isfinite(row.time_to(gap))) for row in rows),
            **times,
            speed_up=speed_up,
            is_at_least=is_at_least,
            efficiency=speed_up / ranks if speed_up is not None else None,
        )


def speed_rows(runs: Runs) -> Iterator[Row]:
    """Yield a row for each number of ranks, in ascending order."""
    alone = runs[min(runs)]
    base = median(row.evaluations_per_second for row in alone)
    for ranks, rows in sorted(runs.items()):
        speeds = [row.evaluations_per_second for row in rows]
        speed = median(speeds)
        speed_up = speed / base if base else 1.0
        yield SPEEDS.row(
            **_shared(rows, alone),
            generations=rows[0].generations,
            start_seconds=median(row.start_seconds for row in rows),
            generations_per_second=median(row.generations_per_second for row in rows),
            evaluations_per_second=speed,
            spread=spread(speeds) if speed else 0.0,
            speed_up=speed_up,
            efficiency=speed_up / ranks,
        )


def _shared(rows: Sequence[GpuRunRow], alone: Sequence[GpuRunRow]) -> dict[str, Any]:
    """Return the cells that both tables have: the runs, and the mean shares of the ranks' time."""
    names = ("instance", "backend", "method", "device", "ranks", "islands", "population")
    return {
        **{name: getattr(rows[0], name) for name in names},
        "runs": len(rows),
        **{name: fmean(getattr(row, name) for row in rows) for name in _SPENT},
        "digests": digests(rows, alone),
    }


def law_rows(gap: float, runs: Runs) -> Iterator[Row]:
    """Yield the row of the `RestartLaw` of a target, if two runs on one rank have reached it."""
    alone = runs[min(runs)]
    times = [row.time_to(gap) for row in alone]
    law = RestartLaw.fitted(times, alone[0].limit)
    if law is None:
        return
    *_, last = target_rows(gap, runs)
    shared = ("instance", "backend", "method", "target", "ranks", "is_at_least")
    yield LAWS.row(
        **{name: last[name] for name in shared},
        runs=len(alone),
        reached=sum(map(math.isfinite, times)),
        t0=law.start,
        mu=law.mean,
        distance=law.distance(times),
        **{f"gain_{searches}": law.gain(searches) for searches in SEARCHES},
        gain=law.gain(last["ranks"]),
        measured=last["speed_up"],
    )


def mean_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the mean speed-up of each target and of the speed, on each number of ranks above 1."""
    speed_ups: dict[tuple[str, str, str, int], list[float]] = {}
    for row in rows:
        of = f"time to {row['target']}" if row.table is TARGETS else "evaluations/s"
        if row["ranks"] > 1 and row["speed_up"] is not None and not row.get("is_at_least"):
            key = (of, row["backend"], row["method"], row["ranks"])
            speed_ups.setdefault(key, []).append(row["speed_up"])
    for (of, backend, method, ranks), ups in speed_ups.items():
        mean = geometric_mean(ups)
        yield MEANS.row(
            of=of,
            backend=backend,
            method=method,
            ranks=ranks,
            instances=len(ups),
            speed_up=mean,
            efficiency=mean / ranks,
        )
