"""The kernels of islands, compiled for their problem and algorithm and bound to their arrays."""

from __future__ import annotations

import numpy as np

from islands.algorithms import Algorithm
from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend, Call, Program, Room
from islands.backends.source import Source
from islands.encodings import Encoding
from islands.problems.base import Problem

_INDIVIDUALS_A_SLICE = 6


class Launches:
    """What is launched for all islands of a rank together."""

    def __init__(
        self,
        backend: Backend,
        problem: Problem,
        encoding: Encoding,
        algorithm: Algorithm,
        archipelago: Struct,
        given: Array,
        measured: Array,
    ) -> None:
        """Compile; `given` says how many solutions are there at the start, by island."""
        self._backend, self._algorithm, self._archipelago = backend, algorithm, archipelago
        self._islands = int(archipelago.members["islands"])
        population = int(archipelago.members["population"])
        # Ranking sorts a cost and an index of each individual, up to a power of two.
        self.ranking_room = Room(12 << (population - 1).bit_length())
        individuals, room = self._islands * population, encoding.room()
        program, self.populations = self._compiled(problem, encoding, population)
        data = Struct(**{f"array{i}": backend.upload(a) for i, a in enumerate(problem.arrays())})
        self.start = backend.call(
            program,
            f"{algorithm.name}_start",
            *(archipelago, data, given),
            blocks=individuals,
            room=room,
        )
        self.evolve = backend.call(
            program,
            f"{algorithm.name}_evolve",
            *(archipelago, data, algorithm.plan()),
            blocks=individuals,
            room=room,
        )
        self.rank = self._ranking(step=1)
        """At the end of a generation."""
        self.rank_again = self._ranking(step=0)
        """Where only the individuals have changed."""
        self.measure = backend.call(
            self.populations, "measure", archipelago, measured, blocks=self._islands
        )

    def _compiled(
        self, problem: Problem, encoding: Encoding, population: int
    ) -> tuple[Program, Program]:
        """Return the program of this problem and algorithm, and the one of all populations."""
        backend, algorithm = self._backend, self._algorithm
        macros = {"ISLANDS_ENCODING": f'"encodings/{encoding.name}.cuh"', **encoding.defines()}
        # Arenas that spill to global memory stay small beside the genes.
        slices = max(1, self._islands * population // _INDIVIDUALS_A_SLICE)
        block = backend.block(encoding.room(), problem.size, slices)
        populations = backend.compile(
            Source("population.cuh", macros),
            backend.block(self.ranking_room, 8 * population, self._islands),
        )
        macros |= {
            "ISLANDS_PROBLEM": f'"problems/{problem.name}.cuh"',
            "ISLANDS_ALGORITHM": f'"algorithms/{algorithm.name}.cuh"',
            **problem.defines(),
            **algorithm.defines(),
        }
        return backend.compile(Source("program.cuh", macros), block), populations

    def _ranking(self, step: int) -> Call:
        return self._backend.call(
            self.populations,
            "rank",
            *(self._archipelago, np.int32(step), np.int64(self._algorithm.patience)),
            blocks=self._islands,
            room=self.ranking_room,
        )
