"""The arrays of children that are evaluated between two launches of a generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from islands.algorithms.schedule import Shape
from islands.archipelago.program_parts import ProgramParts
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.state import Field

GENES, COST, WAITING = "children", "children_cost", "children_waiting"
SOLUTIONS = "children_solutions"
_TILE = 32


def tiles_of(shape: Shape, children: int) -> int:
    """Return the tiles of an island's children: see kernels/problems/solution.cuh."""
    return -(-shape.population * children // _TILE)


def tile_bytes(parts: ProgramParts) -> int:
    """Return the bytes of a tile."""
    kind = parts.problem.kind
    return _TILE * kind.stored_length * kind.stored_dtype(in_tiles=True).itemsize


def fields_for(parts: ProgramParts) -> dict[str, Field]:
    """Return the arrays for the children of each individual, and for their solutions."""
    shape, children = parts.shape, parts.algorithm.children
    size = shape.population
    fields = {
        GENES: Field((size, children, shape.pitch), shape.gene, kind="scratch"),
        COST: Field((size, children), np.int64, kind="scratch"),
        WAITING: Field((size,), np.int32, kind="scratch"),
    }
    if parts.evaluation in ("thread", "batch"):
        kind = parts.problem.kind
        dtype = kind.stored_dtype(in_tiles=parts.evaluation == "thread")
        rows = _TILE * tiles_of(shape, children)
        fields[SOLUTIONS] = Field((rows, kind.stored_length), dtype, kind="scratch")
    return fields


def seen(arrays: Mapping[str, Array], gene: np.dtype[Any]) -> Struct:
    """Return `Outside` of kernels/core/archipelago.cuh, with null pointers if kernels evaluate."""
    return Struct(
        genes=arrays.get(GENES, Null(gene)),
        cost=arrays.get(COST, Null(np.int64)),
        waiting=arrays.get(WAITING, Null(np.int32)),
        solutions=arrays[SOLUTIONS].view(np.uint8) if SOLUTIONS in arrays else Null(np.uint8),
    )
