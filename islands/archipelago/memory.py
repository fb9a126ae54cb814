"""The arrays of islands, and the struct through which kernels access them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import NEIGHBOURS, Shape
from islands.archipelago.measure import INFEASIBLE, ISLAND
from islands.archipelago.parts import ProgramParts
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend
from islands.backends.state import Field, State
from islands.errors import UsageError
from islands.migration import Migrant, MigrantLayout
from islands.problems.base import Problem

QUOTA = "quota"
"""The evaluations that each island may make in the next generation."""
UNLIMITED = np.iinfo(np.int64).max


class Memory:
    """The arrays of a rank's islands on the device."""

    def __init__(
        self,
        backend: Backend,
        parts: ProgramParts,
        fields: Mapping[str, Field],
        layout: MigrantLayout,
        runs: Struct | None = None,
    ) -> None:
        """Allocate the `fields` of the parts; migrants have the `layout` of all colonies.

        `runs` is `Runs` of kernels/core/islands.cuh if there are several.
        """
        shape = parts.shape
        self._backend, self._marks = backend, parts.problem.scale.marks
        self.cleared = (
            "calls",
            *(name for name, each in parts.algorithm.fields(shape).items() if each.cleared),
        )
        """Fields that are set to zero before generation 0."""
        self.state = State(backend, shape.islands, fields)
        self.state.fill(QUOTA, UNLIMITED)
        self.migrant = Migrant(fields, parts.algorithm.name, layout)
        """The layout of an individual that migrates."""
        genome = backend.uploaded(parts.encoding.shape().members)
        self.all = _as_kernels_see(backend, self.state, self.migrant, shape, genome)
        """`Islands` of kernels/core/islands.cuh, for a rank that makes all individuals."""
        if runs is not None:
            self.all = Struct(**self.all.members, runs=runs)

    def making(self, slots: range) -> Struct:
        """Return `Islands` for a rank that makes the individuals of these slots only."""
        return Struct(**(self.all.members | _slots(slots)))

    def clear(self, islands: NDArray[np.int64]) -> None:
        """Prepare generation 0: write the records of the islands, and clear their arrays."""
        self._backend.upload(islands, self.state.part("island", 0))
        for name in self.cleared:
            self.state.fill(name)
        if self._marks:
            self.state.fill("offered_cost", INFEASIBLE)


def fields_of(parts: ProgramParts) -> dict[str, Field]:
    """Return the shape and type of each array of an island."""
    problem, algorithm, shape = parts.problem, parts.algorithm, parts.shape
    population, pitch, gene = shape.population, shape.pitch, shape.gene
    fields = {
        "genes": Field((population, pitch), gene, in_halves=True),
        "cost": Field((population,), np.int64, in_halves=True),
        "order": Field((population,), np.int32),
        "island": Field((len(ISLAND),), np.int64),
        "calls": Field((population,), np.int64),
        "given": Field((), np.int32, kind="scratch"),
        QUOTA: Field((), np.int64, kind="scratch"),
    }
    if algorithm.patience or algorithm.loses_best or problem.scale.marks:
        fields["archive"] = Field((pitch,), gene)
    if problem.scale.marks:
        # For the archive: feasible solutions that the population may reject; PSO's particles.
        fields["offered"] = Field((population, pitch), gene)
        fields["offered_cost"] = Field((population,), np.int64)
    own = algorithm.fields(shape)
    if parts.schedule.adopt:
        fields["changed"] = Field((population,), np.int32, kind="scratch")
    if parts.outside:
        fields |= _children_fields(parts)
    _check_own(parts, own, fields)
    return fields | own


def _check_own(parts: ProgramParts, own: dict[str, Field], others: dict[str, Field]) -> None:
    """Refuse fields of the algorithm that have names in use, or cannot travel."""
    population = parts.shape.population
    named = f"algorithm {parts.algorithm.name}: the field"
    for name, field in own.items():
        if name in others and others[name] != field:
            raise UsageError(
                f"{named} {name} has the name of a built-in field. Choose another name"
            )
        if field.travels and field.shape[:1] != (population,):
            raise UsageError(
                f"{named} {name} travels with each individual, but its shape is {field.shape}. Its"
                f" first dimension must be population={population}; or choose travels=False"
            )


Placing = Callable[[str, NDArray[Any]], Array]
"""Takes the name of an array of the instance and its values; returns an array on the device."""


def tables_of(place: Placing, parts: ProgramParts, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tables of the algorithm, which all islands share.

    They include the neighbours of each item if a part uses them. Names of `arrays` are refused.
    `place` copies a table to the device.
    """
    tables = parts.algorithm.tables(parts.problem)
    for name, table in tables.items():
        named = f"algorithm {parts.algorithm.name}: the table {name}"
        if name in arrays:
            raise UsageError(f"{named} has the name of a field. Choose another name")
        if not isinstance(table, np.ndarray):
            raise UsageError(
                f"{named} has the type {type(table).__name__}. Return a NumPy array with the"
                " element type that kernels read"
            )
    found: dict[str, Any] = {name: place(f"table/{name}", table) for name, table in tables.items()}
    if parts.uses_neighbours:
        found[NEIGHBOURS] = neighbours_of(place, parts.problem)
    return found


NEAR_FIELDS = ("cities", "axis", "split", "twins", "table")
"""The arrays of `Neighbours` of kernels/tours."""


def neighbours_of(place: Placing, problem: Problem) -> Struct:
    """Return `Neighbours` of kernels/tours; the kernel `find_neighbours` fills its table."""
    assert problem.near is not None, "it has distances"
    arrays = problem.near.tables()
    levels = len(arrays["axis"]).bit_length() - 1
    return Struct(
        degree=np.int32(arrays["table"].shape[1]),
        levels=np.int32(levels),
        **{name: place(f"near/{name}", arrays[name]) for name in NEAR_FIELDS},
    )


def _as_kernels_see(
    backend: Backend, state: State, migrant: Migrant, shape: Shape, genome: Struct
) -> Struct:
    """Return `Islands` of kernels/core/islands.cuh."""
    arrays = state.arrays
    traits = migrant.traits(arrays)
    return Struct(
        island=arrays["island"],
        genes=arrays["genes"],
        cost=arrays["cost"],
        order=arrays["order"],
        calls=arrays["calls"],
        archive=arrays.get("archive", Null(shape.gene)),
        offered=arrays.get("offered", Null(shape.gene)),
        offered_cost=arrays.get("offered_cost", Null(np.int64)),
        given=arrays["given"],
        quota=arrays[QUOTA],
        outside=_children_as_kernels_see(arrays, shape.gene),
        changed=arrays.get("changed", Null(np.int32)),
        traits=backend.upload_structs(traits) if traits else Null(np.uint8),
        trait_count=np.int32(len(traits)),
        migrant_bytes=np.int32(migrant.bytes),
        islands=np.int32(shape.islands),
        population=np.int32(shape.population),
        shape=genome,
        reciprocal=np.uint64((2**64 - 1) // shape.population + 1),
        **_slots(range(shape.population)),
    )


def _slots(slots: range) -> dict[str, np.generic]:
    """Return the members of `Islands` for the slots whose individuals a rank makes."""
    return {"first": np.int32(slots.start), "made": np.int32(len(slots))}


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


def _children_fields(parts: ProgramParts) -> dict[str, Field]:
    """Return the arrays for the children of each individual, and for their solutions."""
    shape, children = parts.shape, parts.algorithm.children
    size = shape.population
    fields = {
        GENES: Field((size, children, shape.pitch), shape.gene, kind="scratch"),
        COST: Field((size, children), np.int64, kind="scratch"),
        WAITING: Field((size,), np.int32, kind="scratch"),
    }
    if parts.evaluated_by in ("thread", "batch"):
        kind = parts.problem.kind
        dtype = kind.stored_dtype(in_tiles=parts.evaluated_by == "thread")
        rows = _TILE * tiles_of(shape, children)
        fields[SOLUTIONS] = Field((rows, kind.stored_length), dtype, kind="scratch")
    return fields


def _children_as_kernels_see(arrays: Mapping[str, Array], gene: np.dtype[Any]) -> Struct:
    """Return `Outside` of kernels/core/islands.cuh, with null pointers if kernels evaluate."""
    return Struct(
        genes=arrays.get(GENES, Null(gene)),
        cost=arrays.get(COST, Null(np.int64)),
        waiting=arrays.get(WAITING, Null(np.int32)),
        solutions=arrays[SOLUTIONS].view(np.uint8) if SOLUTIONS in arrays else Null(np.uint8),
    )
