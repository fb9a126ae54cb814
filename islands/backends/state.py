"""The state of a rank's islands on the device: arrays by name, which can be saved and restored.

What an array means is known to those who declare it. Here it is only known that each has a part for
each island, and that some have two halves, of which generation g is in half g % 2.
"""

from __future__ import annotations

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
    """What one island has of an array: its shape and the type of its numbers."""

    shape: tuple[int, ...]
    dtype: DTypeLike
    in_halves: bool = False
    kind: str = "kept"
    """`kept` is saved and restored; `derived` can be made from what is kept, `scratch` anew."""
    travels: bool = False
    """Whether the entry of an individual, by which the shape begins, goes with it to others."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not isinstance(self.shape, tuple):
            raise UsageError(f"Field of shape={self.shape!r}: is no tuple. Write ({self.shape},)")
        if self.kind not in KINDS:
            raise UsageError(f"Field of kind={self.kind!r}: {unknown('kind', self.kind, KINDS)}")
        if self.travels and self.kind != "kept":
            raise UsageError(
                f"Field of kind={self.kind!r} with travels=True: only what is kept travels with"
                " migrants. Choose kind='kept', or travels=False"
            )

    @property
    def entry_bytes(self) -> int:
        """The bytes that an individual has, where the shape begins with the population."""
        return math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize


class State:
    """Arrays of so many islands."""

    def __init__(self, backend: Backend, islands: int, fields: Mapping[str, Field]) -> None:
        self._backend, self._islands, self._fields = backend, islands, dict(fields)
        self._kept = {name: each for name, each in fields.items() if each.kind == "kept"}
        self._copies: dict[str, Array] = {}
        self._remembered = False
        self.arrays: dict[str, Array] = {}
        for name, field in fields.items():
            halves = (2,) if field.in_halves else ()
            self.arrays[name] = backend.empty((*halves, islands, *field.shape), field.dtype)

    def fill(self, name: str, value: int = 0) -> None:
        """Give all numbers of an array one value."""
        self._backend.fill(self.arrays[name], value)

    def part(self, name: str, generation: int) -> Array:
        """Return an array as it stands in this generation: a row for each island."""
        array = self.arrays[name]
        return array[generation % 2] if self._fields[name].in_halves else array

    def remember(self, generation: int, *, wholly: bool) -> None:
        """Keep a copy on the device of what is kept, for `recall`.

        Unless `wholly`, only of what the next generation is written over: not of halves.
        """
        for name, field in self._kept.items():
            if wholly or not field.in_halves:
                part = self.part(name, generation)
                if name not in self._copies:
                    self._copies[name] = self._backend.empty(part.shape, part.dtype)
                self._backend.copy(part, self._copies[name])
        self._remembered = wholly

    def remembered(self, name: str) -> Array:
        """Return the copy of an array that `remember` has kept."""
        return self._copies[name]

    def recall(self, generation: int) -> None:
        """Take back what has become of all since `remember` in this generation."""
        for name, field in self._kept.items():
            if self._remembered or not field.in_halves:
                self._backend.copy(self._copies[name], self.part(name, generation))

    def snapshot(self, generation: int, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        """Return all that is kept of this generation; unless `is_copied`, it is for the moment."""
        get = self._backend.download if is_copied else self._backend.read
        return {name: get(self.part(name, generation)) for name in self._kept}

    def require_fit(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Refuse what was not saved from islands like these."""
        if set(saved) != set(self._kept):
            raise InputError(
                f"the saved arrays are {', '.join(sorted(saved))}, but this run has"
                f" {', '.join(sorted(self._kept))}"
            )
        for name, field in self._kept.items():
            found, wanted = saved[name], (self._islands, *field.shape)
            if found.shape != wanted or found.dtype != np.dtype(field.dtype):
                raise InputError(
                    f"the saved array {name} holds {found.shape} of {found.dtype}, but this run has"
                    f" {wanted} of {np.dtype(field.dtype)}"
                )

    def restore(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Take over what was saved in this generation, having been found to fit."""
        for name in self._kept:
            self._backend.upload(saved[name], self.part(name, generation))
