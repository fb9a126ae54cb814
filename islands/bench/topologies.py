"""Simulated topologies on any number of ranks: takeover time and messages between ranks.

Takeover: migrations until the best individual is on all islands, mean and maximum over the start
islands (with delay=1, one migration more). Arrive: migrants that an island receives in one
migration; (n) if these exceed what its population accepts. Messages and busiest: messages and bytes
that the busiest rank sends in one migration. Bytes: mean sent per rank until takeover.
Transport: time that the busiest rank sends until then, at 20 us per message and 4 GB/s, through
host memory. * the shortest transport, or on one rank the fastest takeover, of topologies that fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.bench.base import BenchRequest, BenchRow
from islands.bench.takeover import takeover
from islands.bench.traffic import traffic
from islands.migration.topology import TOPOLOGIES
from islands.text import count

_HEAD_BYTES, _KEY_BYTES = 16, 4
_MESSAGE_SECONDS, _BYTES_A_SECOND = 20e-6, 4e9


@dataclass(frozen=True)
class TopologyRow(BenchRow):
    """One topology with one number of islands."""

    TABLE: ClassVar[str] = "topologies"
    HEADER: ClassVar[str] = (
        "  islands  ranks  topology    takeover    worst    arrive  messages   busiest"
        "     bytes  transport ms"
    )

    islands: int
    ranks: int
    topology: str
    takeover: float
    worst: float
    arriving: int
    fits: bool
    messages: float
    busiest_bytes: float
    """Sent by the busiest rank in one migration."""
    mean_bytes: float
    """Sent by a rank in one migration."""
    takeover_bytes: float
    """Sent by a rank until takeover."""
    transport_seconds: float
    """Of the busiest rank until takeover."""
    chosen: bool = False

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        arriving = f"{self.arriving}" if self.fits else f"({self.arriving})"
        return (
            f"{'*' if self.chosen else ' '}{self.islands:>8} {self.ranks:>6}  {self.topology:<10}"
            f" {self.takeover:>9.1f} {self.worst:>8.0f} {arriving:>9} {self.messages:>9.0f}"
            f" {count(self.busiest_bytes):>9} {count(self.takeover_bytes):>9}"
            f" {1000 * self.transport_seconds:>13.2f}"
        )


def measure(request: BenchRequest) -> Iterator[TopologyRow]:
    """Simulate every topology that has migrants, for each number of islands."""
    for islands in request.heartbeat.over(request.islands, "{} islands".format):
        rows = [_row(name, islands, request) for name in TOPOLOGIES if name != "none"]
        fitting = [row for row in rows if row.fits]
        best = min(fitting, key=lambda row: (row.transport_seconds, row.takeover), default=None)
        yield from (replace(row, chosen=row is best) for row in rows)


def _row(name: str, islands: int, request: BenchRequest) -> TopologyRow:
    ranks = max(1, islands // request.islands_a_rank)
    time, sent = takeover(name, islands), traffic(name, islands, ranks)
    arriving = sent.arriving * request.migrants
    parcel = request.migrants * (_HEAD_BYTES + request.genes * _KEY_BYTES)
    kept = Brkga(BrkgaSettings(), request.population).kept()
    busiest = sent.most_parcels * parcel
    transport = sent.most_messages * _MESSAGE_SECONDS + busiest / _BYTES_A_SECOND
    return TopologyRow(
        islands=islands,
        ranks=ranks,
        topology=name,
        takeover=time.mean,
        worst=time.worst,
        arriving=arriving,
        fits=arriving <= request.population - max(1, kept),
        messages=sent.most_messages,
        busiest_bytes=busiest,
        mean_bytes=sent.parcels * parcel,
        takeover_bytes=time.mean * sent.parcels * parcel,
        transport_seconds=time.mean * transport,
    )
