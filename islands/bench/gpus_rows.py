"""The rows of the benchmark `gpus`: what a number of ranks gains over one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import Any, ClassVar, Self

import numpy as np

from islands.bench.base import METHOD, RecordRow
from islands.bench.gpus_runs import GpuRunRow, digests
from islands.bench.quality_rows import KNOWN
from islands.tables import Column, Table
from islands.text import count

SHARES = (0.1, 0.5, 0.9)
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
    times = [row.time_to(gap) for row in rows]
    found = np.quantile(times, SHARES, method="inverted_cdf")
    return [float(each) if np.isfinite(each) else None for each in found]


def _shared(rows: Sequence[GpuRunRow]) -> dict[str, Any]:
    """Return what all rows of runs have: what was run, and the mean shares of the ranks' time."""
    names = ("instance", "backend", "method", "device", "ranks", "islands", "population")
    return {
        **{name: getattr(rows[0], name) for name in names},
        "runs": len(rows),
        **{name: fmean(getattr(row, name) for row in rows) for name in _SPENT},
    }
