"""The exchange of migrants in launches that several runs share.

The islands of a rank belong to runs with different seeds, at different generations. No migrant
leaves its run. An island packs its migrants into the slot with its number.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Backend
from islands.migration.exchange import Arrivals, MigrationTimes, entries
from islands.migration.kernels import Kernels, Side
from islands.migration.route import Route
from islands.migration.settings import MigrationSettings
from islands.migration.topology import NOBODY, TOPOLOGIES, Islands, Scene

_MOST_KNOWN = 64
"""Maximum number of migrations whose sources are cached for other runs with the same seed."""


class MigrationOutcome(NamedTuple):
    """The outcome of a migration for a run; arrays have an entry for each possible migrant."""

    number: int
    """The migration number."""
    sources: Islands
    """A row for each island: the islands of the run that sent to it, padded with NOBODY."""
    cost: NDArray[np.int64]
    accepted: NDArray[np.bool_]
    bytes: int
    """The size of each migrant."""
    phases: MigrationTimes

    def arrivals(self) -> Arrivals:
        """Return the record of the migrants."""
        islands = range(len(self.sources))
        migrants = len(self.cost) // self.sources.size
        source, target, exists = entries(self.sources, islands, migrants)
        seconds = self.phases.pack + self.phases.unpack
        return Arrivals(
            number=self.number,
            source=source,
            target=target,
            cost=self.cost[exists],
            accepted=self.accepted[exists],
            bytes=self.bytes,
            microseconds=np.full(len(source), 1e6 * seconds),
            transport=np.full(len(source), "device"),
            phases=self.phases,
        )


class SharedExchange:
    """Exchanges migrants between islands of the same run, for the runs that migrate now."""

    def __init__(
        self,
        settings: MigrationSettings,
        backend: Backend,
        side: Side,
        migrant_bytes: int,
        islands_per_run: int,
    ) -> None:
        """Bind the kernels to the islands of all runs; a migrant has `migrant_bytes` bytes."""
        self._backend, self._delay, self._bytes = backend, settings.delay, migrant_bytes
        self._islands, self._islands_per_run = side.islands, islands_per_run
        self._arrived: dict[int, tuple[int, Islands]] = {}
        """For each run, the last migration whose migrants have arrived, and their sources."""
        self._phases: list[tuple[Any, Any]] = []
        """The marks before and after packing and unpacking; with a delay, unpacking comes first."""
        self._topology = TOPOLOGIES[settings.topology]
        assert self._topology.is_built_in, "the others may reject a run"
        self._degree = self._topology.widest(islands_per_run, seed=0)
        self._known: dict[tuple[int, int], Islands] = {}
        self._most_arrivals = islands_per_run * self._degree * settings.migrants
        """Maximum number of migrants that arrive at a run."""
        buffer = backend.zeros((side.islands, settings.migrants * migrant_bytes), np.uint8)
        self._kernels = Kernels(
            settings, backend, side, buffer, degree=self._degree, slots=side.islands
        )

    def _sources(self, seed: int, number: int) -> Islands:
        """Return the sources in a migration of a run, a row for each of its islands."""
        scene = (seed, number) if self._topology.changes else (0, 1)
        if scene not in self._known:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            size = self._islands_per_run
            sources = self._topology.sources(Scene(size, *scene), range(size))
            self._known[scene] = np.full((size, self._degree), NOBODY, np.int64)
            self._known[scene][:, : sources.shape[1]] = sources
        return self._known[scene]

    def migrate(self, numbers: Sequence[int], seeds: Sequence[int]) -> None:
        """Pack and unpack migrants; `numbers` has the migration number of each run, or 0.

        With a delay, the migrants of the previous migration arrive now.
        """
        size, self._arrived = self._islands_per_run, {}
        leaving = np.full(self._islands, NOBODY, np.int64)
        sources = np.full((self._islands, self._degree), NOBODY, np.int64)
        for run, (number, seed) in enumerate(zip(numbers, seeds, strict=True)):
            mine, arriving = slice(run * size, (run + 1) * size), number - self._delay
            if number:
                leaving[mine] = np.arange(mine.start, mine.stop)
            if arriving > 0:
                rows = self._sources(seed, arriving)
                self._arrived[run] = arriving, rows
                sources[mine] = np.where(rows == NOBODY, NOBODY, rows + mine.start)
        route = Route(leaving, sources, slots=sources, sends=(), receives=())
        self._kernels.follow(route, waits=False)
        phases, self._phases = [self._kernels.packing, self._kernels.unpacking], []
        for calls in phases if self._delay == 0 else reversed(phases):
            begin = self._backend.mark()
            self._backend.run(calls)
            self._phases.append((begin, self._backend.mark()))
        self._kernels.fetch()

    def outcomes(self) -> dict[int, MigrationOutcome]:
        """Return the outcome of the last complete migration of each run, on the first call only."""
        arrived, self._arrived = self._arrived, {}
        if not arrived:
            return {}
        cost, accepted = (
            array.reshape(-1, self._most_arrivals) for array in self._kernels.arrivals()
        )
        first, second = (self._backend.seconds_between(*marks) for marks in self._phases)
        pack, unpack = (first, second) if self._delay == 0 else (second, first)
        phases = MigrationTimes(pack, 0.0, unpack)
        return {
            # Copies, so that results do not keep the arrivals of other runs in memory.
            run: MigrationOutcome(
                number, rows, cost[run].copy(), accepted[run].copy(), self._bytes, phases
            )
            for run, (number, rows) in arrived.items()
        }
