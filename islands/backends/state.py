"""The arrays of a rank's islands on the device, by name, which can be saved and restored.

The modules that declare the arrays define their meaning. Each array has a part for each island;
some arrays have two halves: generation g is in half g % 2.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.backends.base import Array, Backend
from islands.errors import InputError, UsageError
from islands.text import unknown

KINDS = ("kept", "derived", "scratch")


@dataclass(frozen=True)
class Field:
    """The part of an array for one island: its shape and the type of its elements."""

    shape: tuple[int, ...]
    dtype: DTypeLike
    in_halves: bool = False
    kind: str = "kept"
    """`kept`: saved and restored; `derived`: computed from kept fields; `scratch`: neither."""
    travels: bool = False
    """Whether the entry of an individual, along the first dimension, migrates with it."""
    cleared: bool = True
    """Whether it is set to zero before generation 0; if not, its initial content is unspecified."""

    def __post_init__(self) -> None:
        """Reject invalid values."""
        if not isinstance(self.shape, tuple):
            raise UsageError(
                f"Field of shape={self.shape!r}: is not a tuple. Write ({self.shape},)"
            )
        if self.kind not in KINDS:
            raise UsageError(f"Field of kind={self.kind!r}: {unknown('kind', self.kind, KINDS)}")
        if self.travels and self.kind != "kept":
            raise UsageError(
                f"Field of kind={self.kind!r} with travels=True: only kept fields travel with"
                " migrants. Choose kind='kept', or travels=False"
            )

    @property
    def island_bytes(self) -> int:
        """The bytes of the part of one island."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def entry_bytes(self) -> int:
        """The bytes of one individual, if the first dimension is the population."""
        return math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize


def require_array(name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Reject a saved array without the shape and type that a run needs."""
    if (array.shape, array.dtype) != (shape, np.dtype(dtype)):
        raise InputError(
            f"the saved array {name} has shape {array.shape} and type {array.dtype}, but this run"
            f" needs {shape} and {np.dtype(dtype)}"
        )


class IslandArrays:
    """An array per field, with a part for each island."""

    def __init__(self, backend: Backend, islands: int, fields: Mapping[str, Field]) -> None:
        self._backend, self._islands, self.fields = backend, islands, dict(fields)
        self._kept = {name: field for name, field in fields.items() if field.kind == "kept"}
        self._copies: dict[str, Array] = {}
        self._is_whole_copy = False
        self.arrays: dict[str, Array] = {}
        for name, field in fields.items():
            halves = (2,) if field.in_halves else ()
            # Checkpoints contain all bytes of kept arrays, also those that no kernel writes.
            allocate = backend.zeros if field.kind == "kept" else backend.empty
            self.arrays[name] = allocate((*halves, islands, *field.shape), field.dtype)

    def fill(self, name: str, value: int = 0) -> None:
        """Set all elements of an array to one value."""
        self._backend.fill(self.arrays[name], value)

    def part(self, name: str, generation: int) -> Array:
        """Return the part of an array for this generation: a row for each island."""
        array = self.arrays[name]
        return array[generation % 2] if self.fields[name].in_halves else array

    def remember(self, generation: int, *, wholly: bool) -> None:
        """Copy the kept arrays on the device, for `recall`.

        Unless `wholly`, copy only what the next generation overwrites: arrays without halves.
        """
        for name, field in self._kept.items():
            if wholly or not field.in_halves:
                part = self.part(name, generation)
                if name not in self._copies:
                    self._copies[name] = self._backend.empty(part.shape, part.dtype)
                self._backend.copy(part, self._copies[name])
        self._is_whole_copy = wholly

    def remembered(self, name: str) -> Array:
        """Return the copy of an array that `remember` made."""
        return self._copies[name]

    def recall(self, generation: int) -> None:
        """Restore the kept arrays from the copies that `remember` made in this generation."""
        for name, field in self._kept.items():
            if self._is_whole_copy or not field.in_halves:
                self._backend.copy(self._copies[name], self.part(name, generation))

    def snapshot(self, generation: int, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        """Return the kept arrays of this generation, valid until a launch unless `is_copied`."""
        get = self._backend.download if is_copied else self._backend.read
        return {name: get(self.part(name, generation)) for name in self._kept}

    def require_fit(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Reject arrays with other names, shapes or types than these islands have."""
        if set(saved) != set(self._kept):
            raise InputError(
                f"the saved arrays are {', '.join(sorted(saved))}, but this run has"
                f" {', '.join(sorted(self._kept))}"
            )
        for name, field in self._kept.items():
            require_array(name, saved[name], (self._islands, *field.shape), field.dtype)

    def restore(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Upload arrays that were saved in this generation and passed `require_fit`."""
        for name in self._kept:
            self._backend.upload(saved[name], self.part(name, generation))
