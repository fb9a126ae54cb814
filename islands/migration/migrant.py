"""The layout of a migrant in a buffer: a header, the genes, then each field that travels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.state import Field

_HEADER = 16  # the cost and an unused word: `Migrant` in kernels/migrant.cuh
_STEP = 16  # bytes of the widest access; migrants start at multiples of it


class Migrant:
    """The layout of an individual that leaves an island with these fields."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        """Place each field that travels after the genes, aligned for the kernels."""
        self._fields = {name: field for name, field in fields.items() if field.travels}
        self.genes = slice(_HEADER, _HEADER + fields["genes"].entry_bytes)
        """The bytes of the genes."""
        self.offsets: dict[str, int] = {}
        """The first byte of each field that travels."""
        end = self.genes.stop
        for name, field in self._fields.items():
            size = field.entry_bytes
            self.offsets[name] = _rounded(
                end, np.dtype(field.dtype).itemsize if size % _STEP else _STEP
            )
            end = self.offsets[name] + size
        self.bytes = _rounded(end, _STEP)

    def traits(self, arrays: Mapping[str, Array]) -> list[Struct]:
        """Return a `Trait` of kernels/core/archipelago.cuh for each field that travels."""
        return [
            Struct(
                rows=arrays[name],
                bytes=np.int32(field.entry_bytes),
                in_halves=np.int32(field.in_halves),
                offset=np.int32(self.offsets[name]),
            )
            for name, field in self._fields.items()
        ]


def _rounded(place: int, step: int) -> int:
    return -(-place // step) * step
