"""The rows of the benchmark `gpus`: a run on some of the ranks, and what ranks gain over one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, geometric_mean, median
from typing import Any, ClassVar, Self

import numpy as np

from islands.bench.base import METHOD, RecordRow
from islands.bench.quality_rows import KNOWN, at_shares
from islands.bench.quality_runs import RunRow, followed
from islands.configuration.spec import RunSpec
from islands.configuration.stop import time_limit
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress import usage
from islands.run.build import RankOptions
from islands.statistics import RestartLaw
from islands.tables import Column, Table
from islands.text import count

TARGET, SPEED = "target", "speed"
"""What a run is for: the time to a target, or the speed over a number of generations."""
SAME, DIFFERENT, NOT_COMPARED = "same", "DIFFER", "-"
"""Whether runs have the digests of one rank."""


@dataclass(frozen=True)
class GpuRunRow(RunRow):
    """A run on a number of ranks."""

    table: ClassVar[Table] = Table("gpus_runs", ())

    purpose: str
    settings: str
    """SHA-256 of all settings: runs with the same ones have the same digest."""
    digest: str
    """Empty if the time limit ended the run."""
    team: int
    """The largest number of ranks that share an island."""
    idle_ranks: int
    exchange: float
    """The share of the ranks' time in exchanges of teams, with waiting for each other there."""
    migration: float
    waiting: float
    """The share in which ranks with work waited for others elsewhere."""
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


def ran(spec: RunSpec, problem: Problem, world: World, rank_options: RankOptions) -> dict[str, Any]:
    """Return what a run of `GpuRunRow` depends on its result; collective."""
    made, result, course = followed(spec, problem, world, rank_options)
    is_timed = result.seconds >= time_limit(spec.stop)
    # Without a look before the end, the whole run is measured.
    first = course.first if course.first is not None and not course.first.generation else None
    is_begun = first is not None and result.generations > 0
    return {
        **made,
        "digest": "" if is_timed else result.digest,
        "team": result.team,
        "idle_ranks": result.idle_ranks,
        **shares(result.rank_seconds, result.idle_ranks),
        "start_seconds": first.seconds if first is not None and is_begun else 0.0,
        "start_evaluations": first.evaluations if first is not None and is_begun else 0,
    }


def shares(phases: Sequence[Mapping[str, float]], idle: int) -> dict[str, float]:
    """Return the shares of the time of all ranks, of which `idle` ones had no work.

    These are the ranks that waited longest, as they do nothing else.
    """
    by_work = sorted(phases, key=lambda each: each[usage.RANKS])
    working, without = by_work[: len(phases) - idle], by_work[len(phases) - idle :]
    whole = sum(sum(each.values()) for each in phases) or 1.0
    found = {"exchange": usage.TEAM, "migration": usage.MIGRATION, "waiting": usage.RANKS}
    spent = {name: sum(each[phase] for each in working) for name, phase in found.items()}
    spent["idle"] = sum(sum(each.values()) for each in without)
    return {name: seconds / whole for name, seconds in spent.items()}


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of settings, without the number of GPUs, which only chooses others."""
    mine = {name: value for name, value in settings.items() if name != "gpus"}
    return hashlib.sha256(json.dumps(mine, sort_keys=True).encode()).hexdigest()


def digests(rows: Sequence[GpuRunRow], alone: Sequence[GpuRunRow]) -> str:
    """Return whether runs have the digests of those on one rank with the same settings."""
    known = {(row.settings, row.seed): row.digest for row in alone if row.digest}
    pairs = [
        (row.digest, known[key])
        for row in rows
        if row.digest and (key := (row.settings, row.seed)) in known
    ]
    if not pairs or rows[0].ranks == alone[0].ranks:
        return NOT_COMPARED
    return SAME if all(mine == other for mine, other in pairs) else DIFFERENT


_SPENT = ("exchange", "migration", "waiting", "idle")
Runs = Mapping[int, Sequence[GpuRunRow]]
"""The runs of one method on one instance, by the number of ranks."""


def percent(share: float, places: int = 1) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.{places}f}"


def up_to(row: Any, speed_up: float | None) -> str | None:
    """Return a speed-up as text, with `>` if one rank needed more than the limit."""
    return None if speed_up is None else f"{'>' if row.is_at_least else ''}{speed_up:.2f}"


EFFICIENCY = Column("efficiency", "efficiency%", form=lambda share: percent(share, 0))


def _time(name: str, row: Any) -> str:
    """Return the seconds to a target as text; a time that was not reached exceeds the limit."""
    seconds = getattr(row, name)
    return f">{row.limit:g}" if seconds is None else f"{seconds:.2f}"


_ENDS = (
    EFFICIENCY,
    *(Column(name, name, 5, percent, group="share of the ranks' time, %") for name in _SPENT),
    Column("digests", "digests"),
    METHOD,
)


def target_name(gap: float) -> str:
    """Return the name of a gap in per cent."""
    return f"{gap:g} %" if gap else KNOWN


@dataclass(frozen=True)
class GpuTargetRow(RecordRow):
    """When the runs of a method on a number of ranks reached a gap on an instance."""

    table: ClassVar[Table] = Table(
        "gpus_targets",
        (
            Column("instance", "instance", 18, "<"),
            Column("target", "target", 10, "<"),
            Column("ranks", "ranks"),
            Column("islands", "islands"),
            Column("runs", "runs", 6, value=lambda row: f"{row.reached}/{row.runs}"),
            *(
                Column(
                    f"seconds_{each}",
                    f"{each} %",
                    8,
                    value=partial(_time, f"seconds_{each}"),
                    group="seconds to it at % of runs",
                )
                for each in (10, 50, 90)
            ),
            Column("speed_up", "speed-up", value=lambda row: up_to(row, row.speed_up)),
            *_ENDS,
        ),
    )

    instance: str
    backend: str
    method: str
    device: str
    target: str
    ranks: int
    islands: int
    population: int
    limit: float
    runs: int
    reached: int
    seconds_10: float | None
    """Seconds until 10 % of the runs had reached it; None: more than the limit."""
    seconds_50: float | None
    seconds_90: float | None
    speed_up: float | None
    """The median of one rank divided by this one."""
    is_at_least: bool
    """Whether one rank needed more than the limit, so that the speed-up is more."""
    efficiency: float | None
    """The speed-up divided by the number of ranks."""
    exchange: float
    migration: float
    waiting: float
    idle: float
    digests: str

    @classmethod
    def all_of(cls, gap: float, runs: Runs) -> Iterator[Self]:
        """Yield the row of each number of ranks, the fewest first."""
        alone = runs[min(runs)]
        for ranks, rows in sorted(runs.items()):
            first, times = rows[0], quantiles(rows, gap)
            before, now = quantiles(alone, gap)[1], times[1]
            is_at_least = before is None and now is not None and rows is not alone
            base = first.limit if is_at_least else before
            speed_up = base / now if base is not None and now is not None else None
            values: dict[str, Any] = {
                **_shared(rows),
                "target": target_name(gap),
                "limit": first.limit,
                "reached": sum(bool(np.isfinite(row.time_to(gap))) for row in rows),
                **dict(zip(("seconds_10", "seconds_50", "seconds_90"), times, strict=True)),
                "speed_up": speed_up,
                "is_at_least": is_at_least,
                "efficiency": speed_up / ranks if speed_up is not None else None,
                "digests": digests(rows, alone),
            }
            yield cls(**values)


@dataclass(frozen=True)
class GpuSpeedRow(RecordRow):
    """The speed of a method on a number of ranks, over the same generations."""

    table: ClassVar[Table] = Table(
        "gpus_speed",
        (
            Column("instance", "instance", 18, "<"),
            Column("ranks", "ranks"),
            Column("islands", "islands"),
            Column("generations", "generations"),
            Column("start_seconds", "start s", form=".2f"),
            Column("generations_per_second", "generations/s", form=".4g"),
            Column("evaluations_per_second", "evaluations/s", form=count),
            Column("speed_up", "speed-up", form=".2f"),
            *_ENDS,
        ),
    )

    instance: str
    backend: str
    method: str
    device: str
    ranks: int
    islands: int
    population: int
    runs: int
    generations: int
    start_seconds: float
    """Median seconds of generation 0, which the speed excludes."""
    generations_per_second: float
    """The median of the runs."""
    evaluations_per_second: float
    spread: float
    """(fastest - slowest) / median of the runs."""
    speed_up: float
    """Evaluations per second relative to one rank."""
    efficiency: float
    exchange: float
    migration: float
    waiting: float
    idle: float
    digests: str

    @classmethod
    def all_of(cls, runs: Runs) -> Iterator[Self]:
        """Yield the row of each number of ranks, the fewest first."""
        alone = runs[min(runs)]
        base = median(row.evaluations_per_second for row in alone)
        for ranks, rows in sorted(runs.items()):
            speeds = [row.evaluations_per_second for row in rows]
            speed = median(speeds)
            speed_up = speed / base if base else 1.0
            values: dict[str, Any] = {
                **_shared(rows),
                "generations": rows[0].generations,
                "start_seconds": median(row.start_seconds for row in rows),
                "generations_per_second": median(row.generations_per_second for row in rows),
                "evaluations_per_second": speed,
                "spread": (max(speeds) - min(speeds)) / speed if speed else 0.0,
                "speed_up": speed_up,
                "efficiency": speed_up / ranks,
                "digests": digests(rows, alone),
            }
            yield cls(**values)


def quantiles(rows: Sequence[GpuRunRow], gap: float) -> list[float | None]:
    """Return the seconds until some shares of the runs had reached a gap; None: not yet."""
    return at_shares([row.time_to(gap) for row in rows])


def _shared(rows: Sequence[GpuRunRow]) -> dict[str, Any]:
    """Return what all rows of runs have: what was run, and the mean shares of the ranks' time."""
    names = ("instance", "backend", "method", "device", "ranks", "islands", "population")
    return {
        **{name: getattr(rows[0], name) for name in names},
        "runs": len(rows),
        **{name: fmean(getattr(row, name) for row in rows) for name in _SPENT},
    }


SEARCHES = (2, 4, 8, 16)
"""Numbers of independent searches for which the law of restarts is shown."""


@dataclass(frozen=True)
class GpuLawRow(RecordRow):
    """The law of restarts for a target on one rank, and what independent searches would gain."""

    table: ClassVar[Table] = Table(
        "gpus_restarts",
        (
            Column("instance", "instance", 18, "<"),
            Column("target", "target", 10, "<"),
            Column("runs", "runs", 6, value=lambda row: f"{row.reached}/{row.runs}"),
            Column("t0", "t0", 8, ".3g"),
            Column("mu", "mu", 8, ".3g"),
            Column("distance", "distance", form=".2f"),
            *(
                Column(f"gain_{each}", str(each), 6, ".2f", group="independent searches")
                for each in SEARCHES
            ),
            Column("ranks", "ranks", group="most ranks"),
            Column("gain", "law", 5, ".2f", group="most ranks"),
            Column(
                "measured",
                "measured",
                value=lambda row: up_to(row, row.measured),
                group="most ranks",
            ),
            METHOD,
        ),
        above="One rank's seconds to the target as t0 + Exp(mu): (t0 + mu) / (t0 + mu / p) is what"
        " p independent searches gain.\n"
        "Distance: of the law from the shares of the runs, from 0 to 1.",
    )

    instance: str
    backend: str
    method: str
    target: str
    runs: int
    reached: int
    t0: float
    mu: float
    distance: float
    gain_2: float
    gain_4: float
    gain_8: float
    gain_16: float
    ranks: int
    """The largest number of ranks that was measured."""
    gain: float
    """What as many independent searches would gain."""
    measured: float | None
    """The measured speed-up on these ranks."""
    is_at_least: bool

    @classmethod
    def of(cls, gap: float, runs: Runs) -> Self | None:
        """Return the row, or None if fewer than two runs on one rank reached the target."""
        alone = runs[min(runs)]
        times = [row.time_to(gap) for row in alone]
        law = RestartLaw.fitted(times, alone[0].limit)
        if law is None:
            return None
        last = [*GpuTargetRow.all_of(gap, runs)][-1]
        values: dict[str, Any] = {
            **{name: getattr(last, name) for name in ("instance", "backend", "method", "target")},
            "runs": len(alone),
            "reached": sum(map(math.isfinite, times)),
            "t0": law.start,
            "mu": law.mean,
            "distance": law.distance(times),
            **{f"gain_{each}": law.gain(each) for each in SEARCHES},
            "ranks": last.ranks,
            "gain": law.gain(last.ranks),
            "measured": last.speed_up,
            "is_at_least": last.is_at_least,
        }
        return cls(**values)


@dataclass(frozen=True)
class GpuMeansRow(RecordRow):
    """The geometric mean of speed-ups over instances."""

    table: ClassVar[Table] = Table(
        "gpus_means",
        (
            Column("of", "of", 26, "<"),
            Column("ranks", "ranks"),
            Column("instances", "instances"),
            Column("speed_up", "speed-up", form=".2f"),
            EFFICIENCY,
            METHOD,
        ),
        above="Geometric means of speed-ups over the instances that have one",
    )

    of: str
    backend: str
    method: str
    ranks: int
    instances: int
    speed_up: float
    efficiency: float

    @classmethod
    def all_of(cls, rows: Sequence[GpuTargetRow | GpuSpeedRow]) -> Iterator[Self]:
        """Yield the mean of each target, or of the speed, on each number of ranks above one."""
        found: dict[tuple[str, str, str, int], list[float]] = {}
        for row in rows:
            of = f"time to {row.target}" if isinstance(row, GpuTargetRow) else "evaluations/s"
            is_exact = isinstance(row, GpuSpeedRow) or not row.is_at_least
            if row.ranks > 1 and row.speed_up is not None and is_exact:
                key = (of, row.backend, row.method, row.ranks)
                found.setdefault(key, []).append(row.speed_up)
        for key, ups in found.items():
            mean = geometric_mean(ups)
            yield cls(*key, len(ups), mean, mean / key[-1])
