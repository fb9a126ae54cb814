"""The names of arrays in a snapshot: those of several colonies begin with the colony's number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from islands.errors import InputError

EMIGRANTS = "emigrants"
"""The array of migrants in flight, with a row for each island of all colonies."""


def joined(
    arrays: Mapping[int, Mapping[str, NDArray[Any]]], colonies: int
) -> dict[str, NDArray[Any]]:
    """Return the arrays of some of the `colonies`, by number, with their names in a snapshot."""
    return {
        name if colonies == 1 else f"{number}.{name}": array
        for number, own in arrays.items()
        for name, array in own.items()
    }


def split(name: str, colonies: int) -> tuple[int, str]:
    """Return the number of the colony of an array, and its name there; refuse other names."""
    if colonies == 1:
        return 0, name
    number, _, own = name.partition(".")
    if not (number.isdecimal() and int(number) < colonies):
        raise InputError(f"the saved array {name} belongs to none of {colonies} colonies")
    return int(number), own


def by_colony(saved: Mapping[str, NDArray[Any]], colonies: int) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of a snapshot that belong to each colony, by their names there."""
    found: list[dict[str, NDArray[Any]]] = [{} for _ in range(colonies)]
    for name, array in saved.items():
        if name != EMIGRANTS:
            number, own = split(name, colonies)
            found[number][own] = array
    return found
