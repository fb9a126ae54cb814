"""The layout of a migrant in a buffer: a header, the genes, then the fields that travel.

All colonies of a run share it, so that they can read each other's migrants. A message contains
genomes in the encoding of the sender; a `Converter` encodes them for colonies with other encodings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend
from islands.backends.state import Field
from islands.encodings import Encoding
from islands.errors import UsageError
from islands.migration.topology import NOBODY, Islands

COST = slice(0, 8)
"""The bytes of the cost."""
MISSING = slice(8, 16)
"""The bytes of the mask of missing fields: `Migrant::missing` in kernels/migrant.cuh."""
_HEADER = MISSING.stop
_STEP = 16  # bytes of the widest access; migrants start at multiples of it
_MOST = 63  # bits of `Migrant::missing`


class MigrantLayout:
    """The offsets of the fields of migrants, for all colonies of a run.

    Fields with the same name share an offset only if they belong to the same algorithm.
    """

    def __init__(self, colonies: Sequence[tuple[str, Mapping[str, Field]]]) -> None:
        """Take the algorithm and the fields of each colony.

        The fields that travel follow the genes, aligned for the kernels.
        """
        self._places: dict[tuple[str, str, int], int] = {}
        end = _HEADER + max(fields["genes"].entry_bytes for _, fields in colonies)
        for owner, fields in colonies:
            for name, field in fields.items():
                key = owner, name, field.entry_bytes
                if not field.travels or key in self._places:
                    continue
                size = field.entry_bytes
                step = np.dtype(field.dtype).itemsize if size % _STEP else _STEP
                self._places[key] = _rounded(end, step)
                end = self._places[key] + size
        if len(self._places) > _MOST:
            raise UsageError(
                f"{len(self._places)} fields travel with migrants, but at most {_MOST} may. Choose"
                " travels=False for some of them"
            )
        self.bytes = _rounded(end, _STEP)

    def place(self, owner: str, name: str, field: Field) -> tuple[int, int]:
        """Return the offset of a field in bytes, and its bit in the mask of missing fields."""
        key = owner, name, field.entry_bytes
        return self._places[key], list(self._places).index(key)


class Migrant:
    """The layout of an individual that leaves an island with these fields."""

    def __init__(
        self, fields: Mapping[str, Field], owner: str = "", layout: MigrantLayout | None = None
    ) -> None:
        """Take the offsets of the `layout`, by default of one for these fields alone."""
        layout = layout or MigrantLayout([(owner, fields)])
        self._fields = {name: field for name, field in fields.items() if field.travels}
        self.genes = slice(_HEADER, _HEADER + fields["genes"].entry_bytes)
        """The bytes of the genes."""
        self._places = {
            name: layout.place(owner, name, field) for name, field in self._fields.items()
        }
        self.offsets = {name: offset for name, (offset, _) in self._places.items()}
        """The offset of each field that travels."""
        self.bytes = layout.bytes

    def traits(self, arrays: Mapping[str, Array]) -> list[Struct]:
        """Return a `Trait` of kernels/core/islands.cuh for each field that travels."""
        return [
            _trait(arrays[name], field.entry_bytes, field.in_halves, *self._places[name])
            for name, field in self._fields.items()
        ]


def _trait(rows: Array, size: int, in_halves: bool, offset: int, bit: int) -> Struct:
    numbers = {"bytes": size, "in_halves": in_halves, "offset": offset, "bit": bit}
    return Struct(rows=rows, **{name: np.int32(number) for name, number in numbers.items()})


STRUCTS = {
    "Migrant": Struct(cost=np.int64(0), missing=np.int64(0)),
    "Trait": _trait(Null(np.uint8), 0, False, 0, 0),
}
"""Samples of the structs of kernels with this layout."""


def _rounded(place: int, step: int) -> int:
    return -(-place // step) * step


@dataclass(frozen=True)
class _Group:
    """Slots with migrants of one colony, and the first slot for the converted migrants."""

    sender: int
    slots: Islands
    first: int


class Converter:
    """Converts migrants to the encoding of one colony, without changing their costs.

    The receiving rank decodes their genomes and encodes the solutions, in NumPy.
    """

    def __init__(
        self,
        backend: Backend,
        encodings: Sequence[Encoding],
        *,
        starts: Islands,
        receiver: int,
        buffer: Array,
        first: int,
        migrants: int,
    ) -> None:
        """Take the encodings and first islands of all colonies, and the number of the receiver.

        Converted migrants are in the slots of the buffer that begin with `first`.
        """
        self._backend, self._encodings, self._starts = backend, encodings, starts
        self._target, self._buffer, self._first = encodings[receiver], buffer, first
        self._migrants = migrants
        self._is_foreign = np.array([not self._target.accepts(sender) for sender in encodings])
        self._groups: list[_Group] = []

    def follow(self, sources: Islands, slots: Islands) -> Islands:
        """Return the slots to unpack instead of `slots`, which come from the islands `sources`."""
        senders = np.searchsorted(self._starts, sources, "right") - 1
        is_foreign = (slots != NOBODY) & self._is_foreign[senders]
        converted, first, self._groups = slots.copy(), self._first, []
        for sender in np.unique(senders[is_foreign]).tolist():
            from_sender = is_foreign & (senders == sender)
            needed = np.unique(slots[from_sender])
            self._groups.append(_Group(sender, needed, first))
            converted[from_sender] = first + np.searchsorted(needed, slots[from_sender])
            first += len(needed)
        return converted

    def convert(self) -> None:
        """Convert all foreign migrants that have arrived."""
        for group in self._groups:
            rows = self._downloaded(group.slots).reshape(len(group.slots) * self._migrants, -1)
            converted = self._converted(rows, self._encodings[group.sender])
            target = self._buffer[group.first : group.first + len(group.slots)]
            self._backend.upload(converted.reshape(len(group.slots), -1), target)

    def _downloaded(self, slots: Islands) -> NDArray[np.uint8]:
        """Return the content of ascending slots, copying consecutive ones together."""
        blocks = np.split(slots, np.flatnonzero(np.diff(slots) != 1) + 1)
        download, buffer = self._backend.download, self._buffer
        return np.concatenate([download(buffer[block[0] : block[-1] + 1]) for block in blocks])

    def _converted(self, rows: NDArray[np.uint8], sender: Encoding) -> NDArray[np.uint8]:
        """Return migrants with the same costs and solutions, in the receiver's encoding."""
        converted = np.zeros_like(rows)
        converted[:, COST] = rows[:, COST]
        converted[:, MISSING] = 0xFF
        size = sender.pitch * sender.gene.itemsize
        genomes = np.ascontiguousarray(rows[:, _HEADER : _HEADER + size]).view(sender.gene)
        size = self._target.pitch * self._target.gene.itemsize
        for row, solution in zip(converted, sender.decode(genomes), strict=True):
            row[_HEADER : _HEADER + size] = self._target.encode(solution).view(np.uint8)
        return converted
