"""The arrays of islands, and the struct through which kernels access them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import NEIGHBOURS
from islands.archipelago import messages
from islands.archipelago.measure import INFEASIBLE
from islands.archipelago.parts import COST, GENES, QUOTA, SOLUTIONS, WAITING, ProgramParts
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend
from islands.backends.state import IslandArrays
from islands.errors import UsageError
from islands.migration import Migrant, MigrantLayout
from islands.problems.base import Problem

UNLIMITED = np.iinfo(np.int64).max


class Memory:
    """The arrays of a rank's islands on the device."""

    def __init__(
        self,
        backend: Backend,
        parts: ProgramParts,
        layout: MigrantLayout,
        runs: Struct | None = None,
    ) -> None:
        """Allocate the fields of the parts; `layout` describes the migrants of all colonies.

        `runs` is `Runs` of kernels/core/islands.cuh if islands of several runs share launches.
        """
        shape = parts.shape
        self.backend, self.parts = backend, parts
        self.cleared = (
            "calls",
            *(name for name, field in parts.algorithm.fields(shape).items() if field.cleared),
        )
        """Fields that are set to zero before generation 0."""
        self.state = IslandArrays(backend, shape.islands, parts.fields)
        self.state.fill(QUOTA, UNLIMITED)
        self.migrant = Migrant(parts.fields, parts.algorithm.name, layout)
        """The layout of an individual that migrates."""
        self.all = self._as_kernels_see()
        """`Islands` of kernels/core/islands.cuh, for a rank that creates all individuals."""
        if runs is not None:
            self.all = Struct(**self.all.members, runs=runs)

    def for_slots(self, slots: range) -> Struct:
        """Return `Islands` for a rank that creates only the individuals of these slots."""
        return Struct(**(self.all.members | _slots(slots)))

    def clear(self, islands: NDArray[np.int64]) -> None:
        """Write the records of islands before generation 0, and clear their arrays."""
        self.backend.upload(islands, self.state.part("island", 0))
        for name in self.cleared:
            self.state.fill(name)
        if self.parts.problem.scale.marks:
            self.state.fill("offered_cost", INFEASIBLE)

    def _as_kernels_see(self) -> Struct:
        arrays, shape = self.state.arrays, self.parts.shape
        traits, solutions = self.migrant.traits(arrays), arrays.get(SOLUTIONS)
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
            outside=Struct(  # null pointers if kernels evaluate
                genes=arrays.get(GENES, Null(shape.gene)),
                cost=arrays.get(COST, Null(np.int64)),
                waiting=arrays.get(WAITING, Null(np.int32)),
                solutions=Null(np.uint8) if solutions is None else solutions.view(np.uint8),
            ),
            changed=arrays.get("changed", Null(np.int32)),
            traits=self.backend.upload_structs(traits) if traits else Null(np.uint8),
            trait_count=np.int32(len(traits)),
            migrant_bytes=np.int32(self.migrant.bytes),
            islands=np.int32(shape.islands),
            population=np.int32(shape.population),
            shape=self.backend.uploaded(self.parts.encoding.shape().members),
            reciprocal=np.uint64((2**64 - 1) // shape.population + 1),
            **_slots(range(shape.population)),
        )


Placing = Callable[[str, NDArray[Any]], Array]
"""Copies an array of the instance, given by name and values, to the device."""


def tables_of(place: Placing, parts: ProgramParts, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tables of the algorithm, which all islands share.

    They include the neighbours of each item if a part uses them. Reject a table whose name is one
    of the `arrays`.
    """
    tables = parts.algorithm.tables(parts.problem)
    for name, table in tables.items():
        if name in arrays:
            named = f"algorithm {parts.algorithm.name}: the table {name}"
            raise UsageError(f"{named} has the name of a field. Choose another name")
        if not isinstance(table, np.ndarray):
            raise messages.table_of_other_type(parts.algorithm.name, name, type(table))
    placed: dict[str, Any] = {name: place(f"table/{name}", table) for name, table in tables.items()}
    if parts.uses_neighbours:
        placed[NEIGHBOURS] = neighbours_of(place, parts.problem)
    return placed


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


def _slots(slots: range) -> dict[str, np.generic]:
    """Return the members of `Islands` for the slots whose individuals a rank creates."""
    return {"first": np.int32(slots.start), "made": np.int32(len(slots))}
