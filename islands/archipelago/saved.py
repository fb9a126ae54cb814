"""The names of arrays in a snapshot, and checks of their content before they are restored.

Kernels do not check their input: with an invalid gene, they could access memory out of bounds.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.colonies import RankIslands
from islands.archipelago.measure import INFEASIBLE, ISLAND, NONE
from islands.encodings import Encoding
from islands.encodings.base import are_orders
from islands.errors import InputError
from islands.migration import Migrant

EMIGRANTS = "emigrants"
"""The array of migrants in flight, with a row for each island of all colonies."""


def joined(
    arrays: Mapping[int, Mapping[str, NDArray[Any]]], colonies: int
) -> dict[str, NDArray[Any]]:
    """Merge the arrays of all colonies, by colony number, under their names in a snapshot."""
    return {
        name if colonies == 1 else f"{number}.{name}": array
        for number, of_colony in arrays.items()
        for name, array in of_colony.items()
    }


def split(name: str, colonies: int) -> tuple[int, str]:
    """Split the name of an array in a snapshot into the colony number and the name there."""
    if colonies == 1:
        return 0, name
    number, _, short = name.partition(".")
    if not (number.isdecimal() and int(number) < colonies):
        raise InputError(f"the saved array {name} belongs to none of {colonies} colonies")
    return int(number), short


def by_colony(saved: Mapping[str, NDArray[Any]], colonies: int) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of each colony in a snapshot, by name."""
    arrays: list[dict[str, NDArray[Any]]] = [{} for _ in range(colonies)]
    for name, array in saved.items():
        if name != EMIGRANTS:
            number, short = split(name, colonies)
            arrays[number][short] = array
    return arrays


def require_sound(
    saved: Mapping[str, NDArray[Any]], encoding: Encoding, generation: int, held: RankIslands
) -> None:
    """Reject arrays with invalid content for the islands of this rank in this generation."""
    island = saved["island"]
    expected = {"generation": generation, "seed": held.seed_word, "number": np.array(held.numbers)}
    for name, value in expected.items():
        if (island[:, ISLAND.index(name)] != value).any():
            raise _unsound("island", f"a {name} other than that of this run")
    if not np.isin(island[:, ISLAND.index("restart")], (0, 1)).all():
        raise _unsound("island", "a restart flag other than 0 or 1")
    if not are_orders(saved["order"]):
        raise _unsound("order", "a row that is not a permutation of the population")
    genomes = {"genes": saved["genes"]}
    has_archived = island[:, ISLAND.index("archived")] != NONE
    if "archive" in saved:
        genomes["archive"] = saved["archive"][has_archived]
    elif has_archived.any():
        raise _unsound("island", "an archived cost, but there is no archive")
    if "offered" in saved:
        genomes["offered"] = saved["offered"][saved["offered_cost"] & INFEASIBLE == 0]
    for name, rows in genomes.items():
        if not encoding.holds(rows.reshape(-1, encoding.pitch)):
            raise _unsound(name, f"an invalid genome of the encoding {encoding.name}")


def require_genomes(saved: NDArray[np.uint8], migrant: Migrant, encoding: Encoding) -> None:
    """Reject migrants in flight whose genes are not a valid genome."""
    rows = saved.reshape(-1, migrant.bytes)[:, migrant.genes]
    # Islands that send no migrants have rows of zeros.
    genomes = np.ascontiguousarray(rows[rows.any(axis=1)]).view(encoding.gene)
    if not encoding.holds(genomes):
        raise _unsound("emigrants", f"an invalid genome of the encoding {encoding.name}")


def _unsound(name: str, what: str) -> InputError:
    return InputError(f"the saved array {name} holds {what}")
