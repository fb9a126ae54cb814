"""The islands of one rank: their arrays on the device, advanced together by the same launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from islands.algorithms.schedule import Shape
from islands.archipelago.attempt import Attempt
from islands.archipelago.injection import replace_worst
from islands.archipelago.launches import Launches, Segments
from islands.archipelago.measure import Candidate, IslandMeasure, IslandReader
from islands.archipelago.memory import Memory, tables_of
from islands.archipelago.outside import evaluator
from islands.archipelago.program_parts import ProgramParts
from islands.archipelago.restored import require_genomes, require_sound
from islands.archipelago.share import Share
from islands.archipelago.warm_start import dealt, place
from islands.backends.base import Array, Backend
from islands.improvers import ImproverSettings
from islands.migration import (
    Arrivals,
    AsyncExchange,
    Exchange,
    MigrationSettings,
    Transport,
)
from islands.migration.halo import Halo, require_fit
from islands.parallel import World
from islands.problems.base import Problem, Solution
from islands.settings import Settings

_EMIGRANTS = "emigrants"


class Archipelago:
    """The islands of one rank, on which an algorithm solves a problem."""

    def __init__(
        self,
        *,
        problem: Problem,
        algorithm: str,
        encoding: str,
        settings: Settings,
        population: int,
        islands: int,
        seed: int,
        migration: MigrationSettings,
        backend: Backend,
        world: World,
        improver: ImproverSettings | None = None,
        runs: int = 1,
        transport: type[Transport] | None = None,
        asynchronous: bool = False,
        decoding: str = "",
        warm_start: Callable[[], Sequence[Solution]] = tuple,
    ) -> None:
        """Compile the program and allocate all memory of the run.

        `transport` is the result of `islands.migration.transport.find`. With `asynchronous`, ranks
        do not wait for each other until `finish`. `warm_start` is only called by `start`. Several
        concurrent `runs` have `islands` islands each and consecutive seeds; no migrant leaves its
        run.
        """
        self._share = Share(islands, runs, population=population, seed=seed, world=world)
        self.mine = self._share.mine
        self.generation = 0
        self.may_be_partial = False
        """Whether generation 0 may stay incomplete; the caller then checks `is_partial`."""
        self.is_partial = False
        """Whether generation 0 is incomplete: missing individuals are worse than all others."""
        self._problem, self._backend, self._population = problem, backend, population
        self.is_on_cpu = backend.in_host_memory
        self._warm_start = warm_start
        parts = ProgramParts.of(
            *(problem, algorithm, encoding, settings, improver or ImproverSettings()),
            population=population,
            islands=len(self.mine),
            block_memory=backend.block_memory,
            decoding=decoding,
        )
        algorithm_part, self._encoding = parts.algorithm, parts.encoding
        self._improves = parts.improver.name != "none"
        algorithm_part.require_islands(self._share.islands)
        kind = AsyncExchange if asynchronous and world.size > 1 else Exchange
        self._exchange = kind(
            *(migration, backend, world, transport),
            islands=self._share.islands,
            population=population,
            kept=algorithm_part.kept(),
            seed=seed,
            runs=runs,
        )
        shape = Shape(len(self.mine), population, self._encoding.pitch, self._encoding.gene)
        self._memory = memory = Memory(backend, parts, shape)
        self._state, self._migrant = memory.state, memory.migrant
        self._read = (problem, self._encoding, self._state, backend)
        self._reader = IslandReader(*self._read, self.mine, self._share.islands_a_run)
        self._outside = evaluator(parts, backend, self._state)
        arrays = self._state.arrays
        self._halo, self._transport = None, transport.name if transport is not None else "device"
        if algorithm_part.halo:
            require_fit(algorithm_part.halo, population, migration, self._share.islands, runs)
            self._halo = Halo(backend, world, transport, algorithm_part.halo, self._migrant.bytes)
            arrays = arrays | {"halo": self._halo.seen}
        self._attempt = Attempt(backend, self._state)
        arrays |= tables_of(backend, parts, arrays)
        plan, halt = algorithm_part.plan(arrays), self._attempt.halt.words
        self._launches = launches = Launches(
            backend, parts, shape, plan, memory.all, self._reader.measured, halt
        )
        program = launches.populations
        if self._halo is not None:
            self._halo.prepare(program, memory.all)
        self._exchange.prepare(program, memory.all, launches.rank_again, launches.ranking_room)

    @property
    def transport(self) -> str:
        """The transport of migrants: `none`, `device`, `cuda-aware` or `staged`."""
        return self._transport if self._halo is not None else self._exchange.transport

    @property
    def migrations(self) -> int:
        """The number of migrations that have begun."""
        return self._exchange.migrations

    @property
    def evaluation_seconds(self) -> float:
        """The time spent on evaluations between launches."""
        return 0.0 if self._outside is None else self._outside.seconds

    @property
    def may_take_long(self) -> bool:
        """Whether a generation may take long: with local search, host evaluation, or on a CPU."""
        return self._improves or self._outside is not None or self.is_on_cpu

    def start(self) -> None:
        """Make and evaluate generation 0; only a part of it if it `may_be_partial` and must end."""
        self.generation = 0
        self._exchange.restore(0, None)
        self._memory.clear(self._share.new_islands())
        given = dealt(self._warm_start(), self.mine, self._share.islands, self._population)
        place(given, self._problem, self._encoding, self._backend, self._state)
        self._attempt.start(may_be_partial=self.may_be_partial)
        self._run(self._launches.start)
        self.is_partial = not self._attempt.is_whole()
        if self.is_partial:
            self._attempt.leave_out()
        self._backend.run([self._launches.rank_again])
        if not self.is_partial:  # missing individuals have no genes to derive anything from
            self._derive(everyone=True)
        self.renew_halo()

    def give_up(self) -> None:
        """Request the end of the generations in progress, from any thread."""
        self._attempt.halt.request()

    def attempt(self, generations: int) -> bool:
        """Advance; return whether the generations are complete, or were given up.

        If they were given up, `withdraw` them.
        """
        self._attempt.begin(self.generation, generations)
        self.advance(generations)
        return self._attempt.is_whole()

    def withdraw(self) -> None:
        """Return to the generation before the last `attempt`; collective if there is a halo."""
        self.generation = self._attempt.withdraw()
        self._derive(everyone=True)
        self.renew_halo()

    @property
    def ahead(self) -> range:
        """The generations in progress, or an empty range; for any thread."""
        return self._attempt.ahead

    def made(self) -> int:
        """Return the number of individuals made in the generations `ahead`; for any thread."""
        return self._attempt.made() if self._outside is None else self._outside.evaluated

    def advance(self, generations: int) -> None:
        """Run this number of generations; only host evaluation and the halo wait for the device."""
        if self._outside is not None:
            for _ in range(generations):
                self._run(self._launches.generation)
                self.renew_halo()
        else:
            run = self._backend.run if self._halo is None else self._halo.advance
            run(self._launches.generation[0], generations)
        if generations and not self._launches.keeps_order:
            self._backend.run([self._launches.rank_again])
        self.generation += generations
        if self._exchange.in_flight is not None:
            # While the device works, the host sends the migrants.
            self._exchange.arrive()

    def _run(self, segments: Segments) -> None:
        """Run launches, with host evaluation between the segments."""
        first, *others = segments
        self._backend.run(first)
        for calls in others:
            assert self._outside is not None
            self._outside.evaluate(self._attempt.halt.is_requested)
            self._backend.run(calls)

    def _derive(self, *, everyone: bool = False) -> None:
        """Update the derived fields of changed individuals, or of everyone."""
        if self._launches.adopt:
            if everyone:
                self._state.fill("changed", 1)
            self._backend.run(self._launches.adopt)
            self._state.fill("changed")

    def wait(self) -> None:
        """Wait until the device has completed all launches."""
        self._backend.synchronise()

    def migrate(self) -> None:
        """Exchange migrants with all islands; collective over the ranks."""
        self._exchange.migrate()
        self._derive()

    def inject(self, solutions: Sequence[Solution], first: int) -> None:
        """Replace the worst individuals by solutions, dealt in turn from the island `first` on."""
        replace_worst(self._share.dealt(solutions, first), *self._read, self.generation)
        self._backend.run([self._launches.rank_again])
        self._derive()
        self.renew_halo()

    def populations(self) -> list[Array]:
        """Return the genomes of each island on the device, valid until the islands advance."""
        self.wait()
        genes = self._state.part("genes", self.generation)
        return [genes[island, :, : self._encoding.size] for island in range(len(self.mine))]

    def finish(self) -> None:
        """End the exchange after the last migration; collective."""
        self._exchange.finish()

    def arrivals(self) -> Arrivals | None:
        """Return the record of the migration before the last `measure`, or None."""
        return self._exchange.arrivals()

    def snapshot(self, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        """Return all kept arrays of the islands of this rank, and the migrants in flight.

        Unless `is_copied`, they are valid until the islands advance.
        """
        saved = self._state.snapshot(self.generation, is_copied=is_copied)
        emigrants = self._exchange.emigrants()
        return saved if emigrants is None else saved | {_EMIGRANTS: emigrants}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        """Continue from a snapshot of the same islands, instead of `start`."""
        own = {name: array for name, array in saved.items() if name != _EMIGRANTS}
        self._state.require_fit(own)
        require_sound(own, self._encoding, generation, self._share)
        emigrants = saved.get(_EMIGRANTS)
        self._exchange.restore(migrations, emigrants)
        if emigrants is not None:
            require_genomes(emigrants, self._migrant, self._encoding)
        self._state.restore(own, generation)
        self.generation = generation
        self._derive(everyone=True)

    def renew_halo(self) -> None:
        """Exchange the halo, if there is one; collective."""
        if self._halo is not None:
            self._halo.renew()

    def measure(self) -> list[IslandMeasure]:
        """Return the measures of each island."""
        self._backend.run([self._launches.measure])
        self._reader.fetch()
        self._exchange.fetch()
        self._backend.synchronise()
        return self._reader.measures()

    def best(self) -> Candidate | None:
        """Return the best individual of this rank, on the lowest island if equal, or None."""
        return next(iter(self.elite(1)), None)

    def elite(self, count: int, run: int | None = None) -> list[Candidate]:
        """Return the best individuals of this rank's islands, best first, archives included.

        `run` selects one of several concurrent runs. If populations may hold infeasible solutions,
        only the archives are considered.
        """
        return self._reader.elite(self.generation, count, run)

    def digests(self, run: int | None = None) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island, of all runs or of one."""
        return self._reader.digests(self.generation, run)
