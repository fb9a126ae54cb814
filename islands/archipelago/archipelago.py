"""The islands of one rank: their arrays on the device, advanced together by the same launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.schedule import Shape
from islands.archipelago.attempt import Attempt
from islands.archipelago.launches import Launches, Segments
from islands.archipelago.measure import ISLAND, NONE, Candidate, IslandMeasure, Lookout
from islands.archipelago.memory import as_kernels_see, fields_of, tables_of
from islands.archipelago.outside import Outside
from islands.archipelago.parts import Parts
from islands.archipelago.restored import require_genomes, require_sound
from islands.archipelago.warm_start import dealt, place
from islands.backends.base import Backend
from islands.backends.state import State
from islands.errors import UsageError
from islands.improvers import ImproverSettings
from islands.migration import (
    Arrivals,
    AsyncExchange,
    Exchange,
    Migrant,
    MigrationSettings,
    Transport,
)
from islands.migration.halo import Halo, require_fit
from islands.parallel import World, deal
from islands.problems.base import Problem, Solution
from islands.settings import Settings
from islands.text import counted

_INFEASIBLE = 1  # marked so, as no feasible cost is: see kernels/core/marks.cuh
_EMIGRANTS = "emigrants"
_MOST_ISLANDS = 1 << 24  # the random streams give an island's number 24 bits
_MOST_INDIVIDUALS = (1 << 30) - 1  # kernels count the rows of a population in 32 bits


class Archipelago:
    """The islands of one rank: an algorithm at work on a problem."""

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
        """Compile the program and take all the memory that the run will need.

        `transport` is the one between the ranks, found by `islands.migration.transport.find`. Where
        they are `asynchronous`, they do not wait for each other, until `finish`. Only `start` asks
        for the solutions of the `warm_start`. Several `runs` of so many islands each, with seeds
        one after the other, go on side by side; no migrant leaves its run.
        """
        if not 0 < islands * runs <= _MOST_ISLANDS:
            raise UsageError(f"islands={islands}: must be from 1 to {_MOST_ISLANDS}")
        self._islands_a_run, islands = islands, islands * runs
        self.mine = deal(islands, world.size, world.rank)
        if len(self.mine) * population > _MOST_INDIVIDUALS:
            raise UsageError(
                f"islands={islands} x population={population} on {counted(world.size, 'rank')}: at"
                f" most {_MOST_INDIVIDUALS} individuals a rank. Lower either, or start more ranks"
            )
        self.generation = 0
        self.may_be_partial = False
        """Whether generation 0 may be left before it is whole, by who asks for `is_partial`."""
        self.is_partial = False
        """Whether it was: then the best of those that were made stands for the others."""
        self._problem, self._backend = problem, backend
        parts = Parts.of(
            problem,
            algorithm,
            encoding,
            settings,
            improver if improver is not None else ImproverSettings(),
            population=population,
            block_memory=backend.block_memory,
            decoding=decoding,
        )
        self._algorithm, self._encoding = parts.algorithm, parts.encoding
        self._improves = parts.improver.name != "none"
        self._algorithm.require_islands(islands)
        self._population = population
        kind = AsyncExchange if asynchronous and world.size > 1 else Exchange
        self._exchange = kind(
            migration,
            backend,
            world,
            transport,
            islands=islands,
            population=population,
            kept=self._algorithm.kept(),
            seed=seed,
            runs=runs,
        )
        self._warm_start, self._islands_of_all = warm_start, islands
        self._seed = np.uint64(seed)
        self._allocate(parts)
        arrays = self._state.arrays
        self._halo, self._transport = None, transport.name if transport is not None else "device"
        if self._algorithm.halo:
            require_fit(self._algorithm.halo, population, migration, islands, runs)
            self._halo = Halo(backend, world, transport, self._algorithm.halo, self._migrant.bytes)
            arrays = arrays | {"halo": self._halo.seen}
        self._attempt = Attempt(backend, self._state)
        arrays |= tables_of(backend, parts, arrays)
        self._launches = Launches(
            backend,
            parts,
            self._shape,
            self._algorithm.plan(arrays),
            self._all,
            self._lookout.measured,
            self._attempt.halt.words,
        )
        if self._halo is not None:
            self._halo.prepare(self._launches.populations, self._all)
        self._exchange.prepare(
            self._launches.populations,
            self._all,
            self._launches.rank_again,
            self._launches.ranking_room,
        )

    @property
    def transport(self) -> str:
        """How migrants travel: `none`, `device`, `cuda-aware` or `staged`."""
        return self._transport if self._halo is not None else self._exchange.transport

    @property
    def migrations(self) -> int:
        """How many times migrants have left their islands."""
        return self._exchange.epoch

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling and loading kernels."""
        return self._backend.compile_seconds

    def start(self) -> None:
        """Make and evaluate generation 0; only a part of it where that may be and it is told to."""
        self.generation = 0
        self._exchange.restore(0, None)
        seeds, numbers = self._identities()
        island = np.zeros((len(self.mine), len(ISLAND)), np.int64)
        island[:, [ISLAND.index("best"), ISLAND.index("archived")]] = NONE
        island[:, ISLAND.index("seed")] = seeds
        island[:, ISLAND.index("number")] = numbers
        self._backend.upload(island, self._now("island"))
        for name in ("calls", *self._algorithm.fields(self._shape)):
            self._state.fill(name)
        if self._problem.marks:
            self._state.fill("met_cost", _INFEASIBLE)
        given = dealt(self._warm_start(), self.mine, self._islands_of_all, self._population)
        place(given, self._problem, self._encoding, self._backend, self._state)
        self._attempt.start(may_be_left=self.may_be_partial)
        self._pass(self._launches.start)
        self.is_partial = not self._attempt.is_whole()
        if self.is_partial:
            self._attempt.leave_out()
        self._backend.run([self._launches.rank_again])
        if not self.is_partial:  # who was not made has no genes to derive anything from
            self._adopt(everyone=True)
        if self._halo is not None:
            self._halo.renew()

    def give_up(self) -> None:
        """Say, from any thread, that what is being attempted is to be left as soon as may be."""
        self._attempt.halt.say()

    @property
    def is_on_cpu(self) -> bool:
        """Whether the islands' arrays lie in the host's memory."""
        return self._backend.in_host_memory

    @property
    def may_take_long(self) -> bool:
        """Whether a generation may, as local searches do, and anything on a CPU."""
        return self._improves or self._outside is not None or self.is_on_cpu

    def attempt(self, generations: int) -> bool:
        """Advance; return whether the generations are whole, or have been given up.

        Then `withdraw` them.
        """
        self._attempt.begin(self.generation, generations)
        self.advance(generations)
        return self._attempt.is_whole()

    def withdraw(self) -> None:
        """Stand where the last `attempt` began; collective where there is a halo."""
        self.generation = self._attempt.withdraw()
        self._adopt(everyone=True)
        if self._halo is not None:
            self._halo.renew()

    @property
    def ahead(self) -> range:
        """The generations that are attempted just now, or none; for any thread."""
        return self._attempt.ahead

    def made(self) -> int:
        """Return how many individuals of the generations `ahead` have been; for any thread."""
        return self._attempt.made() if self._outside is None else self._outside.judged

    def advance(self, generations: int) -> None:
        """Pass so many generations, without a visit of the host unless it judges."""
        if self._outside is not None:
            for _ in range(generations):
                self._pass(self._launches.generation)
                if self._halo is not None:
                    self._halo.renew()
        else:
            (generation,) = self._launches.generation
            if self._halo is not None:
                self._halo.advance(generation, generations)
            else:
                self._backend.run(generation, generations)
        self.generation += generations
        if generations and not self._algorithm.needs_order:
            self._backend.run([self._launches.rank_again])
        # While the device is at work, the host has time for those who are on their way.
        self._exchange.arrive()

    def wait(self) -> None:
        """Wait until the device has done what it was told to."""
        self._backend.synchronise()

    def migrate(self) -> None:
        """Exchange migrants with all islands; collective over the ranks."""
        self._exchange.migrate()
        self._adopt()

    def finish(self) -> None:
        """Do what is left when nothing is going to migrate any more; collective."""
        self._exchange.finish()

    def arrivals(self) -> Arrivals | None:
        """Return what the migration before the last `measure` brought; None where none was."""
        return self._exchange.arrivals()

    def snapshot(self, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        """Return all that the islands of this rank are, those who are on their way included.

        Unless `is_copied`, it holds until they go on.
        """
        saved = self._state.snapshot(self.generation, is_copied=is_copied)
        emigrants = self._exchange.emigrants()
        return saved if emigrants is None else saved | {_EMIGRANTS: emigrants}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        """Go on from a snapshot of the same islands, instead of `start`."""
        own = {name: array for name, array in saved.items() if name != _EMIGRANTS}
        self._state.require_fit(own)
        require_sound(own, self._encoding, generation, *self._identities())
        emigrants = saved.get(_EMIGRANTS)
        self._exchange.restore(migrations, emigrants)
        if emigrants is not None:
            require_genomes(emigrants, self._migrant, self._encoding)
        self._state.restore(own, generation)
        self.generation = generation
        self._adopt(everyone=True)

    def meet(self) -> None:
        """After `restore`, let slices of one population see each other's ends; collective."""
        if self._halo is not None:
            self._halo.renew()

    def measure(self) -> list[IslandMeasure]:
        """Return the few numbers of each island."""
        self._backend.run([self._launches.measure])
        self._lookout.fetch()
        self._exchange.fetch()
        self._backend.synchronise()
        return self._lookout.measures()

    def best(self) -> Candidate | None:
        """Return the best individual of this rank; of equals, the one of the lowest island.

        It is None where no feasible solution has been met.
        """
        return next(iter(self.elite(1)), None)

    def elite(self, count: int, run: int | None = None) -> list[Candidate]:
        """Return the best individuals of this rank's islands, best first, archives included.

        Of several runs side by side, one may be named by its place. Where infeasible solutions
        stay as they are, only the archives are asked.
        """
        return self._lookout.elite(self.generation, count, run)

    def digests(self, run: int | None = None) -> list[tuple[int, str]]:
        """Return, for each island of all runs or of one, the SHA-256 of its genomes and costs."""
        return self._lookout.digests(self.generation, run)

    def _allocate(self, parts: Parts) -> None:
        encoding = self._encoding
        self._shape = Shape(len(self.mine), self._population, encoding.pitch, encoding.gene)
        fields = fields_of(parts, self._shape)
        self._state = State(self._backend, len(self.mine), fields)
        self._lookout = Lookout(
            self._problem,
            self._encoding,
            self._state,
            self._backend,
            self.mine,
            self._islands_a_run,
        )
        self._outside = None
        if parts.outside:
            self._outside = Outside(self._backend, self._problem, encoding, self._state)
        self._migrant = Migrant(fields)
        self._all = as_kernels_see(
            self._backend, self._state, self._migrant, self._shape, encoding.shape()
        )

    def _identities(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the seed of the run of each of my islands, and its number in its run."""
        runs, numbers = np.divmod(np.array(self.mine), self._islands_a_run)
        return (runs.astype(np.uint64) + self._seed).view(np.int64), numbers

    def _pass(self, segments: Segments) -> None:
        """Run launches, with the judge's work between them."""
        first, *others = segments
        self._backend.run(first)
        for calls in others:
            assert self._outside is not None
            self._outside.judge(self._attempt.halt.is_heard)
            self._backend.run(calls)

    def _adopt(self, *, everyone: bool = False) -> None:
        """Bring derived fields up to date, of those who have come or of everyone."""
        if not self._launches.adopt:
            return
        if everyone:
            self._state.fill("changed", 1)
        self._backend.run(self._launches.adopt)
        self._state.fill("changed")

    def _now(self, name: str) -> Any:
        """Return one of the arrays as it stands in this generation, by island."""
        return self._state.part(name, self.generation)
