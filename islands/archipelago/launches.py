"""Kernel launches of islands: compiled for their parts, and bound to their arrays."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import (
    NEIGHBOURS,
    Concurrent,
    Host,
    HostStep,
    Launch,
    Rounds,
    Step,
    TeamExchanges,
)
from islands.archipelago import messages
from islands.archipelago.instances import Instances
from islands.archipelago.measure import READ_STRUCTS
from islands.archipelago.memory import Memory, tables_of
from islands.backends.arguments import Null, Struct, layout_of
from islands.backends.base import (
    Array,
    Block,
    Call,
    Calls,
    CompiledProgram,
    Fork,
    Room,
    arena,
    in_turn,
)
from islands.backends.source import Source
from islands.migration.kernels import STRUCTS as MIGRATION_STRUCTS
from islands.migration.kernels import Side
from islands.migration.repeated import RepeatedExchange
from islands.migration.settings import fixed
from islands.problems.base import Problem

_INDIVIDUALS_PER_SLICE = 6
_CITIES_PER_BLOCK = 64  # whose neighbours a block finds
_MOST_BLOCKS = 4096

_COMMON = {"Arena": arena(None, 0)}
_RUNS, _INSTANCES = "ISLANDS_RUNS", "ISLANDS_INSTANCES"
RUN_PART = Struct(
    array=Null(np.uint8),
    bytes=np.int64(0),
    stride=np.int64(0),
    half=np.int64(0),
    offset=np.int64(0),
)
"""A sample of `RunPart` of kernels/runs.cuh."""


@dataclass(frozen=True)
class Repeated:
    """Launches that the host repeats: see `Rounds`."""

    calls: Calls


Segments = list[list[Call | Fork] | Repeated | HostStep | RepeatedExchange]
"""Launches in groups, and the steps of the host between them."""


def uninterrupted(segments: Segments) -> Calls | None:
    """Return the launches, or None if the host has steps between them."""
    first, *rest = segments
    return first if isinstance(first, list) and not rest else None


class Launches:
    """The launches for all islands of a colony on a rank, or of runs that share launches."""

    def __init__(
        self,
        memory: Memory,
        measured: Array,
        halt: Array,
        *,
        halo: Array | None = None,
        instances: Instances | None = None,
    ) -> None:
        """Compile the kernels and bind them to all arrays; `measure` writes to `measured`.

        Fill the table of neighbours, if there is one. With `instances`, each run has a table, and
        `begin_runs` are the launches that fill it.
        """
        backend, parts, archipelago = memory.backend, memory.parts, memory.all
        self._instances, self._has_runs = instances, "runs" in archipelago.members
        self._backend, self._parts, self._shape = backend, parts, parts.shape
        self._algorithm, self._archipelago = parts.algorithm, archipelago
        self._archives = parts.algorithm.loses_best or parts.problem.scale.marks
        self.data = self._uploaded()
        """`problem::Data`, in which kernels may report faults of the problem."""
        self.arrays = memory.state.arrays | ({} if halo is None else {"halo": halo})
        """The arrays that the plan of the algorithm may point to."""
        self.arrays |= tables_of(self._placed, parts, self.arrays)
        plan, near = parts.algorithm.plan(self.arrays), self.arrays.get(NEIGHBOURS)
        self._near: Struct | None = near
        self.arguments = (archipelago, self.data, plan, parts.improver.plan(halt, near))
        # Ranking sorts a cost and an index for each individual, up to the next power of two.
        self._ranking_room = Room(12 << (self._shape.population - 1).bit_length())
        schedule = parts.schedule
        self._room, self._program, self.populations = self._compiled({*schedule.launches()})
        self.rank_again = self._ordering("rank", step=0)
        """Sorts islands whose individuals have changed, without ending a generation."""
        self.keeps_order = parts.algorithm.needs_order
        """Whether each generation ends with sorted islands."""
        end = self._ordering("rank" if self.keeps_order else "find_best", step=1)
        shares, beginning = parts.shape.made is not None, parts.beginning
        slots, first = memory.for_slots(parts.shape.slots), memory.for_slots(beginning.shape.slots)
        self.start = self._segments(beginning.schedule.start, first, shares=shares)
        self.generation = self._segments([*schedule.generation, end], slots, shares=shares)
        self.alone: Segments = []
        """The launches of a generation if a member of a team creates all individuals itself."""
        if shares and not parts.is_worth_sharing:
            whole = parts.sharing(None).schedule
            self.alone = self._segments([*whole.generation, end], memory.all, shares=False)
        self.adopt = [self._bound(launch, memory.all) for launch in schedule.adopt]
        self.begin_runs = [] if near is None else [self._finding_neighbours(near)]
        if instances is None:
            backend.run(self.begin_runs)
            self.begin_runs = []
        self.measure = backend.call(
            self.populations, "measure", archipelago, measured, blocks=self._shape.islands
        )

    def _uploaded(self) -> Struct:
        """Return `problem::Data`, with its arrays on the device."""
        problem = self._parts.problem
        if self._parts.evaluated_by == "host":
            return Struct(nothing=np.int32(0))
        is_batch = self._parts.evaluated_by == "batch"
        members = problem.evaluation.reports() if is_batch else problem.device_data()
        arrays = {n: a for n, a in members.items() if not isinstance(a, np.generic)}
        placed = {name: self._placed(f"data/{name}", array) for name, array in arrays.items()}
        return Struct(**{**members, **placed})

    def _placed(self, name: str, values: NDArray[Any]) -> Array:
        """Return an array of the instance on the device; with shared launches, that of run 0."""
        if self._instances is None:
            return self._backend.upload(values)
        return self._instances.place(name, values)

    def side(self, first: int = 0) -> Side:
        """Return the islands for migration; `first` is their offset among those of this rank."""
        return Side(
            first=first,
            islands=self._shape.islands,
            population=self._shape.population,
            fixed=fixed(self._algorithm),
            program=self.populations,
            archipelago=self._archipelago,
            rank_again=self.rank_again,
            room=self._ranking_room,
        )

    def taking_costs(self, cost: Array, place: Array) -> Call:
        """Return the launch that checks and stores the costs of the children at `place`."""
        returned = _returned(cost, place, len(place))
        blocks = min(_MOST_BLOCKS, -(-len(place) // self._program.block.threads))
        return self._backend.call(
            self._program, "take_costs", self._archipelago, self.data, returned, blocks=blocks
        )

    def _required_room(self, launches: set[Launch]) -> Room:
        """Return the scratch memory that a block needs for all of the launches."""
        common = [launch for launch in launches if launch.threads is None]
        declared = Room(max((launch.room or 0 for launch in common), default=0))
        self._needed = Room(0)
        if all(launch.room is not None for launch in common):
            return declared
        loop = self._needed = self._backend.required_room(self._source(), *self.arguments)
        return Room(max(declared.large, loop.large + self._parts.room()), loop.small)

    def fits(self, problem: Problem) -> bool:
        """Return whether blocks have enough scratch memory for another instance."""
        if problem.evaluation.same_memory:
            return True
        all_, _, *plans = self.arguments
        arguments = (all_, self._backend.uploaded(problem.device_data()), *plans)
        needed = self._backend.required_room(self._source(), *arguments)
        return needed.large <= self._needed.large and needed.small <= self._needed.small

    def _source(self) -> Source:
        names = ("problem::Data", "algorithm::Plan", "improver::Plan")
        structs = {**_COMMON, **dict(zip(names, self.arguments[1:], strict=True))}
        structs["Islands"] = self._archipelago
        if self._parts.evaluated_by == "batch":
            kind = np.float64 if self._parts.problem.scale.real else np.int64
            structs["problem::Returned"] = _returned(Null(kind), Null(np.int64), 0)
        macros = self._parts.macros()
        is_waited_for = self._parts.is_python
        if self._has_runs:
            macros[_RUNS] = "1"
        if self._instances is not None:
            macros[_INSTANCES] = self._instances.header(*self.arguments[1:], self._near)
        slow = self._algorithm.slow_to_compile
        return Source("program.cuh", macros, structs, slow, is_waited_for)

    def _compiled(self, launches: set[Launch]) -> tuple[Room, CompiledProgram, CompiledProgram]:
        """Return the scratch memory of a block, and the programs of the parts and of populations.

        Both programs are compiled at the same time.
        """
        started, population_source = time.perf_counter(), self._population_source()
        if self._backend.has_loaded(*population_source):
            room = self._required_room(launches)
            populations = self._backend.compile(*population_source)
            compiled = room, self._compiled_parts(room), populations
            self._backend.compile_seconds += time.perf_counter() - started
            return compiled
        self._backend.compiling.expect(self._parts.kind, self._source())
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(self._backend.compile, *population_source)
            try:
                room = self._required_room(launches)
                compiled = room, self._compiled_parts(room), future.result()
            except BaseException:
                self._backend.stop_all([future])
                raise
        seconds = time.perf_counter() - started
        self._backend.compile_seconds += seconds
        self._backend.compiling.record(seconds)
        return compiled

    def _population_source(self) -> tuple[Source, Block]:
        backend, shape = self._backend, self._shape
        block = backend.block(self._ranking_room, 8 * shape.population, shape.islands)
        structs = {
            **_COMMON,
            "Islands": self._archipelago,
            "RankingPlan": self._ranking_plan(step=0),
            **READ_STRUCTS,
            **MIGRATION_STRUCTS,
        }
        macros = self._parts.encoding_macros()
        if self._has_runs:
            macros[_RUNS] = "1"
            structs["RunPart"] = RUN_PART
        is_waited_for = self._parts.is_python
        source = Source("population.cuh", macros, structs, is_waited_for=is_waited_for)
        return source, block

    def _compiled_parts(self, room: Room) -> CompiledProgram:
        # Arenas in global memory stay small compared with the genes.
        slices = max(1, self._shape.individuals // _INDIVIDUALS_PER_SLICE)
        fewest = self._algorithm.fewest_threads
        block = self._backend.block(
            room,
            self._parts.items(),
            slices,
            fewest,
            needed=self._parts.block(),
            few=self._algorithm.few_threads,
        )
        return self._backend.compile(self._source(), block)

    def _segments(
        self, steps: Iterable[Step | Call], archipelago: Struct, *, shares: bool
    ) -> Segments:
        """Return the steps of a rank that creates the individuals of the slots in `archipelago`.

        If it `shares` the work, they include the exchanges with other ranks.
        """
        launches: list[Call | Fork] = []
        segments: Segments = [launches]
        for step in steps:
            if isinstance(step, Call):
                launches.append(step)
            elif isinstance(step, Launch):
                launches += self._all_bound([step], archipelago)
            elif isinstance(step, Concurrent):
                launches += self._forked(step, archipelago)
            elif isinstance(step, Rounds):
                calls = self._all_bound(step.launches, archipelago)
                launches = []
                segments += [Repeated(calls), launches]
            elif step is Host.EVALUATES and self._parts.evaluated_by == "thread":
                launches.append(self._evaluation(archipelago))
            elif shares or not isinstance(step, TeamExchanges):
                launches = []
                segments += [step, launches]
        return [segment for segment in segments if segment]

    def _forked(self, step: Concurrent, archipelago: Struct) -> list[Call | Fork]:
        fork = Fork([self._all_bound(launches, archipelago) for launches in step.sequences])
        # Only one launch at a time can use arenas in global memory.
        is_shared = self._program.spilled is not None
        return list(in_turn([fork])) if is_shared or not fork.sequences else [fork]

    def _evaluation(self, archipelago: Struct) -> Call:
        """Return the launch in which a thread evaluates each child."""
        memory, room = self._backend.shared_memory, Room(self._parts.tile_bytes)
        fits = memory is None or (room.total <= memory and self._program.spilled is None)
        return self._backend.call(
            self._program,
            "evaluate_children",
            archipelago,
            *self.arguments[1:],
            blocks=self._shape.islands * self._parts.tiles,
            room=room if fits else Room(0),
        )

    def _all_bound(self, launches: Iterable[Launch], archipelago: Struct) -> list[Call]:
        """Bind launches; leave out those without blocks, as a rank of a team may have no slots."""
        return [self._bound(launch, archipelago) for launch in launches if launch.blocks]

    def _bound(self, launch: Launch, archipelago: Struct) -> Call:
        room = self._room if launch.threads is None else Room(launch.room or 0)
        _, data, plan, improving = self.arguments
        changed = Struct(**(plan.members | dict(launch.plan))) if launch.plan else plan
        if layout_of(changed) != layout_of(plan):
            raise messages.other_plan(launch.kernel, launch.plan)
        return self._backend.call(
            self._program,
            launch.kernel,
            archipelago,
            data,
            changed,
            improving,
            blocks=launch.blocks,
            room=room,
            threads=launch.threads,
        )

    def _finding_neighbours(self, near: Struct) -> Call:
        size = self._parts.encoding.size
        kernel, all_cities = "find_neighbours", size
        arguments: tuple[Any, ...] = (self.data, near, np.int32(size))
        if self._instances is not None:
            kernel, all_cities = "find_neighbours_of_runs", size * self._instances.runs
            arguments = (self._archipelago, *arguments)
        blocks = min(_MOST_BLOCKS, -(-all_cities // _CITIES_PER_BLOCK))
        return self._backend.call(self._program, kernel, *arguments, blocks=blocks)

    def _ranking_plan(self, step: int) -> Struct:
        return Struct(
            patience=np.int64(self._algorithm.patience),
            archives=np.int32(self._archives),
            step=np.int32(step),
        )

    def _ordering(self, kernel: str, step: int) -> Call:
        return self._backend.call(
            self.populations,
            kernel,
            self._archipelago,
            self._ranking_plan(step),
            blocks=self._shape.islands,
            room=self._ranking_room if kernel == "rank" else None,
        )


def _returned(cost: Array, place: Array, count: int) -> Struct:
    """Return `Returned` of kernels/problems/outside.cuh."""
    return Struct(cost=cost, place=place, count=np.int32(count))
