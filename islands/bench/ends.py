"""Measure the time between the generations of two epochs, by phase."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from islands.archipelago.archipelago import Archipelago
from islands.bench.base import BenchRow
from islands.migration import Arrivals
from islands.text import count


@dataclass(frozen=True)
class End:
    """Seconds of one epoch's end: from its last generation to the first of the next epoch."""

    pack: float
    transport: float
    unpack: float
    whole: float
    epoch: float
    """From the previous epoch's end to this one's."""
    migrant_bytes: int

    def host(self, *, hides_transport: bool) -> float:
        """Return the seconds without kernels and without transport, unless it is hidden."""
        return self.whole - self.pack - self.unpack - (0 if hides_transport else self.transport)


class TimedArchipelago:
    """An archipelago that records the ends of its epochs in the loop of a run.

    It waits for the generations before each migration, so that the end does not include them.
    """

    def __init__(self, archipelago: Archipelago) -> None:
        self._archipelago = archipelago
        self._began: float | None = None
        self._ended: float | None = None
        self._whole_and_epoch: tuple[float, float] | None = None
        self.ends: list[End] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archipelago, name)

    def migrate(self) -> None:
        """Migrate when the device has finished the generations."""
        self._archipelago.wait()
        self._began = time.perf_counter()
        self._archipelago.migrate()

    def advance(self, generations: int) -> None:
        """Advance by generations; the previous epoch's end is over."""
        self._archipelago.advance(self._begin(generations))

    def attempt(self, generations: int) -> bool:
        """Advance by generations that may be abandoned; the previous epoch's end is over."""
        return self._archipelago.attempt(self._begin(generations))

    def _begin(self, generations: int) -> int:
        now = time.perf_counter()
        if self._began is not None:
            if self._ended is not None:
                self._whole_and_epoch = now - self._began, now - self._ended
            self._began, self._ended = None, now
        return generations

    def arrivals(self) -> Arrivals | None:
        """Return the result of the migration, and record the time of its epoch's end."""
        arrivals = self._archipelago.arrivals()
        if arrivals is not None and self._whole_and_epoch is not None:
            phases = arrivals.phases
            whole, epoch = self._whole_and_epoch
            size = arrivals.bytes
            self.ends.append(End(phases.pack, phases.transport, phases.unpack, whole, epoch, size))
        self._whole_and_epoch = None
        return arrivals


@dataclass(frozen=True)
class EndRow(BenchRow):
    """The ends of the epochs of one run on rank 0; medians in seconds."""

    TABLE: ClassVar[str] = "epoch_ends"
    HEADER: ClassVar[str] = (
        "instance            ranks  delay  transport    bytes   pack us travel us unpack us"
        "   host us    end us  of epoch"
    )

    instance: str
    ranks: int
    delay: int
    transport: str
    bytes: float
    """Sent by the busiest rank in one migration."""
    ends: int
    """Number of ends."""
    pack: float
    travel: float
    unpack: float
    host: float
    end: float
    epoch: float

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        phases = (self.pack, self.travel, self.unpack, self.host, self.end)
        shown = "".join(f"{1e6 * seconds:>10.1f}" for seconds in phases)
        return (
            f"{self.instance:<18} {self.ranks:>6} {self.delay:>6}  {self.transport:<10}"
            f" {count(self.bytes):>7}{shown} {self.end / self.epoch:>9.2%}"
        )
