"""Count the messages between ranks in one migration.

An island's migrants go once to each other rank that needs them, and one message carries all that go
from one rank to another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from islands.migration.topology import TOPOLOGIES, Scene, Topology
from islands.parallel import blocks

_DRAWS = 8


@dataclass(frozen=True)
class Traffic:
    """Traffic of one migration; a parcel is the migrants from one island to one rank."""

    arriving: int
    """Maximum number of islands that one island receives from."""
    parcels: float
    """Mean number that a rank sends."""
    most_parcels: float
    """Number that the busiest rank sends."""
    most_messages: float
    """Number that the busiest rank sends."""


def traffic(name: str, islands: int, ranks: int) -> Traffic:
    """Return the traffic of a topology; of a random one, the mean over some draws."""
    if name == "elite":
        # The complete topology needs no list of pairs: each island sends to all other ranks.
        most = len(blocks(islands, ranks, 0)) * (ranks - 1)
        return Traffic(islands - 1, islands * (ranks - 1) / ranks, most, ranks - 1)
    return counted(TOPOLOGIES[name], islands, ranks)


def counted(topology: Topology, islands: int, ranks: int) -> Traffic:
    """Count the traffic between `ranks` ranks, each with a block of the islands."""
    draws = range(1, 1 + (_DRAWS if topology.changes else 1))
    each = [_at(topology, Scene(islands, 1, epoch), ranks) for epoch in draws]
    return Traffic(
        arriving=max(one.arriving for one in each),
        parcels=float(np.mean([one.parcels for one in each])),
        most_parcels=float(np.mean([one.most_parcels for one in each])),
        most_messages=float(np.mean([one.most_messages for one in each])),
    )


def _at(topology: Topology, scene: Scene, ranks: int) -> Traffic:
    sizes = [len(blocks(scene.islands, ranks, rank)) for rank in range(ranks)]
    rank_of = np.repeat(np.arange(ranks), sizes)
    sources = topology.sources(scene, range(scene.islands))
    there = sources >= 0
    receivers, senders = np.nonzero(there)[0], sources[there]
    between = rank_of[receivers] != rank_of[senders]
    # A number for each pair, so that repeated pairs count once.
    parcels = np.unique(rank_of[receivers[between]] * scene.islands + senders[between])
    from_rank = rank_of[parcels % scene.islands]
    messages = np.unique(parcels // scene.islands * ranks + from_rank)
    return Traffic(
        arriving=int(np.max(np.sum(there, axis=1), initial=0)),
        parcels=len(parcels) / ranks,
        most_parcels=int(np.max(np.bincount(from_rank, minlength=ranks))),
        most_messages=int(np.max(np.bincount(messages % ranks, minlength=ranks))),
    )
