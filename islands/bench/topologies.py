"""Topologies on more ranks than there are here: takeover, and what goes from rank to rank.

Takeover: migrations until the best of one island is in all, on average and at worst over where it
is at first (with delay=1, one migration more). Arrive: migrants that an island receives at one
migration; (n) where these are more than its population takes in. Messages and busiest: what the
busiest rank sends at one migration. Bytes: what a rank sends until takeover, average. Transport:
how long the busiest rank sends until then, at 20 us a message and 4 GB/s, through host memory.
* the shortest transport, or if all is on one rank the fastest takeover, of those that fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.bench.base import Asked, Row
from islands.bench.takeover import takeover
from islands.bench.traffic import traffic
from islands.migration.topology import TOPOLOGIES
from islands.text import count

_HEAD_BYTES, _KEY_BYTES = 16, 4
_MESSAGE_SECONDS, _BYTES_A_SECOND = 20e-6, 4e9


@dataclass(frozen=True)
class TopologyRow(Row):
    """A topology with a number of islands."""

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
    """That the busiest rank sends at one migration."""
    mean_bytes: float
    """That a rank sends at one migration."""
    takeover_bytes: float
    """That a rank sends until takeover."""
    transport_seconds: float
    """Until takeover, of the busiest rank."""
    chosen: bool = False

    def line(self) -> str:
        """Return the row under `HEADER`."""
        arriving = f"{self.arriving}" if self.fits else f"({self.arriving})"
        return (
            f"{'*' if self.chosen else ' '}{self.islands:>8} {self.ranks:>6}  {self.topology:<10}"
            f" {self.takeover:>9.1f} {self.worst:>8.0f} {arriving:>9} {self.messages:>9.0f}"
            f" {count(self.busiest_bytes):>9} {count(self.takeover_bytes):>9}"
            f" {1000 * self.transport_seconds:>13.2f}"
        )


def measure(asked: Asked) -> Iterator[TopologyRow]:
    """Look at every topology in which somebody sends, one number of islands after another."""
    for islands in asked.heartbeat.over(asked.islands, "{} islands".format):
        rows = [_row(name, islands, asked) for name in TOPOLOGIES if name != "none"]
        fitting = [row for row in rows if row.fits]
        best = min(fitting, key=lambda row: (row.transport_seconds, row.takeover), default=None)
        yield from (replace(row, chosen=row is best) for row in rows)


def _row(name: str, islands: int, asked: Asked) -> TopologyRow:
    ranks = max(1, islands // asked.islands_a_rank)
    time, sent = takeover(name, islands), traffic(name, islands, ranks)
    arriving = sent.arriving * asked.migrants
    parcel = asked.migrants * (_HEAD_BYTES + asked.genes * _KEY_BYTES)
    kept = Brkga(BrkgaSettings(), asked.population).kept()
    busiest = sent.most_parcels * parcel
    transport = sent.most_messages * _MESSAGE_SECONDS + busiest / _BYTES_A_SECOND
    return TopologyRow(
        islands=islands,
        ranks=ranks,
        topology=name,
        takeover=time.mean,
        worst=time.worst,
        arriving=arriving,
        fits=arriving <= asked.population - max(1, kept),
        messages=sent.most_messages,
        busiest_bytes=busiest,
        mean_bytes=sent.parcels * parcel,
        takeover_bytes=time.mean * sent.parcels * parcel,
        transport_seconds=time.mean * transport,
    )
