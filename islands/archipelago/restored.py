"""What is asked of saved islands beyond the shapes of their arrays, before kernels are given them.

Kernels trust what they read: a gene that is no item would be an address outside the instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import ISLAND, NONE
from islands.encodings import Encoding
from islands.encodings.base import are_orders
from islands.errors import InputError
from islands.migration import Migrant

_INFEASIBLE = 1  # the lowest bit of costs that are marked: see kernels/core/marks.cuh


def require_sound(
    saved: Mapping[str, NDArray[Any]],
    encoding: Encoding,
    generation: int,
    seeds: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> None:
    """Refuse arrays that no islands of these seeds and numbers have in this generation."""
    island = saved["island"]
    wanted = {"generation": generation, "seed": seeds, "number": numbers}
    for name, value in wanted.items():
        if (island[:, ISLAND.index(name)] != value).any():
            raise _unsound("island", f"another {name} than that of this run")
    if not np.isin(island[:, ISLAND.index("restart")], (0, 1)).all():
        raise _unsound("island", "a restart that is neither 0 nor 1")
    if not are_orders(saved["order"]):
        raise _unsound("order", "what is no order of a population")
    genomes = {"genes": saved["genes"]}
    has_archived = island[:, ISLAND.index("archived")] != NONE
    if "archive" in saved:
        genomes["archive"] = saved["archive"][has_archived]
    elif has_archived.any():
        raise _unsound("island", "a best that is nowhere")
    if "met" in saved:
        genomes["met"] = saved["met"][saved["met_cost"] & _INFEASIBLE == 0]
    for name, rows in genomes.items():
        if not encoding.holds(rows.reshape(-1, encoding.pitch)):
            raise _unsound(name, f"what is no genome of {encoding.name}")


def require_genomes(saved: NDArray[np.uint8], migrant: Migrant, encoding: Encoding) -> None:
    """Refuse migrants on their way whose genes are no genome."""
    rows = saved.reshape(-1, migrant.bytes)[:, migrant.genes]
    # Of islands that send nobody, there is nothing.
    genomes = np.ascontiguousarray(rows[rows.any(axis=1)]).view(encoding.gene)
    if not encoding.holds(genomes):
        raise _unsound("emigrants", f"what is no genome of {encoding.name}")


def _unsound(name: str, what: str) -> InputError:
    return InputError(f"the saved array {name} holds {what}")
