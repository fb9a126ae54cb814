"""Simulated topologies on any number of ranks: takeover time and messages between ranks."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.migration.topology import TOPOLOGIES, Scene, Topology
from islands.parallel import blocks
from islands.studies.bench.base import BenchRequest, table
from islands.tables import Row

_HEAD_BYTES, _KEY_BYTES = 16, 4
_MESSAGE_SECONDS, _BYTES_A_SECOND = 20e-6, 4e9
STARTS = 64
"""Maximum number of start islands, which are evenly spread; each is a bit of a 64-bit word."""
SEEDS = 8
"""Number of simulations of a random topology."""
_DRAWS = 8
"""Number of draws of a random topology whose messages are counted."""


TABLE = table(
    "topologies",
    chosen_islands=lambda row: f"{'*' * row['chosen']} {row['islands']:>7}",
    arriving=lambda row: ("{}" if row["fits"] else "({})").format(row["arriving"]),
    milliseconds=lambda seconds: f"{1000 * seconds:.2f}",
)


def measure(request: BenchRequest) -> Iterator[Row]:
    """Simulate every topology that has migrants, for each number of islands."""
    for islands in request.heartbeat.over(request.islands, "{} islands".format):
        rows = [_row(name, islands, request) for name in TOPOLOGIES if name != "none"]
        fitting = [row for row in rows if row["fits"]]
        best = min(fitting, key=itemgetter("transport_seconds", "takeover"), default=None)
        yield from (row.but(chosen=row is best) for row in rows)


def _row(name: str, islands: int, request: BenchRequest) -> Row:
    ranks = max(1, islands // request.islands_a_rank)
    time, load = takeover(name, islands), traffic(name, islands, ranks)
    arriving = load.arriving * request.migrants
    parcel = request.migrants * (_HEAD_BYTES + request.genes * _KEY_BYTES)
    kept = Brkga(BrkgaSettings(), request.population).kept()
    busiest = load.most_parcels * parcel
    transport = load.most_messages * _MESSAGE_SECONDS + busiest / _BYTES_A_SECOND
    return TABLE.row(
        islands=islands,
        ranks=ranks,
        topology=name,
        takeover=time.mean,
        worst=time.worst,
        arriving=arriving,
        fits=arriving <= request.population - max(1, kept),
        messages=load.most_messages,
        busiest_bytes=busiest,
        mean_bytes=load.parcels * parcel,
        takeover_bytes=time.mean * load.parcels * parcel,
        transport_seconds=time.mean * transport,
        chosen=False,
    )


@dataclass(frozen=True)
class Takeover:
    """Migrations until all islands have the best: statistics over the start islands.

    In each migration the best spreads from each island that has it to the islands that receive
    from it. With `delay=1` migrants arrive one migration later, but before that migration selects
    its emigrants: the sequence of hops is the same, and takeover takes one migration more.
    """

    mean: float
    worst: float


def takeover(name: str, islands: int) -> Takeover:
    """Return the takeover time of a topology; two have a formula and need no simulation."""
    if islands == 1:
        return Takeover(0, 0)
    if name == "elite":
        return Takeover(1, 1)
    if name == "broadcast":
        # Each migration draws one sender: a given island after `islands` draws on average, and the
        # last of all islands after the expected number of draws of a coupon collector.
        harmonic = float(np.sum(1 / np.arange(1, islands + 1)))
        return Takeover(islands, islands * harmonic)
    return simulated(TOPOLOGIES[name], islands)


def simulated(topology: Topology, islands: int) -> Takeover:
    """Simulate the takeover from up to 64 islands; random topologies with several seeds."""
    seeds = range(1, 1 + (SEEDS if topology.changes else 1))
    times = np.concatenate([_times(topology, islands, seed) for seed in seeds])
    return Takeover(float(np.mean(times)), float(np.max(times)))


def _times(topology: Topology, islands: int, seed: int) -> NDArray[np.int64]:
    """Return the takeover time from each start island."""
    count = min(STARTS, islands)
    starts = np.arange(count) * islands // count
    # The last entry stands for "no sender": it never has the best.
    have = np.zeros(islands + 1, np.uint64)
    have[starts] = np.uint64(1) << np.arange(count, dtype=np.uint64)
    times = np.zeros(count, np.int64)
    epoch, open_starts = 0, np.ones(count, bool)
    while np.any(open_starts):
        epoch += 1
        if topology.changes or epoch == 1:
            columns = topology.sources(Scene(islands, seed, epoch), range(islands)).T
        arriving = have[columns[0]]
        for column in columns[1:]:
            arriving |= have[column]
        have[:-1] |= arriving
        everywhere = np.bitwise_and.reduce(have[:-1])
        if everywhere:
            bits = everywhere >> np.arange(count, dtype=np.uint64) & np.uint64(1)
            times[open_starts & (bits == 1)] = epoch
            open_starts = bits == 0
    return times


class Traffic(NamedTuple):
    """Messages between ranks in one migration; a parcel is the migrants of an island to a rank.

    An island's migrants go once to each other rank that needs them, and one message carries all
    that go from one rank to another.
    """

    arriving: int
    """Maximum number of islands that one island receives from."""
    parcels: float
    """Mean number of parcels that a rank sends."""
    most_parcels: float
    """Number of parcels that the busiest rank sends."""
    most_messages: float
    """Number of messages that the busiest rank sends."""


def traffic(name: str, islands: int, ranks: int) -> Traffic:
    """Return the traffic of a topology; of a random one, the mean over some draws."""
    if name == "elite":
        # The complete topology needs no list of pairs: each island sends to all other ranks.
        most = len(blocks(islands, ranks, 0)) * (ranks - 1)
        return Traffic(islands - 1, islands * (ranks - 1) / ranks, most, ranks - 1)
    return counted_traffic(TOPOLOGIES[name], islands, ranks)


def counted_traffic(topology: Topology, islands: int, ranks: int) -> Traffic:
    """Count the traffic between `ranks` ranks, each with a block of the islands."""
    draws = range(1, 1 + (_DRAWS if topology.changes else 1))
    traffic = [_at(topology, Scene(islands, 1, epoch), ranks) for epoch in draws]
    _, *means = np.mean(traffic, axis=0).tolist()
    return Traffic(max(draw.arriving for draw in traffic), *means)


def _at(topology: Topology, scene: Scene, ranks: int) -> Traffic:
    sizes = [len(blocks(scene.islands, ranks, rank)) for rank in range(ranks)]
    rank_of = np.repeat(np.arange(ranks), sizes)
    sources = topology.sources(scene, range(scene.islands))
    there = sources >= 0
    receivers, senders = np.nonzero(there)[0], sources[there]
    between = rank_of[receivers] != rank_of[senders]
    # Each pair is one number, so that repeated pairs count once.
    parcels = np.unique(rank_of[receivers[between]] * scene.islands + senders[between])
    from_rank = rank_of[parcels % scene.islands]
    messages = np.unique(parcels // scene.islands * ranks + from_rank)
    return Traffic(
        arriving=int(np.max(np.sum(there, axis=1), initial=0)),
        parcels=len(parcels) / ranks,
        most_parcels=int(np.max(np.bincount(from_rank, minlength=ranks))),
        most_messages=int(np.max(np.bincount(messages % ranks, minlength=ranks))),
    )
