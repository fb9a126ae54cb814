"""The parts of a program: a problem, an encoding, an improver and an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from islands.algorithms import ALGORITHMS, Algorithm
from islands.algorithms.base import Schedule, Shape
from islands.archipelago import messages
from islands.archipelago.colonies import ColonySpec
from islands.archipelago.measure import ISLAND, compares_edges
from islands.backends.base import Block
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.encodings import ENCODINGS, Encoding, base_encoding
from islands.encodings.keys import Keys
from islands.errors import UsageError
from islands.improvers import Improver, improvers_for
from islands.problems import KIND as PROBLEMS
from islands.problems.base import Problem

HOST = "host"
"""The `decoding` with which the host decodes and evaluates children, between two launches."""
QUOTA = "quota"
"""The field with the number of evaluations that an island may make in the next generation."""
GENES, COST, WAITING = "children", "children_cost", "children_waiting"
SOLUTIONS = "children_solutions"
"""The fields of children that are evaluated between two launches."""
_TILE = 32
_FREE = "free"
_NARROW = 2  # bytes
_FEW = 1024
"""Up to this number of individuals, evaluation by one thread of each block is at least as fast as
by one thread per individual in tiles, which needs more launches: on an H200, 1.1 to 2.2 times as
fast with 768."""


@dataclass(frozen=True)
class ProgramParts:
    """The parts of a program, with their settings and the sizes of a rank's populations."""

    problem: Problem
    encoding: Encoding
    improver: Improver
    algorithm: Algorithm
    shape: Shape
    evaluated_by: str
    """What evaluates children: the `block` that creates them, a `thread` for each in another
    launch, the `host`, or a Python function for a `batch` on the GPU."""
    limited: bool = False
    """Whether kernels check a limit of evaluations, which takes up to 9 % of their time."""

    @property
    def outside(self) -> bool:
        """Whether children are evaluated between two launches."""
        return self.evaluated_by != "block"

    @property
    def kind(self) -> str:
        """The names of the parts: programs of one kind take about the same time to compile."""
        parts = (self.problem, self.encoding, self.improver, self.algorithm)
        return " ".join([*(part.name for part in parts), self.evaluated_by])

    @property
    def is_python(self) -> bool:
        """Whether costs are computed in Python, which takes most of the time."""
        return self.evaluated_by in (HOST, "batch")

    @property
    def is_worth_sharing(self) -> bool:
        """Whether a generation certainly takes longer than an exchange between ranks."""
        is_search = self.improver.name != "none" or not self.algorithm.improves
        return is_search or self.is_python

    def sharing(self, slots: range | None, first: range | None = None) -> ProgramParts:
        """Return the parts of a rank that creates the individuals of these slots (None: of all).

        `first` are its slots in generation 0.
        """
        return replace(self, shape=replace(self.shape, made=slots, first_made=first))

    @property
    def beginning(self) -> ProgramParts:
        """The parts with the slots of generation 0."""
        first = self.shape.first_made
        return self if first is None else self.sharing(first)

    @property
    def keeps_quota(self) -> bool:
        """Whether an island ends a generation when its quota of evaluations is used up."""
        # A local search does not count its evaluations.
        return self.algorithm.keeps_quota and self.improver.name == "none"

    def first_quotas(self, limit: int, islands: int) -> NDArray[np.int64]:
        """Divide a limit of evaluations among the islands of a run, for generation 0.

        Each island may make at least one, or any number if its algorithm cannot begin partly.
        """
        if not self.algorithm.may_begin_partly:
            return np.full(islands, np.iinfo(np.int64).max)
        share, rest = divmod(limit, islands)
        quotas: NDArray[np.int64] = np.maximum(1, share + (np.arange(islands) < rest))
        return quotas

    def quotas(self, left: int, islands: int) -> NDArray[np.int64]:
        """Divide the evaluations left among the islands of a run.

        If a slot creates several children at once, their number is rounded up.
        """
        unit = self.algorithm.children if self.algorithm.improves else 1
        share, rest = divmod(-(-left // unit), islands)
        return unit * (share + (np.arange(islands) < rest))

    @property
    def evaluates_user_code(self) -> bool:
        """Whether kernels run the code of a user, which may take any time."""
        return self.evaluated_by != "host" and not PROBLEMS.has_built_in(type(self.problem))

    @property
    def uses_neighbours(self) -> bool:
        """Whether a part needs the neighbours of each item."""
        return self.algorithm.uses_neighbours or self.improver.uses_neighbours

    @classmethod
    def of(
        cls, colony: ColonySpec, problem: Problem, shared_memory: int | None, islands: int = 1
    ) -> ProgramParts:
        """Return the parts for this number of a colony's islands; reject incompatible parts."""
        kind, improver, decoding = ALGORITHMS[colony.algorithm], colony.improver, colony.decoding
        solutions = problem.solution_kind
        on_cpu = shared_memory is None
        evaluated_by = _evaluated_by(problem, improver.name, decoding, on_cpu=on_cpu)
        is_few = colony.population * islands <= _FEW
        # Algorithms with their own local search evaluate moves in the block.
        if evaluated_by == "thread" and (is_few or not kind.improves):
            evaluated_by = "block"
        encoder = ENCODINGS[colony.encoding][solutions]
        settings = kind.confined(colony.settings) if encoder.bounded else colony.settings
        algorithm = kind(settings, colony.population, base_encoding(colony.encoding))
        encoded = encoder(
            problem.size,
            shared_memory,
            _decoding(decoding, kind, encoder, improver.name, problem),
            assigns=problem.layout.assigns,
            **problem.kind.box,
        )
        improving = improvers_for(solutions)[improver.name](improver, problem.size)
        shape = Shape(islands, colony.population, encoded.pitch, encoded.gene)
        algorithm.prepare(problem, shape)
        return cls(problem, encoded, improving, algorithm, shape, evaluated_by, colony.limited)

    def macros(self) -> Macros:
        """Return the macros that choose the parts, and the macros of each part."""
        problem = Header("problems/outside.cuh") if self.is_python else self.problem.header
        chosen: Macros = {
            "ISLANDS_PROBLEM": problem,
            "ISLANDS_IMPROVER": self.improver.header,
            "ISLANDS_ALGORITHM": self.algorithm.header,
        }
        if self.limited or self.is_python:
            chosen["ISLANDS_LIMITED"] = "1"
        if self.outside:
            chosen["ISLANDS_OUTSIDE"] = str(self.algorithm.children)
        if self.evaluated_by in ("thread", "batch"):
            chosen["ISLANDS_STORED"] = "1"
        if self.evaluated_by == "thread":
            chosen["ISLANDS_TILED"] = "1"
            if self.problem.kind.stored_dtype(in_tiles=True).itemsize == _NARROW:
                chosen["SOLUTION_NARROW"] = "1"
        if self.evaluated_by != "host":
            chosen |= self.problem.defines()
        if self.uses_neighbours:
            chosen["ISLANDS_NEIGHBOURS"] = "1"
        if self.evaluates_user_code:
            chosen["PROBLEM_MAY_TAKE_LONG"] = "1"
        chosen |= self.improver.defines() | self.algorithm.defines()
        return self.encoding_macros() | chosen

    def encoding_macros(self) -> Macros:
        """Return the macros for the encoding, the meaning of genomes and the format of costs."""
        return {
            "ISLANDS_ENCODING": self.encoding.header,
            "ENCODING_BOUNDED": str(int(self.encoding.bounded)),
            **self.problem.scale.macros(),
            "GENES_ARE_TOURS": str(int(compares_edges(self.encoding, self.problem))),
            **self.encoding.defines(),
        }

    @cached_property
    def schedule(self) -> Schedule:
        """The algorithm's launches.

        Rejects host decoding for an algorithm that evaluates in its own kernels.
        """
        schedule = self.algorithm.schedule(self.shape, outside=self.outside)
        if self.outside and not schedule.evaluates_outside:
            name = self.algorithm.name
            raise UsageError(f"decoding=host: {name} evaluates in its own kernels. Omit decoding")
        return schedule

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The shape and type of each array of an island."""
        population, pitch, gene = self.shape.population, self.shape.pitch, self.shape.gene
        marks = self.problem.scale.marks
        fields = {
            "genes": Field((population, pitch), gene, in_halves=True),
            "cost": Field((population,), np.int64, in_halves=True),
            "order": Field((population,), np.int32),
            "island": Field((len(ISLAND),), np.int64),
            "calls": Field((population,), np.int64),
            "given": Field((), np.int32, kind="scratch"),
            QUOTA: Field((), np.int64, kind="scratch"),
        }
        if self.algorithm.patience or self.algorithm.loses_best or marks:
            fields["archive"] = Field((pitch,), gene)
        if marks:
            # Offered to the archive: feasible solutions that the population may reject.
            fields["offered"] = Field((population, pitch), gene)
            fields["offered_cost"] = Field((population,), np.int64)
        if self.schedule.adopt:
            fields["changed"] = Field((population,), np.int32, kind="scratch")
        if self.outside:
            fields |= self._children_fields()
        return fields | self._algorithm_fields(fields)

    def _algorithm_fields(self, built_in: Mapping[str, Field]) -> dict[str, Field]:
        """Return the algorithm's fields; reject taken names, and fields that cannot travel."""
        algorithm, population = self.algorithm, self.shape.population
        fields = algorithm.fields(self.shape)
        for name, field in fields.items():
            if name in built_in and built_in[name] != field:
                raise messages.field_of_built_in_name(algorithm.name, name)
            if field.travels and field.shape[:1] != (population,):
                raise messages.field_does_not_travel(algorithm.name, name, field.shape, population)
        return fields

    def _children_fields(self) -> dict[str, Field]:
        """Return the arrays for the children of each individual, and for their solutions."""
        population, children = self.shape.population, self.algorithm.children
        fields = {
            GENES: Field((population, children, self.shape.pitch), self.shape.gene, kind="scratch"),
            COST: Field((population, children), np.int64, kind="scratch"),
            WAITING: Field((population,), np.int32, kind="scratch"),
        }
        if self.evaluated_by in ("thread", "batch"):
            kind = self.problem.kind
            dtype = kind.stored_dtype(in_tiles=self.evaluated_by == "thread")
            rows = _TILE * self.tiles
            fields[SOLUTIONS] = Field((rows, kind.stored_length), dtype, kind="scratch")
        return fields

    @property
    def tiles(self) -> int:
        """The number of tiles of an island's children: see kernels/problems/solution.cuh."""
        return -(-self.shape.population * self.algorithm.children // _TILE)

    @property
    def tile_bytes(self) -> int:
        """The bytes of a tile."""
        kind = self.problem.kind
        return _TILE * kind.stored_length * kind.stored_dtype(in_tiles=True).itemsize

    def room(self) -> int:
        """Return the bytes of scratch memory of a block that the kernel `room` does not count."""
        return max(self.algorithm.room(self.encoding.pitch), self.improver.room())

    def block(self) -> Block | None:
        """Return the block size for which the kernels were written, if any."""
        return self.improver.block(self.problem) or self.algorithm.block

    def items(self) -> int:
        """Return the number of work items that the threads of a block share."""
        return max(self.algorithm.items(self.problem), self.improver.items())


def _decoding(
    requested: str,
    algorithm: type[Algorithm],
    encoder: type[Encoding],
    improver: str,
    problem: Problem,
) -> str:
    """Return how kernels decode keys: `free` if the problem or improver changes solutions."""
    known = algorithm.decodings
    if requested not in ("", HOST, *known):
        raise messages.unknown_decoding(requested, algorithm.name, (*known, HOST))
    if not known or encoder is not Keys:
        return _FREE
    if improver == "none" and not problem.evaluation.changes_solutions:
        return known[0] if requested in ("", HOST) else requested
    if requested not in ("", known[0]):
        raise messages.improved_decoding(requested, improver)
    return _FREE


def _evaluated_by(problem: Problem, improver: str, decoding: str, *, on_cpu: bool) -> str:
    """Choose what evaluates children: see `ProgramParts.evaluated_by`."""
    if (python := problem.evaluation.python) is not None:
        if improver != "none":
            raise messages.improved_python(improver, problem.instance)
        is_batch = python.is_batch and not problem.scale.priced and not problem.kind.rules
        return "batch" if is_batch and not on_cpu and decoding != HOST else HOST
    if decoding == HOST:
        if improver != "none":
            raise messages.improved_decoding(HOST, improver)
        if problem.evaluation.changes_solutions:
            raise messages.only_kernels_decode(problem.name)
        return HOST
    # On a CPU, a block is one thread. Local searches and repairs change solutions in the block.
    is_split = not on_cpu and improver == "none" and not problem.evaluation.changes_solutions
    return "thread" if problem.evaluation.is_serial and is_split else "block"
