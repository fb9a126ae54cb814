"""The arrays that islands are made of, and the struct by which kernels reach them."""

from __future__ import annotations

import numpy as np

from islands.algorithms import Algorithm
from islands.algorithms.schedule import Shape
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.lookout import ISLAND
from islands.problems.base import Problem
from islands.state import Field, State


def fields_of(problem: Problem, algorithm: Algorithm, shape: Shape) -> dict[str, Field]:
    """Return what an island has of each array."""
    population, pitch, gene = shape.population, shape.pitch, shape.gene
    fields = {
        "genes": Field((population, pitch), gene, in_halves=True),
        "cost": Field((population,), np.int64, in_halves=True),
        "order": Field((population,), np.int32),
        "island": Field((len(ISLAND),), np.int64),
        "calls": Field((population,), np.int64),
        **algorithm.fields(shape),
    }
    if algorithm.patience or algorithm.loses_best or problem.marks:
        fields["archive"] = Field((pitch,), gene)
    if problem.marks:
        # Feasible solutions that a population may refuse; a swarm has its particles there anyway.
        fields["met"] = Field((population, pitch), gene)
        fields["met_cost"] = Field((population,), np.int64)
    return fields


def as_kernels_see(
    state: State, shape: Shape, genome: Struct, given: Array, outside: Struct
) -> Struct:
    """Return `Archipelago` of kernels/core/archipelago.cuh."""
    arrays = state.arrays
    return Struct(
        island=arrays["island"],
        genes=arrays["genes"],
        cost=arrays["cost"],
        order=arrays["order"],
        calls=arrays["calls"],
        archive=arrays.get("archive"),
        met=arrays.get("met"),
        met_cost=arrays.get("met_cost"),
        given=given,
        outside=outside,
        islands=np.int32(shape.islands),
        population=np.int32(shape.population),
        shape=genome,
        share=np.uint64((2**64 - 1) // shape.population + 1),
    )
