"""The way of one epoch's migrants through a rank: what is packed where, sent and received.

A rank has one buffer of slots; a slot holds the migrants of one island. First come the islands that
leave, in order of the rank that they go to, and those that stay; then what arrives, in order of the
rank that it comes from. So one message a neighbour carries all that it needs, each island once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.migration.topology import NOBODY

Islands = NDArray[np.int64]


@dataclass(frozen=True)
class Parcel:
    """A message between this rank and another: the slots from `first` to before `last`."""

    rank: int
    first: int
    last: int


@dataclass(frozen=True)
class Route:
    """The slots of a rank's buffer in one epoch."""

    leaving: Islands
    """The island that each slot is packed with, counted on this rank."""
    sources: Islands
    """For each of the rank's islands those that it receives from, by number, then NOBODY."""
    slots: Islands
    """The slot in which each of them lies."""
    sends: tuple[Parcel, ...]
    receives: tuple[Parcel, ...]

    @property
    def size(self) -> int:
        """How many slots there are."""
        return len(self.leaving) + sum(parcel.last - parcel.first for parcel in self.receives)


def plan(sources_of: Callable[[range], Islands], dealt: Sequence[range], rank: int) -> Route:
    """Return the route of `rank`, all ranks' islands having been `dealt`."""
    mine, others = dealt[rank], [other for other in range(len(dealt)) if other != rank]
    sources = sources_of(mine)
    own = _within(sources, mine)
    leaving = [_within(sources_of(dealt[other]), mine) for other in others]
    arriving = [_within(sources, dealt[other]) for other in others]
    packed = np.concatenate([*leaving, own])
    # The last entry is that of NOBODY, which is -1.
    slot_of = np.full(dealt[-1].stop + 1, NOBODY, np.int64)
    here = np.concatenate([own, *arriving])
    slot_of[here] = np.arange(len(here)) + len(packed) - len(own)
    return Route(
        leaving=packed - mine.start,
        sources=sources,
        slots=slot_of[sources],
        sends=_parcels(others, leaving, 0),
        receives=_parcels(others, arriving, len(packed)),
    )


def _within(sources: Islands, islands: range) -> Islands:
    """Return those of `islands` that are among the sources, ascending, each once."""
    return np.unique(sources[(sources >= islands.start) & (sources < islands.stop)])


def _parcels(ranks: Sequence[int], contents: Sequence[Islands], first: int) -> tuple[Parcel, ...]:
    ends = first + np.cumsum([0, *map(len, contents)])
    whole = zip(ranks, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return tuple(Parcel(*each) for each in whole if each[1] < each[2])
