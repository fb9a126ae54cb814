"""Runs of different instances and seeds in the same launches, which begin and end at any time.

All have the same number of islands, the same settings and programs, and arrays of the same shape.
A run that is over leaves its place to the next one, while the others go on; without a next one, its
islands rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import NEIGHBOURS
from islands.archipelago.colonies import ColonySpec, RankIslands
from islands.archipelago.instances import Arrays, Instances
from islands.archipelago.launches import RUN_PART, Launches
from islands.archipelago.measure import INFEASIBLE, ISLAND, IslandReader
from islands.archipelago.memory import QUOTA, UNLIMITED, Memory, fields_of, tables_of
from islands.archipelago.parts import ProgramParts
from islands.archipelago.sizes import (
    bytes_of_islands,
    bytes_of_migrants,
    require_countable,
)
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Call, Calls, Program
from islands.backends.state import Field
from islands.migration import MigrantLayout
from islands.migration.kernels import Side
from islands.migration.settings import MigrationSettings, fixed, migrates
from islands.migration.shared import Landing, SharedExchange
from islands.parallel import World
from islands.problems.base import Problem

_ALIGNED = 16
_SEED = ISLAND.index("seed")
_MOST_BLOCKS = 4096
_FAULTS = "faults"


class _Part(NamedTuple):
    """The part of a run in an array."""

    array: Array
    bytes: int
    half: int = 0
    """The bytes from a half of the array to the other; 0: it has none."""
    is_zero: bool = False
    """Whether to write zeros."""
    stride: int | None = None
    """The bytes from a run to the next; None: they follow one another."""


class FinalIslands(NamedTuple):
    """What a run has found: an entry of each array for each of its islands."""

    genes: NDArray[Any]
    cost: NDArray[np.int64]
    island: NDArray[np.int64]
    archive: Any
    """None if the algorithm keeps none."""


def parts_for(colony: ColonySpec, problem: Problem, runs: int, backend: Backend) -> ProgramParts:
    """Return the parts for the islands of this number of runs."""
    whole = replace(colony, islands=colony.islands * runs)
    return ProgramParts.of(whole, problem, backend.block_memory, whole.islands)


def can_share(parts: ProgramParts) -> bool:
    """Return whether runs with these parts can share launches."""
    is_known = not parts.evaluates_own or parts.problem.evaluation.numbers_differ
    is_known &= parts.algorithm.shares_launches
    return is_known and parts.evaluated_by in ("block", "thread") and not parts.algorithm.halo


def bytes_a_run(parts: ProgramParts, migration: MigrationSettings) -> int:
    """Return the bytes that a run with these parts needs."""
    fields, islands = fields_of(parts), parts.shape.islands
    layout = MigrantLayout([(parts.algorithm.name, fields)])
    found = bytes_of_islands(fields, parts)
    if migrates(migration, islands):
        found += islands * bytes_of_migrants(migration, layout, islands, seed=0)
    return found


class SharedRuns:
    """The islands of several runs on a device."""

    def __init__(
        self,
        islands_a_run: int,
        parts: ProgramParts,
        arrays: Arrays | None,
        runs: int,
        backend: Backend,
        migration: MigrationSettings | None,
    ) -> None:
        """Compile the program and allocate all memory; `parts` are those of `parts_for`.

        The first instance has these `arrays`, of `arrays_of`; None: all runs have the instance of
        the parts. `migration` is None if runs have none.
        """
        self.runs, self.islands_a_run, self._backend = runs, islands_a_run, backend
        self._parts, self._is_limited = parts, False
        require_countable(parts.shape.islands, parts.shape.population, ranks=1)
        fields = fields_of(parts)
        layout = MigrantLayout([(parts.algorithm.name, fields)])
        instances = self.instances = None if arrays is None else Instances(backend, arrays, runs)
        self._begins = backend.zeros((parts.shape.islands,), np.int32)
        own = Struct(
            begins=self._begins,
            rows=Null(np.uint8) if instances is None else instances.rows,
            stride=np.int64(0 if instances is None else instances.bytes),
            islands=np.int32(islands_a_run),
        )
        memory = self._memory = Memory(backend, parts, fields, layout, own)
        self.reader = IslandReader(
            *(parts.problem, parts.encoding, memory.state, backend), range(parts.shape.islands)
        )
        place = instances.place if instances is not None else lambda _, each: backend.upload(each)
        tables = tables_of(place, parts, memory.state.arrays)
        self._arrays = {**memory.state.arrays, **tables}
        plan = parts.algorithm.plan(self._arrays)
        self._halt = backend.zeros((2,), np.int32)
        near = tables.get(NEIGHBOURS)
        self._launches = Launches(
            *(backend, parts, plan, memory, self.reader.measured, self._halt, near, instances)
        )
        self._numbers = self._numbers_of(parts)
        self._new_island = RankIslands(islands_a_run, seed=0, world=World()).new_islands()
        self._write = _Rows(backend, runs, self._written(fields, memory))
        self._read = _Rows(backend, runs, self._found(fields, memory))
        self._bind()
        self._exchange = None
        if migration is not None:
            self._exchange = SharedExchange(
                *(migration, backend, self._side()),
                migrant_bytes=layout.bytes,
                islands_a_run=islands_a_run,
            )

    def _bind(self) -> None:
        """Prepare the launches."""
        launches, memory, backend = self._launches, self._memory, self._backend
        program, count = launches.populations, min(_MOST_BLOCKS, 16 * self.runs)
        write = backend.call(program, "write_runs", *self._write.arguments(), blocks=count)
        read = (memory.all, *self._read.arguments())
        self._reading = backend.call(program, "read_runs", *read, blocks=count)
        ended = backend.call(program, "end_beginning", memory.all, blocks=min(64, count))
        self._rest = backend.call(program, "rest_runs", memory.all, self._read.chosen, blocks=1)
        start, generation = _only(launches.start), _only(launches.generation)
        sort = [] if launches.keeps_order else [launches.rank_again]
        self._sort, self._adopt = sort, launches.adopt
        if launches.adopt:
            self._changed = memory.state.arrays["changed"]
            self._unchanged = backend.host_array(self._changed.shape, np.int32)
            self._unchanged[:] = 0
        self._start: Calls = [
            *(write, *launches.begin_runs, *start, launches.rank_again, *self._adopt, ended),
            launches.measure,
        ]
        self._generation: Calls = generation
        self._after: Calls = [*sort, launches.measure]
        self._faults = self._reports(self._parts.problem, program, memory, count)

    def _side(self) -> Side:
        """Return the islands of all runs, as migrants leave them and arrive."""
        shape, launches = self._parts.shape, self._launches
        return Side(
            first=0,
            islands=shape.islands,
            population=shape.population,
            fixed=fixed(self._parts.algorithm),
            program=launches.populations,
            archipelago=self._memory.all,
            rank_again=launches.rank_again,
            room=launches.ranking_room,
        )

    def limit(self, left: Sequence[int | None]) -> None:
        """Let each run make at most so many evaluations in its next generation; None: any."""
        is_limited = self._parts.keeps_quota and any(each is not None for each in left)
        if not (is_limited or self._is_limited):
            return
        self._is_limited = is_limited
        quotas = np.full((self.runs, self.islands_a_run), UNLIMITED, np.int64)
        for run, each in enumerate(left):
            if each is not None:
                quotas[run] = self._parts.quotas(each, self.islands_a_run)
        self._backend.upload(quotas.reshape(-1), self._memory.state.arrays[QUOTA])

    def fits(self, parts: ProgramParts) -> bool:
        """Return whether the kernels can solve an instance with arrays of the same shapes."""
        return self._numbers_of(parts) == self._numbers and self._launches.fits(parts.problem)

    def _numbers_of(self, parts: ProgramParts) -> list[Any]:
        """Return all numbers in the structs of kernels that must be those of each instance."""
        data = []
        if not parts.problem.evaluation.numbers_differ:
            members = parts.problem.device_data().values()
            data = [each.item() for each in members if _is_number(each)]
        plan, improving = parts.algorithm.plan(self._arrays), parts.improver.plan()
        return [*data, *_numbers(plan), *_numbers(improving)]

    def _written(self, fields: Mapping[str, Field], memory: Memory) -> dict[str, _Part]:
        """Return what a run that begins writes."""
        state = memory.state
        each = {name: _bytes_of(fields[name]) * self.islands_a_run for name in fields}
        found = {"begins": _Part(self._begins, 4 * self.islands_a_run)}
        if self.instances is not None:
            found["instance"] = _Part(self.instances.rows, self.instances.bytes)
        kept = [name for name in ("island", "changed", "offered_cost") if name in fields]
        found |= {name: _Part(state.arrays[name], each[name]) for name in kept}
        # Derived fields are computed anew, and need not have a part for each island.
        cleared = [name for name in memory.cleared if fields[name].kind != "derived"]
        zeros = dict.fromkeys(("given", *cleared))
        for name in zeros:
            halves = (0, 1) if fields[name].in_halves else (0,)
            for half in halves:
                array = state.part(name, half) if halves[1:] else state.arrays[name]
                found[f"{name} {half}"] = _Part(array, each[name], is_zero=True)
        return found

    def _found(self, fields: Mapping[str, Field], memory: Memory) -> dict[str, _Part]:
        arrays, islands = memory.state.arrays, self.islands_a_run
        self._shapes = {
            name: ((islands, *fields[name].shape), np.dtype(fields[name].dtype))
            for name in FinalIslands._fields
            if name in fields
        }
        found = {}
        for name in self._shapes:
            size, array = _bytes_of(fields[name]) * islands, arrays[name]
            half = size * self.runs if fields[name].in_halves else 0
            found[name] = _Part(array, size, half)
        return found

    def _reports(
        self, problem: Problem, program: Program, memory: Memory, blocks: int
    ) -> _Rows | None:
        """Return rows for the faults that kernels report, which are read with each measure."""
        names = [*problem.evaluation.reports()]
        if not names:
            return None
        assert self.instances is not None, "each run has its own faults"
        first = self.instances.of_first(f"data/{names[0]}")
        part = _Part(first, first.nbytes, stride=self.instances.bytes)
        rows = _Rows(self._backend, self.runs, {_FAULTS: part})
        rows.choose(range(self.runs))
        read = (memory.all, *rows.arguments())
        call = self._backend.call(program, "read_runs", *read, blocks=blocks)
        self._start, self._after = [*self._start, call], [*self._after, call]
        return rows

    def begin(
        self, chosen: Sequence[int], arrays: Sequence[Arrays | None], seeds: Sequence[int]
    ) -> None:
        """Let runs begin with these instances, and measure them; the device goes on meanwhile."""
        rows, count = self._write, len(chosen)
        if self.instances is not None:
            for own, row in zip(arrays, rows.of("instance", count), strict=True):
                assert own is not None, "each run has an instance"
                self.instances.pack(own, row)
        islands = np.tile(self._new_island, (count, 1, 1))
        islands[..., _SEED] = np.array(seeds, np.uint64).astype(np.int64)[:, np.newaxis]
        rows.of("island", count).view(np.int64)[:] = islands.reshape(count, -1)
        rows.of("begins", count).view(np.int32)[:] = 1
        if "changed" in rows.places:
            rows.of("changed", count).view(np.int32)[:] = 1
        if "offered_cost" in rows.places:
            rows.of("offered_cost", count).view(np.int64)[:] = INFEASIBLE
        rows.store(chosen)
        self._backend.run_again(self._start)
        self._fetch()

    def _fetch(self) -> None:
        self.reader.fetch()
        if self._faults is not None:
            self._faults.fetch(self.runs)

    def halt(self) -> None:
        """Let the launches in progress end early, from any thread: their islands are of no use."""
        self._backend.poke(self._halt)

    def faults(self) -> NDArray[np.int64] | None:
        """Return the faults of each run at the last measures, as kernels report them, if any."""
        if self._faults is None:
            return None
        words = self._faults.of(_FAULTS, self.runs).copy().view(np.int64).reshape(self.runs, -1, 2)
        return words if words.any() else None

    def advance(self, generations: int, migrations: Sequence[int], seeds: Sequence[int]) -> None:
        """Run this number of generations, migrate and measure; the device goes on meanwhile.

        Each run has the number of its migration, or 0 if it has none now, and a seed; of runs that
        never migrate, there are no numbers.
        """
        self._backend.run(self._generation, generations)
        if any(migrations):
            assert self._exchange is not None, "runs that migrate have settings for it"
            # Also for the islands of other runs, which stay the same: the order of individuals is
            # that of their costs, and none of them has changed.
            self._backend.run(self._sort)
            self._exchange.migrate(migrations, seeds)
            if self._adopt:
                self._backend.run(self._adopt)
                self._backend.store(self._unchanged, self._changed)
        self._backend.run_again(self._after)
        self._fetch()

    def measured(self) -> NDArray[np.int64]:
        """Wait, and return the row of `Measure` of each island, in an array for each run."""
        self._backend.synchronise()
        return self.reader.rows.reshape(self.runs, self.islands_a_run, -1)

    def landings(self) -> Mapping[int, Landing]:
        """Return what the migration before the last measures has brought to each run, once."""
        return {} if self._exchange is None else self._exchange.landings()

    def rest(self, chosen: Sequence[int]) -> None:
        """Let runs compute nothing until others take their places.

        They must have made a generation after the first one, so that both halves have content.
        """
        self._read.choose(chosen)
        self._backend.run([self._rest])

    def found(self, chosen: Sequence[int]) -> list[FinalIslands]:
        """Return what runs have found."""
        self._read.choose(chosen)
        self._backend.run([self._reading])
        count = len(chosen)
        self._read.fetch(count)
        self._backend.synchronise()
        found = {
            name: self._read.of(name, count).copy().view(dtype).reshape(count, *shape)
            for name, (shape, dtype) in self._shapes.items()
        }
        archives = found.get("archive", [None] * count)
        rows = zip(found["genes"], found["cost"], found["island"], archives, strict=True)
        return [*starmap(FinalIslands, rows)]


class _Rows:
    """Rows of bytes, one for each of some runs, on the host and on the device."""

    def __init__(self, backend: Backend, runs: int, parts: Mapping[str, _Part]) -> None:
        self._backend, end = backend, 0
        self.places: dict[str, slice] = {}
        structs = []
        for name, part in parts.items():
            members = {
                "array": part.array,
                "bytes": np.int64(part.bytes),
                "stride": np.int64(part.bytes if part.stride is None else part.stride),
                "half": np.int64(part.half),
                "offset": np.int64(-1 if part.is_zero else end),
            }
            structs.append(Struct(**(RUN_PART.members | members)))
            if not part.is_zero:
                self.places[name] = slice(end, end + part.bytes)
                end += -(-part.bytes // _ALIGNED) * _ALIGNED
        self._parts = backend.upload_structs(structs)
        self._count, self._bytes = len(structs), end
        # Zeros, as nothing writes the bytes between the parts, which are copied, too.
        self._rows = backend.zeros((runs, end), np.uint8)
        self._host = backend.host_array((runs, end), np.uint8)
        self.chosen = backend.empty((runs + 1,), np.int32)
        """The number of the runs of the first rows, and these runs, on the device."""
        self._host_chosen = backend.host_array((runs + 1,), np.int32)
        self._host_chosen[:] = 0

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the kernels."""
        return (
            *(self._parts, np.int32(self._count), self.chosen, self._rows),
            np.int64(self._bytes),
        )

    def of(self, name: str, count: int) -> NDArray[np.uint8]:
        """Return the bytes of an array in the first rows on the host."""
        return self._host[:count, self.places[name]]

    def choose(self, chosen: Sequence[int]) -> None:
        """Tell the device the runs of the first rows."""
        self._host_chosen[0] = len(chosen)
        self._host_chosen[1 : 1 + len(chosen)] = chosen
        self._backend.store(self._host_chosen, self.chosen)

    def store(self, chosen: Sequence[int]) -> None:
        """Copy the first rows to the device; they belong to the chosen runs."""
        self.choose(chosen)
        self._backend.store(self._host[: len(chosen)], self._rows[: len(chosen)])

    def fetch(self, count: int) -> None:
        """Begin to copy the first rows to the host."""
        self._backend.fetch(self._rows[:count], self._host[:count])


def _numbers(struct: Struct) -> Iterator[Any]:
    for value in struct.members.values():
        if isinstance(value, Struct):
            yield from _numbers(value)
        elif _is_number(value):
            yield value.item()


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic)


def _bytes_of(field: Field) -> int:
    return math.prod(field.shape) * np.dtype(field.dtype).itemsize


def _only(segments: Any) -> list[Call]:
    """Return the launches of segments without steps of the host."""
    (only,) = segments
    return list(only)
