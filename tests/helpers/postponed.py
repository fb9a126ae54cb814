"""Runs that have passed more generations than any test has time for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND

_COUNTED = [ISLAND.index(name) for name in ISLAND if name.endswith("generation")]

FAR = 2**32
"""Generations, after which a count of 32 bits begins anew."""


def postponed(saved: Mapping[str, NDArray[Any]], by: int) -> dict[str, NDArray[Any]]:
    """Return the same islands so many generations later."""
    later = {name: array.copy() for name, array in saved.items()}
    later["island"][:, _COUNTED] += by
    if "began" in later:
        later["began"] += by
    return later


def postpone(islands: Archipelago, by: int) -> None:
    """Let islands go on as if they had passed so many generations and migrations more."""
    islands.restore(
        postponed(islands.snapshot(), by),
        generation=islands.generation + by,
        migrations=islands.migrations + by,
    )


def postpone_reference(reference: Any, by: int) -> None:
    """Do the same with islands in NumPy."""
    reference.generation += by
    reference.since = [each + by for each in reference.since]
    if hasattr(reference, "began"):
        reference.began = [each + by for each in reference.began]
