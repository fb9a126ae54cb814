"""Migrants between colonies with different encodings.

A message contains genomes of the colony that sends it. The receiving rank decodes those of another
encoding with NumPy, and encodes the solutions for the colony that receives them. The cost stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.backends.base import Array, Backend
from islands.encodings import Encoding
from islands.migration.migrant import COST, MISSING
from islands.migration.topology import NOBODY, Islands

_HEADER = MISSING.stop


@dataclass(frozen=True)
class _Group:
    """Slots with migrants of one colony, and the first of the slots for their new genomes."""

    sender: int
    slots: Islands
    first: int


class Crossing:
    """Encodes migrants anew for the islands of one colony."""

    def __init__(
        self,
        backend: Backend,
        encodings: Sequence[Encoding],
        starts: Islands,
        receiver: int,
        *,
        buffer: Array,
        first: int,
        migrants: int,
    ) -> None:
        """Take the encodings and first islands of all colonies.

        New genomes are in the slots of the buffer from `first` on.
        """
        self._backend, self._encodings, self._starts = backend, encodings, starts
        self._own, self._buffer, self._first = encodings[receiver], buffer, first
        self._migrants = migrants
        self._is_foreign = np.array([not self._own.accepts(each) for each in encodings])
        self._groups: list[_Group] = []

    def follow(self, sources: Islands, slots: Islands) -> Islands:
        """Return the slots to unpack instead of `slots`, which come from the islands `sources`."""
        senders = np.searchsorted(self._starts, sources, "right") - 1
        is_foreign = (slots != NOBODY) & self._is_foreign[senders]
        found, first, self._groups = slots.copy(), self._first, []
        for sender in np.unique(senders[is_foreign]).tolist():
            own = is_foreign & (senders == sender)
            needed = np.unique(slots[own])
            self._groups.append(_Group(sender, needed, first))
            found[own] = first + np.searchsorted(needed, slots[own])
            first += len(needed)
        return found

    def encode(self) -> None:
        """Write the new genomes of all migrants that have arrived."""
        for group in self._groups:
            rows = self._downloaded(group.slots).reshape(len(group.slots) * self._migrants, -1)
            made = self._encoded(rows, self._encodings[group.sender])
            target = self._buffer[group.first : group.first + len(group.slots)]
            self._backend.upload(made.reshape(len(group.slots), -1), target)

    def _downloaded(self, slots: Islands) -> NDArray[np.uint8]:
        """Return the content of ascending slots, with one copy for consecutive ones."""
        blocks = np.split(slots, np.flatnonzero(np.diff(slots) != 1) + 1)
        return np.concatenate(
            [self._backend.download(self._buffer[each[0] : each[-1] + 1]) for each in blocks]
        )

    def _encoded(self, rows: NDArray[np.uint8], sender: Encoding) -> NDArray[np.uint8]:
        """Return migrants with the same costs and solutions, in the receiver's encoding."""
        made = np.zeros_like(rows)
        made[:, COST] = rows[:, COST]
        made[:, MISSING] = 0xFF
        size = sender.pitch * sender.gene.itemsize
        genomes = np.ascontiguousarray(rows[:, _HEADER : _HEADER + size]).view(sender.gene)
        size = self._own.pitch * self._own.gene.itemsize
        for row, solution in zip(made, sender.decode(genomes), strict=True):
            row[_HEADER : _HEADER + size] = self._own.encode(solution).view(np.uint8)
        return made
