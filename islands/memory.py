"""The arrays that islands are made of, and the struct by which kernels reach them."""

from __future__ import annotations

import numpy as np

from islands.algorithms import Algorithm
from islands.backends.arguments import Struct
from islands.encodings import Encoding
from islands.lookout import ISLAND
from islands.problems.base import Problem
from islands.state import Field, State


def fields_of(
    problem: Problem, encoding: Encoding, algorithm: Algorithm, population: int
) -> dict[str, Field]:
    """Return what an island has of each array."""
    pitch, gene = encoding.pitch, encoding.gene
    fields = {
        "genes": Field((population, pitch), gene, in_halves=True),
        "cost": Field((population,), np.int64, in_halves=True),
        "order": Field((population,), np.int32),
        "island": Field((len(ISLAND),), np.int64),
        "calls": Field((population,), np.int64),
        **algorithm.fields(pitch, gene),
    }
    if algorithm.patience or algorithm.loses_best or problem.marks:
        fields["archive"] = Field((pitch,), gene)
    if problem.marks:
        # Feasible solutions that a population may refuse; a swarm has its particles there anyway.
        fields["met"] = Field((population, pitch), gene)
        fields["met_cost"] = Field((population,), np.int64)
    return fields


def as_kernels_see(state: State, islands: int, population: int, shape: Struct) -> Struct:
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
        islands=np.int32(islands),
        population=np.int32(population),
        shape=shape,
        share=np.uint64((2**64 - 1) // population + 1),
    )
