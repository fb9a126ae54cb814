"""The route of one migration through a rank: the slots that it packs, sends, receives and unpacks.

A rank has one buffer of slots; a slot holds the migrants of one island. First come the islands
whose migrants leave the rank, ordered by receiving rank, and then those with local receivers; after
them the slots that arrive, ordered by sending rank. So a rank sends one message to each neighbour,
which contains each needed island once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from islands.migration.topology import NOBODY, Islands


@dataclass(frozen=True)
class Parcel:
    """A message between this rank and another: the slots from `first` to before `last`."""

    rank: int
    first: int
    last: int


@dataclass(frozen=True)
class Route:
    """The slots of a rank's buffer in one migration."""

    leaving: Islands
    """The island whose migrants each slot is packed with, counted on this rank."""
    sources: Islands
    """A row for each island of the rank: the islands that send to it, then NOBODY."""
    slots: Islands
    """The slot of each of these islands."""
    sends: tuple[Parcel, ...]
    receives: tuple[Parcel, ...]

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.leaving) + sum(parcel.last - parcel.first for parcel in self.receives)


def plan(sources_of: Callable[[range], Islands], dealt: Sequence[range], rank: int) -> Route:
    """Return the route of `rank`; `dealt` are the islands of each rank."""
    mine, others = dealt[rank], [other for other in range(len(dealt)) if other != rank]
    sources = sources_of(mine)
    own = _within(sources, mine)
    leaving = [_within(sources_of(dealt[other]), mine) for other in others]
    arriving = [_within(sources, dealt[other]) for other in others]
    packed = np.concatenate([*leaving, own])
    # The last entry is for NOBODY, which is -1.
    slot_of = np.full(dealt[-1].stop + 1, NOBODY, np.int64)
    needed = np.concatenate([own, *arriving])
    slot_of[needed] = np.arange(len(needed)) + len(packed) - len(own)
    return Route(
        leaving=packed - mine.start,
        sources=sources,
        slots=slot_of[sources],
        sends=_parcels(others, leaving, 0),
        receives=_parcels(others, arriving, len(packed)),
    )


def _within(sources: Islands, islands: range) -> Islands:
    """Return the sources that are in `islands`, ascending, each once."""
    return np.unique(sources[(sources >= islands.start) & (sources < islands.stop)])


def _parcels(ranks: Sequence[int], contents: Sequence[Islands], first: int) -> tuple[Parcel, ...]:
    ends = first + np.cumsum([0, *map(len, contents)])
    whole = zip(ranks, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return tuple(Parcel(*each) for each in whole if each[1] < each[2])
