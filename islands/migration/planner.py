"""The route of every migration: the topology applied to the islands of each run, split by rank."""

from __future__ import annotations

import numpy as np

from islands.migration.route import Route, plan
from islands.migration.topology import NOBODY, Islands, Scene, Topology
from islands.parallel import World, deal


class Planner:
    """Plans the route of each migration through one rank.

    The islands belong to several runs with consecutive seeds. No migrant leaves its run.
    """

    def __init__(
        self, topology: Topology, world: World, *, islands: int, runs: int, seed: int
    ) -> None:
        """Deal all `islands` of all `runs` to the ranks."""
        self._topology, self._world = topology, world
        self._islands, self._seed = islands, seed
        self.islands_a_run = islands // runs
        self._dealt = [deal(islands, world.size, rank) for rank in range(world.size)]
        self.mine = self._dealt[world.rank]
        """The islands of this rank."""
        self.changes = topology.changes
        """Whether each migration has a route of its own."""

    @property
    def most_sources(self) -> int:
        """The largest number of islands that one island receives from."""
        size = self.islands_a_run
        seeds = range(self._seed, self._seed + self._islands // size)
        return max(self._topology.widest(size, seed) for seed in seeds)

    def most_slots(self) -> int:
        """Return the largest number of slots in any route."""
        if self.changes:
            return self._topology.slots(len(self.mine), self._islands, self._world.size)
        return self.route(1).size

    def route(self, number: int) -> Route:
        """Return the route of the migration with this number, counted from 1."""
        rank = self._world.rank
        if self.changes:
            every = self._sources(number, range(self._islands))
            return plan(lambda block: every[block.start : block.stop], self._dealt, rank)
        return plan(lambda block: self._sources(number, block), self._dealt, rank)

    def _sources(self, number: int, receivers: range) -> Islands:
        """Return a row for each receiver: the islands of its run that send to it, then NOBODY."""
        size, rows = self.islands_a_run, []
        for run in range(receivers.start // size, -(-receivers.stop // size)):
            first, scene = run * size, Scene(size, self._seed + run, number)
            of_run = range(max(receivers.start - first, 0), min(receivers.stop - first, size))
            sources = self._topology.sources(scene, of_run)
            rows.append(np.where(sources == NOBODY, NOBODY, sources + first))
        found = np.full((len(receivers), max(each.shape[1] for each in rows)), NOBODY, np.int64)
        done = 0
        for each in rows:
            found[done : done + len(each), : each.shape[1]] = each
            done += len(each)
        return found
