"""Checks of restored islands beyond the shapes of their arrays.

Kernels do not check what they read: an invalid gene would be an address outside the instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import INFEASIBLE, ISLAND, NONE
from islands.archipelago.share import Share
from islands.encodings import Encoding
from islands.encodings.base import are_orders
from islands.errors import InputError
from islands.migration import Migrant


def require_sound(
    saved: Mapping[str, NDArray[Any]], encoding: Encoding, generation: int, share: Share
) -> None:
    """Refuse arrays that are not valid for the islands of this rank in this generation."""
    island = saved["island"]
    expected = {"generation": generation, "seed": share.seeds, "number": share.numbers}
    for name, value in expected.items():
        if (island[:, ISLAND.index(name)] != value).any():
            raise _unsound("island", f"a {name} that differs from this run")
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
    """Refuse migrants in flight whose genes are not a valid genome."""
    rows = saved.reshape(-1, migrant.bytes)[:, migrant.genes]
    # Islands that send no migrants have rows of zeros.
    genomes = np.ascontiguousarray(rows[rows.any(axis=1)]).view(encoding.gene)
    if not encoding.holds(genomes):
        raise _unsound("emigrants", f"an invalid genome of the encoding {encoding.name}")


def _unsound(name: str, what: str) -> InputError:
    return InputError(f"the saved array {name} holds {what}")
