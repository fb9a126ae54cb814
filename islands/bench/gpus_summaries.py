"""The rows that summarise `gpus`: the law of restarts, and means over instances."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any, ClassVar, Self

from islands.bench.base import BenchRow
from islands.bench.gpus_rows import GpuSpeedRow, GpuTargetRow, Runs, percent
from islands.bench.restarts import RestartLaw

SEARCHES = (2, 4, 8, 16)
"""Numbers of independent searches for which the law of restarts is shown."""


@dataclass(frozen=True)
class GpuLawRow(BenchRow):
    """The law of restarts for a target on one rank, and what independent searches would gain."""

    TABLE: ClassVar[str] = "gpus_restarts"
    HEADER: ClassVar[str] = (
        "One rank's seconds to the target as t0 + Exp(mu): (t0 + mu) / (t0 + mu / p) is what p"
        " independent searches gain.\n"
        "Distance: of the law from the shares of the runs, from 0 to 1.\n"
        f"{'':<71}independent searches{'':<14}most ranks\n"
        "instance           target        runs        t0        mu  distance       2       4"
        "       8      16    ranks   law  measured  method"
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

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        gains = [self.gain_2, self.gain_4, self.gain_8, self.gain_16]
        more = ">" if self.is_at_least else ""
        measured = "-" if self.measured is None else f"{more}{self.measured:.2f}"
        return (
            f"{self.instance:<18} {self.target:<10} {f'{self.reached}/{self.runs}':>7}"
            f" {self.t0:>9.3g} {self.mu:>9.3g} {self.distance:>9.2f}"
            f" {' '.join(f'{each:>7.2f}' for each in gains)}"
            f" {self.ranks:>8} {self.gain:>5.2f} {measured:>9}  {self.method}, {self.backend}"
        )


@dataclass(frozen=True)
class GpuMeansRow(BenchRow):
    """The geometric mean of speed-ups over instances."""

    TABLE: ClassVar[str] = "gpus_means"
    HEADER: ClassVar[str] = (
        "Geometric means of speed-ups over the instances that have one\n"
        "of                          ranks  instances  speed-up  efficiency  method"
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

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.of:<26} {self.ranks:>6} {self.instances:>10} {self.speed_up:>9.2f}"
            f" {percent(self.efficiency, 11, 0)}  {self.method}, {self.backend}"
        )
