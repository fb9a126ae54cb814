"""The route of one migration through a rank: the slots that it packs, sends, receives and unpacks.

A rank has one buffer of slots; a slot contains the migrants of one island. The first slots are sent
to other ranks, ordered by receiver; then come those for local islands, and then those that arrive,
ordered by sender. A rank therefore sends one message to each neighbour, without duplicates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from islands.migration.topology import NOBODY, Islands, Scene, Topology
from islands.parallel import Deal, World


@dataclass(frozen=True)
class Parcel:
    """A message between this rank and another: the slots `first` to `last` - 1."""

    rank: int
    first: int
    last: int


@dataclass(frozen=True)
class Route:
    """The slots of a rank's buffer in one migration."""

    leaving: Islands
    """The island whose migrants are packed into each slot; 0 is the first one on this rank."""
    sources: Islands
    """A row for each island of the rank: the islands that send to it, padded with NOBODY."""
    slots: Islands
    """The slot of each of these islands."""
    sends: tuple[Parcel, ...]
    receives: tuple[Parcel, ...]

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self.leaving) + sum(parcel.last - parcel.first for parcel in self.receives)


class Planner:
    """Plans the route of each migration through one rank."""

    def __init__(self, topology: Topology, world: World, deal: Deal, *, seed: int) -> None:
        """Plan for the islands as `deal` distributes them over the ranks."""
        self._topology, self._world, self._seed = topology, world, seed
        self._deal = deal
        self.islands = deal.held(world.rank)
        """The islands of this rank."""
        self.changes = topology.changes
        """Whether routes differ between migrations."""

    @property
    def most_sources(self) -> int:
        """The largest number of islands that one island receives from."""
        return self._topology.widest(self._deal.islands, self._seed)

    def most_slots(self, first: Route) -> int:
        """Return the maximum number of slots of a route, given the first one."""
        if self.changes:
            return self._topology.slots(len(self.islands), self._deal)
        return first.size

    def route(self, number: int) -> Route:
        """Return the route of the migration with this number, counted from 1."""
        scene = Scene(self._deal.islands, self._seed, number)

        def sources(receivers: range) -> Islands:
            return self._topology.sources(scene, receivers)

        if self.changes:
            rows = sources(range(self._deal.islands))
            return plan(lambda block: rows[block.start : block.stop], self._deal, self._world.rank)
        return plan(sources, self._deal, self._world.rank)


def plan(sources_of: Callable[[range], Islands], deal: Deal, rank: int) -> Route:
    """Return the route of `rank`.

    All ranks of a team receive migrants, but only the first one sends those of the team's islands.
    """
    islands, others = deal.held(rank), [other for other in range(deal.ranks) if other != rank]
    sources = sources_of(islands)
    local = _within(sources, islands)
    leaving, arriving = [], []
    for other in others:
        is_team = other in deal.team(rank)
        sent, received = deal.recorded(rank), deal.recorded(other)
        leaving.append(_within(sources_of(deal.held(other)), sent[:0] if is_team else sent))
        arriving.append(_within(sources, received[:0] if is_team else received))
    packed = np.concatenate([*leaving, local])
    # The last entry is for NOBODY, which is -1.
    slot_of = np.full(deal.islands + 1, NOBODY, np.int64)
    needed = np.concatenate([local, *arriving])
    slot_of[needed] = np.arange(len(needed)) + len(packed) - len(local)
    return Route(
        leaving=packed - islands.start,
        sources=sources,
        slots=slot_of[sources],
        sends=_parcels(others, leaving, 0),
        receives=_parcels(others, arriving, len(packed)),
    )


def _within(sources: Islands, islands: range) -> Islands:
    """Return the sources that are in `islands`, ascending and without duplicates."""
    # Not np.unique, which imports numpy.ma and adds 13 ms to every start.
    is_source = np.zeros(len(islands), bool)
    is_source[sources[(sources >= islands.start) & (sources < islands.stop)] - islands.start] = True
    return np.flatnonzero(is_source) + islands.start


def _parcels(ranks: Sequence[int], contents: Sequence[Islands], first: int) -> tuple[Parcel, ...]:
    ends = first + np.cumsum([0, *map(len, contents)])
    spans = zip(ranks, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return tuple(Parcel(rank, begin, end) for rank, begin, end in spans if begin < end)
