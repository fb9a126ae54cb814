"""The rows that summarise `gpus`: the law of restarts, and means over instances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any, ClassVar, Self

from islands.bench.base import METHOD, RecordRow
from islands.bench.gpus_rows import EFFICIENCY, GpuSpeedRow, GpuTargetRow, Runs, up_to
from islands.bench.restarts import RestartLaw
from islands.tables import Column, Table

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
