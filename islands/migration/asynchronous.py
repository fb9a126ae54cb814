"""Migration that waits for nobody: what has come is taken in, what cannot leave yet is left out.

Which migrants meet which generation depends on the speed of the ranks, so no two runs are the same.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.migration.exchange import Exchange
from islands.migration.route import Parcel, Route
from islands.migration.topology import NOBODY, TOPOLOGIES
from islands.text import option

_TAG = 3


class AsyncExchange(Exchange):
    """Carries the latest migrants between ranks; within a rank, from one migration to the next."""

    def _check(self) -> None:
        super()._check()
        if self._topology.changes:
            fixed = [name for name, each in TOPOLOGIES.items() if not each.changes]
            raise UsageError(
                f"--async with migration {self._settings.topology}: ranks that do not wait cannot"
                f" draw partners together. Choose {option('migration', fixed)}"
            )

    def _begin(self) -> None:
        self._whole = self._route
        self._sends = {parcel.rank: parcel for parcel in self._whole.sends}
        self._receives = {parcel.rank: parcel for parcel in self._whole.receives}
        self._channel = self._world.channel(
            _TAG,
            {rank: self._carrier.memory(each) for rank, each in self._sends.items()},
            {rank: self._carrier.memory(each) for rank, each in self._receives.items()},
        )
        self._transport_seconds = nan
        begin = self._backend.mark()
        self._packed = (begin, begin)
        self._has_packed = False

    def migrate(self) -> None:
        """Take in those who are here, and let others leave where the way is free."""
        if not self.active:
            return
        here, free = self._channel.arrived(), sorted(self._channel.free())
        self._carrier.enter([self._receives[rank] for rank in here])
        self._route = self._open(here, free)
        self._kernels.follow(self._route)
        self._has_arrived = True
        self._take()
        self.epoch += 1
        begin = self._backend.mark()
        self._kernels.pack()
        self._has_packed = True
        self._packed = (begin, self._backend.mark())
        self._carrier.leave([self._sends[rank] for rank in free])
        self._backend.synchronise()
        for rank in here:
            self._channel.listen(rank)
        for rank in free:
            self._channel.send(rank)

    def restore(self, epoch: int, emigrants: NDArray[np.uint8] | None) -> None:
        """Go on after so many migrations; whoever was on the way is left out."""
        super().restore(epoch, None)
        self._has_packed = False

    def finish(self) -> None:
        """Take leave of the other ranks; collective."""
        if self.active:
            self._channel.close()

    def _open(self, here: list[int], free: list[int]) -> Route:
        """Return the route without the slots that are on their way, or were never packed."""
        closed_out = [each for rank, each in self._sends.items() if rank not in free]
        closed_in = [each for rank, each in self._receives.items() if rank not in here]
        if not self._has_packed:
            closed_in.append(Parcel(self._world.rank, 0, len(self._whole.leaving)))
        leaving, slots = self._whole.leaving.copy(), self._whole.slots.copy()
        for parcel in closed_out:
            leaving[parcel.first : parcel.last] = NOBODY
        for parcel in closed_in:
            slots[(slots >= parcel.first) & (slots < parcel.last)] = NOBODY
        return replace(self._whole, leaving=leaving, slots=slots)
