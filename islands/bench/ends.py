"""Where the end of an epoch goes: an archipelago that keeps the time of what a run does with it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from islands.archipelago.archipelago import Archipelago
from islands.bench.base import Row
from islands.migration import Arrivals
from islands.text import count


@dataclass(frozen=True)
class End:
    """The seconds of one epoch's end, from its last generation to the first of the next epoch."""

    pack: float
    transport: float
    unpack: float
    whole: float
    epoch: float
    """From the end of the epoch before to this one's."""
    migrant_bytes: int

    def host(self, *, hides_transport: bool) -> float:
        """Return what is left of the end without the kernels, and the transport if in the way."""
        return self.whole - self.pack - self.unpack - (0 if hides_transport else self.transport)


class Timed:
    """Stands for an archipelago in the loop of a run, and notes the ends of its epochs.

    Before each migration it waits for the generations, so that they are no part of the end.
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
        """Migrate when the device is done with the generations."""
        self._archipelago.wait()
        self._began = time.perf_counter()
        self._archipelago.migrate()

    def advance(self, generations: int) -> None:
        """Pass generations; here the end of the epoch before is over."""
        now = time.perf_counter()
        self._archipelago.advance(generations)
        if self._began is not None:
            if self._ended is not None:
                self._whole_and_epoch = now - self._began, now - self._ended
            self._began, self._ended = None, now

    def arrivals(self) -> Arrivals | None:
        """Return what the migration brought, and note how long its epoch's end took."""
        arrivals = self._archipelago.arrivals()
        if arrivals is not None and self._whole_and_epoch is not None:
            phases = arrivals.phases
            whole, epoch = self._whole_and_epoch
            size = arrivals.bytes
            self.ends.append(End(phases.pack, phases.transport, phases.unpack, whole, epoch, size))
        self._whole_and_epoch = None
        return arrivals


@dataclass(frozen=True)
class EndRow(Row):
    """Where the ends of its epochs go, by rank 0; medians in seconds."""

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
    """That the busiest rank sends at one migration."""
    ends: int
    """Of so many ends."""
    pack: float
    travel: float
    unpack: float
    host: float
    end: float
    epoch: float

    def line(self) -> str:
        """Return the row under `HEADER`."""
        phases = (self.pack, self.travel, self.unpack, self.host, self.end)
        shown = "".join(f"{1e6 * seconds:>10.1f}" for seconds in phases)
        return (
            f"{self.instance:<18} {self.ranks:>6} {self.delay:>6}  {self.transport:<10}"
            f" {count(self.bytes):>7}{shown} {self.end / self.epoch:>9.2%}"
        )
