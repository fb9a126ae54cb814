"""Migration without waiting: a rank unpacks what has arrived and sends where it can.

Which migrants arrive in which generation depends on the speed of the ranks, so runs are not
reproducible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.migration.arrivals import Migration
from islands.migration.base import MigrationSettings
from islands.migration.exchange import Exchange
from islands.migration.route import Parcel, Route
from islands.migration.topology import NOBODY, TOPOLOGIES
from islands.text import option

_TAG = 3


def require_same_senders(settings: MigrationSettings) -> None:
    """Refuse a topology that changes, which ranks that do not wait would apply differently."""
    if TOPOLOGIES[settings.topology].changes:
        fixed = [name for name, each in TOPOLOGIES.items() if not each.changes]
        raise UsageError(
            f"--async with migration {settings.topology}: ranks that do not wait cannot use a"
            f" random topology. Choose {option('migration', fixed)}"
        )


class AsyncExchange(Exchange):
    """Exchanges the latest migrants between ranks; within a rank, at the next migration."""

    def _begin(self) -> None:
        assert self._carrier is not None, "several ranks have found a transport"
        self._sends = {parcel.rank: parcel for parcel in self._route.sends}
        self._receives = {parcel.rank: parcel for parcel in self._route.receives}
        self._channel = self._world.channel(
            _TAG,
            {rank: self._carrier.memory(each) for rank, each in self._sends.items()},
            {rank: self._carrier.memory(each) for rank, each in self._receives.items()},
        )
        self._latest: Migration | None = None

    def migrate(self) -> None:
        """Unpack the migrants that have arrived, then pack and send where no message is pending."""
        if not self.active:
            return
        assert self._carrier is not None
        arrived, free = self._channel.arrived(), sorted(self._channel.free())
        previous = self._latest or self._new(self._route)
        previous.route = route = self._open(arrived, free, is_packed=previous.packed is not None)
        self._carrier.unstage(route.receives)
        self._follow(route)
        self._unpack(previous)
        self._completed = previous
        self.migrations += 1
        self._latest = self._new(route)
        self._pack(self._latest)
        self._backend.synchronise()
        for rank in arrived:
            self._channel.listen(rank)
        for rank in free:
            self._channel.send(rank)

    def restore(self, migrations: int, emigrants: NDArray[np.uint8] | None) -> None:
        """Continue after this number of migrations, without any migrants that were in flight."""
        super().restore(migrations, None)
        self._latest = None

    def finish(self) -> None:
        """Close the channel to the other ranks; collective."""
        if self.active:
            self._channel.close()

    def _open(self, arrived: list[int], free: list[int], *, is_packed: bool) -> Route:
        """Return the route without slots that are in flight or were never packed."""
        leaving, slots = self._route.leaving.copy(), self._route.slots.copy()
        closed_in = [each for rank, each in self._receives.items() if rank not in arrived]
        if not is_packed:
            closed_in.append(Parcel(self._world.rank, 0, len(leaving)))
        for rank, parcel in self._sends.items():
            if rank not in free:
                leaving[parcel.first : parcel.last] = NOBODY
        for parcel in closed_in:
            slots[(slots >= parcel.first) & (slots < parcel.last)] = NOBODY
        return replace(
            self._route,
            leaving=leaving,
            slots=slots,
            sends=tuple(self._sends[rank] for rank in free),
            receives=tuple(self._receives[rank] for rank in arrived),
        )
