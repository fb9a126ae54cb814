"""The kernels of islands, compiled for their problem and algorithm and bound to their arrays."""

from __future__ import annotations

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend, Call, Program, Room
from islands.backends.source import Source
from islands.parts import Parts

_INDIVIDUALS_A_SLICE = 6


class Launches:
    """What is launched for all islands of a rank together."""

    def __init__(
        self,
        backend: Backend,
        parts: Parts,
        plan: Struct,
        archipelago: Struct,
        given: Array,
        measured: Array,
    ) -> None:
        """Compile; `given` says how many solutions are there at the start, by island."""
        self._backend, self._algorithm, self._archipelago = backend, parts.algorithm, archipelago
        self._archives = parts.algorithm.loses_best or parts.problem.marks
        self._islands = int(archipelago.members["islands"])
        population = int(archipelago.members["population"])
        # Ranking sorts a cost and an index of each individual, up to a power of two.
        self.ranking_room = Room(12 << (population - 1).bit_length())
        individuals, room = self._islands * population, parts.room()
        program, self.populations = self._compiled(parts, population)
        arrays = parts.problem.arrays()
        data = Struct(**{f"array{i}": backend.upload(a) for i, a in enumerate(arrays)})
        name = parts.algorithm.name
        self.start = backend.call(
            program,
            f"{name}_start",
            *(archipelago, data, plan, given),
            blocks=individuals,
            room=room,
        )
        self.evolve = backend.call(
            program,
            f"{name}_evolve",
            *(archipelago, data, plan, parts.improver.plan()),
            blocks=individuals,
            room=room,
        )
        self.rank_again = self._ranking(step=0)
        """Where only the individuals have changed."""
        self.end = self._ranking(step=1) if parts.algorithm.needs_order else self._crowning()
        """At the end of a generation."""
        self.measure = backend.call(
            self.populations, "measure", archipelago, measured, blocks=self._islands
        )

    def _compiled(self, parts: Parts, population: int) -> tuple[Program, Program]:
        """Return the program of these parts, and the one of all populations."""
        backend = self._backend
        # Arenas that spill to global memory stay small beside the genes.
        slices = max(1, self._islands * population // _INDIVIDUALS_A_SLICE)
        populations = backend.compile(
            Source("population.cuh", parts.encoding_macros()),
            backend.block(self.ranking_room, 8 * population, self._islands),
        )
        fewest = parts.algorithm.fewest_threads
        block = backend.block(parts.room(), parts.items(), slices, fewest)
        return backend.compile(Source("program.cuh", parts.macros()), block), populations

    def _course(self, step: int) -> Struct:
        return Struct(
            patience=np.int64(self._algorithm.patience),
            archives=np.int32(self._archives),
            step=np.int32(step),
        )

    def _ranking(self, step: int) -> Call:
        return self._backend.call(
            self.populations,
            "rank",
            *(self._archipelago, self._course(step)),
            blocks=self._islands,
            room=self.ranking_room,
        )

    def _crowning(self) -> Call:
        arguments = (self._archipelago, self._course(step=1))
        return self._backend.call(self.populations, "crown", *arguments, blocks=self._islands)
