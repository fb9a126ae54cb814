"""Runs with shifted counters: more generations than a test has time for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND

_COUNTED = [ISLAND.index(name) for name in ISLAND if name.endswith("generation")]

FAR = 2**32
"""The number of generations at which a counter of 32 bits overflows."""


def shifted_state(saved: Mapping[str, NDArray[Any]], by: int) -> dict[str, NDArray[Any]]:
    """Return the state of islands with all generation counters increased by `by`."""
    later = {name: array.copy() for name, array in saved.items()}
    later["island"][:, _COUNTED] += by
    if "began" in later:
        later["began"] += by
    return later


def shift(islands: Archipelago, by: int) -> None:
    """Increase the generation and migration counters of islands by `by`."""
    islands.restore(
        shifted_state(islands.snapshot(), by),
        generation=islands.generation + by,
        migrations=islands.migrations + by,
    )


def shift_reference(reference: Any, by: int) -> None:
    """Increase the counters of a NumPy reference by `by`."""
    reference.generation += by
    reference.since = [each + by for each in reference.since]
    if hasattr(reference, "began"):
        reference.began = [each + by for each in reference.began]
