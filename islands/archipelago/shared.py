"""Runs of different instances and seeds in the same launches.

All of them have the same settings, number of islands and programs, and arrays of the same shapes.
They begin and end independently: when a run is over, the next one takes its place while the others
continue; if there is none, the islands in that place are idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.colonies import ColonySpec, RankIslands
from islands.archipelago.instances import InstanceArrays, Instances
from islands.archipelago.launches import RUN_PART, Launches, uninterrupted
from islands.archipelago.measure import INFEASIBLE, ISLAND, IslandReader
from islands.archipelago.memory import UNLIMITED, Memory
from islands.archipelago.parts import QUOTA, ProgramParts
from islands.archipelago.sizes import bytes_of_islands, bytes_of_migrants, require_countable
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Calls
from islands.migration import MigrantLayout
from islands.migration.settings import MigrationSettings, migrates
from islands.migration.shared import MigrationOutcome, SharedExchange
from islands.problems.base import Problem

_ALIGNED = 16
_SEED = ISLAND.index("seed")
_MOST_BLOCKS = 4096
_FAULTS = "faults"


class _Part(NamedTuple):
    """An array that contains data of each run, and their layout in it."""

    array: Array
    bytes: int
    """The bytes of one run."""
    half: int = 0
    """The bytes from the first half of the array to the second; 0 if it has no halves."""
    is_zero: bool = False
    """Whether to write zeros."""
    stride: int | None = None
    """The bytes from one run to the next; None if runs have no gaps between them."""


class FinalIslands(NamedTuple):
    """The islands of a run that is over; arrays have an entry for each island."""

    genes: NDArray[Any]
    cost: NDArray[np.int64]
    island: NDArray[np.int64]
    archive: Any
    """None if the algorithm keeps no archive."""


def parts_for(colony: ColonySpec, problem: Problem, runs: int, backend: Backend) -> ProgramParts:
    """Return the parts for the islands of several runs."""
    whole = replace(colony, islands=colony.islands * runs)
    return ProgramParts.of(whole, problem, backend.shared_memory, whole.islands)


def can_share(parts: ProgramParts) -> bool:
    """Return whether runs with these parts can share launches."""
    return (
        (not parts.evaluates_user_code or parts.problem.evaluation.numbers_differ)
        and parts.algorithm.shares_launches
        and parts.evaluated_by in ("block", "thread")
        and not parts.algorithm.halo
    )


def bytes_per_run(parts: ProgramParts, migration: MigrationSettings) -> int:
    """Return the bytes that a run with these parts needs."""
    needed, islands = bytes_of_islands(parts), parts.shape.islands
    if migrates(migration, islands):
        layout = MigrantLayout([(parts.algorithm.name, parts.fields)])
        needed += islands * bytes_of_migrants(migration, layout, islands, seed=0)
    return needed


class SharedRuns:
    """The islands of several runs on a device, with a place for each run."""

    def __init__(
        self,
        islands_per_run: int,
        parts: ProgramParts,
        arrays: InstanceArrays | None,
        runs: int,
        backend: Backend,
        migration: MigrationSettings | None,
    ) -> None:
        """Compile the program and allocate all memory; `parts` come from `parts_for`.

        The first instance has the `arrays`, from `arrays_of`; if None, all runs have the instance
        of the parts. `migration` is None if runs do not migrate.
        """
        self.runs, self.islands_per_run, self._backend = runs, islands_per_run, backend
        self._parts, self._is_limited = parts, False
        shape = parts.shape
        require_countable(shape.islands, shape.population, ranks=1)
        layout = MigrantLayout([(parts.algorithm.name, parts.fields)])
        instances = self.instances = None if arrays is None else Instances(backend, arrays, runs)
        self._begins = backend.zeros((shape.islands,), np.int32)
        places = Struct(
            begins=self._begins,
            rows=Null(np.uint8) if instances is None else instances.rows,
            stride=np.int64(0 if instances is None else instances.bytes),
            islands=np.int32(islands_per_run),
        )
        memory = self._memory = Memory(backend, parts, layout, places)
        self.reader = IslandReader(
            parts.problem, parts.encoding, memory.state, backend, range(shape.islands)
        )
        self._halt = backend.zeros((2,), np.int32)
        self._launches = Launches(memory, self.reader.measured, self._halt, instances=instances)
        self._numbers = self._numbers_of(parts)
        self._records = RankIslands(islands_per_run, range(islands_per_run), seed=0).records()
        self._write = _Rows(backend, runs, self._written_at_start())
        self._read = _Rows(backend, runs, self._read_at_end())
        self._bind()
        self._exchange = None
        if migration is not None:
            side = self._launches.side()
            self._exchange = SharedExchange(migration, backend, side, layout.bytes, islands_per_run)

    def _bind(self) -> None:
        launches, memory, backend = self._launches, self._memory, self._backend
        program, count = launches.populations, min(_MOST_BLOCKS, 16 * self.runs)
        write = backend.call(program, "write_runs", *self._write.arguments(), blocks=count)
        read = (memory.all, *self._read.arguments())
        self._reading = backend.call(program, "read_runs", *read, blocks=count)
        ended = backend.call(program, "end_beginning", memory.all, blocks=min(64, count))
        self._rest = backend.call(program, "rest_runs", memory.all, self._read.chosen, blocks=1)
        start, generation = uninterrupted(launches.start), uninterrupted(launches.generation)
        assert start is not None, "the host has no steps"
        assert generation is not None, "the host has no steps"
        self._generation = generation
        self._sort = [] if launches.keeps_order else [launches.rank_again]
        if launches.adopt:
            self._changed = memory.state.arrays["changed"]
            self._unchanged = backend.host_array(self._changed.shape, np.int32)
            self._unchanged[:] = 0
        self._start: Calls = [write, *launches.begin_runs, *start, launches.rank_again]
        self._start = [*self._start, *launches.adopt, ended, launches.measure]
        self._after: Calls = [*self._sort, launches.measure]
        self._faults = self._reports(count)

    def limit(self, left: Sequence[int | None]) -> None:
        """Limit the evaluations of each run in its next generation; None for no limit."""
        is_limited = self._parts.keeps_quota and any(limit is not None for limit in left)
        if not (is_limited or self._is_limited):
            return
        self._is_limited = is_limited
        quotas = np.full((self.runs, self.islands_per_run), UNLIMITED, np.int64)
        for run, limit in enumerate(left):
            if limit is not None:
                quotas[run] = self._parts.quotas(limit, self.islands_per_run)
        self._backend.upload(quotas.reshape(-1), self._memory.state.arrays[QUOTA])

    def fits(self, parts: ProgramParts) -> bool:
        """Return whether these launches can run an instance whose arrays have the same shapes."""
        return self._numbers_of(parts) == self._numbers and self._launches.fits(parts.problem)

    def _numbers_of(self, parts: ProgramParts) -> list[Any]:
        """Return all numbers in the structs of kernels, which must be equal in all runs."""
        data = Struct()
        if not parts.problem.evaluation.numbers_differ:
            data = Struct(**parts.problem.device_data())
        plan = parts.algorithm.plan(self._launches.arrays)
        return [*_numbers(data), *_numbers(plan), *_numbers(parts.improver.plan())]

    def _written_at_start(self) -> dict[str, _Part]:
        """Return the data that are written when a run begins."""
        state, fields = self._memory.state, self._parts.fields

        def part(name: str, array: Array, *, is_zero: bool = False) -> _Part:
            return _Part(array, fields[name].island_bytes * self.islands_per_run, is_zero=is_zero)

        parts = {"begins": _Part(self._begins, 4 * self.islands_per_run)}
        if self.instances is not None:
            parts["instance"] = _Part(self.instances.rows, self.instances.bytes)
        for name in ("island", "changed", "offered_cost"):
            if name in fields:
                parts[name] = part(name, state.arrays[name])
        # Derived fields are computed again, and may have no part for each island.
        cleared = [name for name in self._memory.cleared if fields[name].kind != "derived"]
        for name in dict.fromkeys(("given", *cleared)):
            for half in (0, 1) if fields[name].in_halves else (0,):
                parts[f"{name} {half}"] = part(name, state.part(name, half), is_zero=True)
        return parts

    def _read_at_end(self) -> dict[str, _Part]:
        """Return the data that are read when a run is over."""
        arrays, islands, fields = (
            self._memory.state.arrays,
            self.islands_per_run,
            self._parts.fields,
        )
        names = [name for name in FinalIslands._fields if name in fields]
        self._shapes = {
            name: ((islands, *fields[name].shape), np.dtype(fields[name].dtype)) for name in names
        }
        size = {name: fields[name].island_bytes * islands for name in names}
        return {
            name: _Part(arrays[name], size[name], size[name] * self.runs * fields[name].in_halves)
            for name in names
        }

    def _reports(self, blocks: int) -> _Rows | None:
        """Return the rows of faults that kernels report, which are read with each measure."""
        names = [*self._parts.problem.evaluation.reports()]
        if not names:
            return None
        assert self.instances is not None, "each run has its own faults"
        first = self.instances.of_first(f"data/{names[0]}")
        part = _Part(first, first.nbytes, stride=self.instances.bytes)
        rows = _Rows(self._backend, self.runs, {_FAULTS: part})
        rows.choose(range(self.runs))
        read = (self._launches.populations, "read_runs", self._memory.all, *rows.arguments())
        call = self._backend.call(*read, blocks=blocks)
        self._start, self._after = [*self._start, call], [*self._after, call]
        return rows

    def begin(
        self, chosen: Sequence[int], arrays: Sequence[InstanceArrays | None], seeds: Sequence[int]
    ) -> None:
        """Begin runs with these instances at the chosen places, and measure them; do not wait."""
        rows, count = self._write, len(chosen)
        if self.instances is not None:
            for instance, row in zip(arrays, rows.of("instance", count), strict=True):
                assert instance is not None, "each run has an instance"
                self.instances.pack(instance, row)
        records = np.tile(self._records, (count, 1, 1))
        records[..., _SEED] = np.array(seeds, np.uint64).astype(np.int64)[:, np.newaxis]
        rows.of("island", count).view(np.int64)[:] = records.reshape(count, -1)
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
        """End the launches in progress, with incomplete results; any thread may call this."""
        self._backend.poke(self._halt)

    def faults(self) -> NDArray[np.int64] | None:
        """Return the faults that kernels have reported for each run, or None."""
        if self._faults is None:
            return None
        words = self._faults.of(_FAULTS, self.runs).copy().view(np.int64).reshape(self.runs, -1, 2)
        return words if words.any() else None

    def advance(self, generations: int, migrations: Sequence[int], seeds: Sequence[int]) -> None:
        """Advance by this number of generations, migrate and measure; do not wait.

        `migrations` has the number of the migration of each run, or 0 if it does not migrate now;
        it is empty if runs never migrate.
        """
        self._backend.run(self._generation, generations)
        if any(migrations):
            assert self._exchange is not None, "runs that migrate have settings for it"
            # The islands of other runs stay the same: they are sorted, without changed individuals.
            self._backend.run(self._sort)
            self._exchange.migrate(migrations, seeds)
            if self._launches.adopt:
                self._backend.run(self._launches.adopt)
                self._backend.store(self._unchanged, self._changed)
        self._backend.run_again(self._after)
        self._fetch()

    def measured(self) -> NDArray[np.int64]:
        """Wait for the device; return the measures by run and island, in rows of `MEASURE`."""
        self._backend.synchronise()
        return self.reader.rows.reshape(self.runs, self.islands_per_run, -1)

    def migration_outcomes(self) -> Mapping[int, MigrationOutcome]:
        """Return the outcome of the last migration, once, for each run that took part."""
        return {} if self._exchange is None else self._exchange.outcomes()

    def rest(self, chosen: Sequence[int]) -> None:
        """Leave the islands of runs idle until other runs take their places.

        The runs must be past generation 0, so that both halves of the arrays have content.
        """
        self._read.choose(chosen)
        self._backend.run([self._rest])

    def final(self, chosen: Sequence[int]) -> list[FinalIslands]:
        """Return the islands of runs that are over."""
        self._read.choose(chosen)
        self._backend.run([self._reading])
        count = len(chosen)
        self._read.fetch(count)
        self._backend.synchronise()
        arrays: dict[str, Any] = {
            name: self._read.of(name, count).copy().view(dtype).reshape(count, *shape)
            for name, (shape, dtype) in self._shapes.items()
        }
        arrays.setdefault("archive", [None] * count)
        columns = [arrays[name] for name in FinalIslands._fields]
        return [*starmap(FinalIslands, zip(*columns, strict=True))]


class _Rows:
    """Rows of bytes, one per run, on the host and on the device.

    Kernels copy data between the rows and the arrays of the runs.
    """

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
        # Cleared, as the padding between the parts is copied too.
        self._rows = backend.zeros((runs, end), np.uint8)
        self._host = backend.host_array((runs, end), np.uint8)
        self.chosen = backend.empty((runs + 1,), np.int32)
        """The number of rows in use, and the run of each, on the device."""
        self._host_chosen = backend.host_array((runs + 1,), np.int32)
        self._host_chosen[:] = 0

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the kernels."""
        count, size = np.int32(self._count), np.int64(self._bytes)
        return self._parts, count, self.chosen, self._rows, size

    def of(self, name: str, count: int) -> NDArray[np.uint8]:
        """Return the bytes of an array in the first rows on the host."""
        return self._host[:count, self.places[name]]

    def choose(self, chosen: Sequence[int]) -> None:
        """Tell the kernels which runs the first rows belong to."""
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
        elif isinstance(value, np.generic):
            yield value.item()
