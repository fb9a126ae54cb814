"""The islands of one rank, in one or several colonies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.colonies import ColonySpec, RankIslands, islands_of_each, of_colony
from islands.archipelago.colony import Colony, ColonySetup
from islands.archipelago.goal import Goal
from islands.archipelago.measure import Candidate, IslandMeasure
from islands.archipelago.saved import EMIGRANTS, by_colony, joined, require_genomes, split
from islands.archipelago.sizes import require_memory
from islands.backends.base import Array, Backend
from islands.migration import Arrivals, AsyncExchange, Exchange, MigrantLayout, Ranks
from islands.migration.repeated import Halo
from islands.migration.settings import MigrationSettings, require_fit
from islands.problems.base import Problem, Solution


class Archipelago:
    """The islands of one rank, on which algorithms solve a problem."""

    def __init__(
        self,
        *,
        problem: Problem,
        colonies: Sequence[ColonySpec],
        seed: int,
        migration: MigrationSettings,
        backend: Backend,
        ranks: Ranks,
        warm_start: Callable[[], Sequence[Solution]] = tuple,
    ) -> None:
        """Compile the programs and allocate all memory; `start` calls `warm_start`."""
        self.deal, self.held = ranks.deal, ranks.held
        """The islands of which this rank has a copy."""
        self.recorded = ranks.recorded
        """The islands that this rank measures, records and saves; each island has one such rank."""
        self.generation = 0
        self.may_be_partial = False
        """Whether generation 0 may stay incomplete; the caller then checks `is_partial`."""
        self.is_partial = False
        """Whether generation 0 is incomplete: missing individuals are worse than all others."""
        self.ahead = range(0)
        """The generations in progress, or an empty range; any thread may read it."""
        self.backend, self._warm_start = backend, warm_start
        self.is_on_cpu = backend.in_host_memory
        self._islands = islands_of_each(colonies)
        held = RankIslands(ranks.deal.islands, self.held, seed)
        setups = list[ColonySetup]()
        for number, (spec, islands) in enumerate(zip(colonies, self._islands, strict=True)):
            with of_colony(number if colonies[1:] else None):
                local = held.within(islands)
                setup = ColonySetup.of(number, spec, local, problem, backend, ranks)
                require_fit(setup.parts.algorithm, spec.population, migration, held.islands, seed)
                setups.append(setup)
        here = [setup for setup in setups if setup.held is not None]
        layout = MigrantLayout([(s.parts.algorithm.name, s.parts.fields) for s in setups])
        parts = [setup.parts for setup in here]
        require_memory(backend, parts, migration, layout, seed=seed, deal=ranks.deal)
        halo = self._halo = None
        if reach := setups[0].parts.algorithm.halo:  # rejected with several colonies
            halo = self._halo = Halo(backend, ranks, reach, layout.bytes)
        self._colonies = [Colony(setup, backend, layout, halo) for setup in here]
        self._encodings = [setup.parts.encoding for setup in setups]
        exchange = AsyncExchange if ranks.asynchronous and ranks.world.size > 1 else Exchange
        starts = np.array([islands.start for islands in self._islands], np.int64)
        self._exchange = exchange(migration, backend, ranks, seed=seed, starts=starts)
        sides = {c.number: c.side(self._place(c).start) for c in self._colonies}
        self._exchange.prepare(sides, self._encodings, layout.bytes)
        self.transport = self._exchange.transport
        """The transport of arrays: `none`, `device`, `cuda-aware` or `staged`."""
        if halo is not None:
            self.transport = "device" if ranks.transport is None else ranks.transport.name
        self._branches = [(c.calls, c.spec.rate) for c in self._colonies if c.calls is not None]
        self._with_host = [c for c in self._colonies if c.calls is None]
        self._unsorted = [c for c in self._colonies if not c.keeps_order]
        self._deriving = [c for c in self._colonies if c.derives]

    def _place(self, colony: Colony) -> slice:
        """Return the position of a colony's islands in arrays of all islands of this rank."""
        numbers = colony.held.numbers
        return slice(numbers.start - self.held.start, numbers.stop - self.held.start)

    @property
    def migrations(self) -> int:
        """The number of migrations that have begun."""
        return self._exchange.migrations

    @property
    def evaluation_seconds(self) -> float:
        """The time spent on evaluations between launches."""
        return sum(c.outside.seconds for c in self._colonies if c.outside is not None)

    @property
    def may_take_long(self) -> bool:
        """Whether a generation may take a long time.

        True on a CPU, with local search or host evaluation, and for problems of users.
        """
        return self.is_on_cpu or any(colony.may_take_long for colony in self._colonies)

    @property
    def working_ranks(self) -> int:
        """The number of ranks that work on the islands of this rank."""
        return max(colony.working_ranks for colony in self._colonies)

    @property
    def is_idle(self) -> bool:
        """Whether other ranks do all the work on the islands of this rank."""
        return all(colony.is_idle for colony in self._colonies)

    @property
    def why_idle(self) -> str:
        """Why some ranks that share the islands of this rank are idle; empty if none is."""
        return next((colony.why_idle for colony in self._colonies if colony.why_idle), "")

    @property
    def team_seconds(self) -> float:
        """The time that exchanges with ranks that share an island have taken."""
        return sum(colony.team_seconds for colony in self._colonies)

    def start(self) -> None:
        """Create and evaluate generation 0, which a halt may end early if it `may_be_partial`."""
        self.generation = 0
        self._exchange.restore(0, None)
        solutions = self._warm_start()
        self.ahead = range(1)
        are_complete = [
            colony.start(solutions, may_be_partial=self.may_be_partial) for colony in self._colonies
        ]
        self.is_partial = not self._all_complete(are_complete)
        self.renew_halo()

    def abandon(self) -> None:
        """Request the end of the generations in progress; any thread may call this."""
        for colony in self._colonies:
            colony.attempt.halt.request()

    def attempt(self, generations: int) -> bool:
        """Advance; return whether the generations are complete.

        If they are not, they were abandoned, and the caller has to `undo` them.
        """
        for colony in self._colonies:
            colony.begin_attempt(self.generation, generations)
        self._began = self.generation
        self.ahead = range(self.generation + 1, self.generation + 1 + generations)
        self.advance(generations)
        return self._all_complete([colony.attempt.is_complete() for colony in self._colonies])

    def _all_complete(self, are_complete: Sequence[bool]) -> bool:
        """End the generations in progress; return whether no colony has abandoned them."""
        self.ahead = range(0)
        if not all(are_complete):
            for colony, is_complete in zip(self._colonies, are_complete, strict=True):
                if is_complete:  # the request must not end the next generations
                    colony.attempt.halt.forget()
        return all(are_complete)

    def undo(self) -> None:
        """Return to the generation before the last `attempt`; collective if there is a halo."""
        self.generation = self._began
        for colony in self._colonies:
            colony.undo()
        self.renew_halo()

    def new_individuals(self) -> int:
        """Return the number of new individuals in the generations `ahead`; thread-safe."""
        return sum(colony.new_individuals() for colony in self._colonies)

    @property
    def can_end_at_goal(self) -> bool:
        """Whether `end_at` can end the run at a call; the same on all ranks."""
        return len(self._islands) == 1 and all(colony.can_end_at_goal for colony in self._colonies)

    def end_at(self, goal: Goal) -> None:
        """End the run at the first child that reaches a goal."""
        for colony in self._colonies:
            colony.end_at(goal)

    @property
    def has_reached_goal(self) -> bool:
        """Whether the last generation has ended at the goal on any rank."""
        return any(colony.has_reached_goal for colony in self._colonies)

    def limit_first(self, limit: int) -> None:
        """Limit the evaluations of the islands of all ranks in generation 0."""
        if len(self._islands) == 1:
            for colony in self._colonies:
                colony.limit_first(limit)

    def limit(self, left: int | None) -> None:
        """Limit the evaluations of the islands of all ranks in the next generation.

        None means no limit. With several colonies, generations are always complete.
        """
        if len(self._islands) == 1:
            for colony in self._colonies:
                colony.limit(left)

    def advance(self, generations: int) -> None:
        """Launch this number of generations; only host evaluation and the halo wait for them."""
        self.backend.run_branches(self._branches, generations)
        for colony in self._with_host:
            colony.advance(self.generation, generations)
        for colony in self._unsorted if generations else ():
            colony.sort()
        self.generation += generations
        self._exchange.deliver()  # the host sends migrants while the device works

    def wait(self) -> None:
        """Wait until the device has completed all launches."""
        self.backend.synchronise()

    def migrate(self) -> None:
        """Exchange migrants among the islands of all ranks; collective."""
        self._exchange.migrate()
        for colony in self._deriving:
            colony.derive()

    def inject(self, solutions: Sequence[Solution], first: int) -> None:
        """Replace the worst individuals by solutions, dealt to the islands in turn from `first`."""
        for colony in self._colonies:
            colony.inject(solutions, first, self.generation)
        self.renew_halo()

    def populations(self) -> list[Array]:
        """Return the genomes of each recorded island, valid until the islands advance."""
        self.wait()
        if not self.recorded:
            return []  # the copies on this rank may be old
        generation = self.generation
        return [genes for colony in self._colonies for genes in colony.populations(generation)]

    def finish(self) -> None:
        """End the exchange after the last migration; collective."""
        self._exchange.finish()

    def arrivals(self) -> Arrivals | None:
        """Return the record of the migration before the last `measure`, or None."""
        arrivals = self._exchange.arrivals()
        return arrivals if self.recorded else None

    def covered(self, name: str) -> range:
        """Return the islands of the run for which an array of a snapshot has a row."""
        if name == EMIGRANTS:
            return range(self._islands[-1].stop)
        return self._islands[split(name, len(self._islands))[0]]

    def snapshot(self, *, is_copied: bool = True) -> dict[str, NDArray[Any]]:
        """Return all kept arrays of the islands of this rank, and the migrants in flight.

        Unless `is_copied`, they are valid until the islands advance. With several colonies, names
        begin with the number of the colony.
        """
        if not self.recorded:
            return {}
        arrays = {
            colony.number: colony.snapshot(self.generation, is_copied=is_copied)
            for colony in self._colonies
        }
        saved = joined(arrays, len(self._islands))
        emigrants = self._exchange.emigrants()
        return saved if emigrants is None else saved | {EMIGRANTS: emigrants}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        """Continue from a snapshot of the same islands, instead of `start`."""
        arrays = by_colony(saved, len(self._islands))
        for colony in self._colonies:
            colony.require_restorable(arrays[colony.number], generation)
        emigrants = saved.get(EMIGRANTS)
        self._exchange.restore(migrations, emigrants)
        if emigrants is not None:
            for colony in self._colonies:
                require_genomes(emigrants[self._place(colony)], colony.migrant, colony.encoding)
        for colony in self._colonies:
            colony.restore(arrays[colony.number], generation)
        self.generation = generation

    def renew_halo(self) -> None:
        """Exchange the halo, if there is one; collective."""
        if self._halo is not None:
            self._halo.renew()

    def measure(self) -> list[IslandMeasure]:
        """Return the measures of the recorded islands, without distances if `is_partial`."""
        if self.recorded:
            for colony in self._colonies:
                colony.begin_measure()
            self._exchange.fetch()
        self.backend.synchronise()
        self._reject_faults()
        if not self.recorded:
            return []
        measures = [measure for colony in self._colonies for measure in colony.measures()]
        if self.is_partial:
            measures = [measure._replace(distance=None) for measure in measures]
        return measures

    def _reject_faults(self) -> None:
        """Raise an error if kernels have reported a fault, also on a rank that records nothing."""
        for colony in self._colonies:
            colony.reject_faults()

    def best(self) -> Candidate | None:
        """Return the best individual of this rank, or None; ties go to the first island.

        It has a violation only if no individual is feasible.
        """
        return next(iter(self.elite(1, any_solution=True)), None)

    def elite(self, count: int, *, any_solution: bool = False) -> list[Candidate]:
        """Return the best individuals of this rank's islands, best first, archives included.

        If populations may hold infeasible solutions, only the archives are considered. With
        `any_solution`, solutions with a violation are included.
        """
        self._reject_faults()
        if not self.recorded:
            return []
        candidates = [
            best
            for colony in self._colonies
            for best in colony.elite(self.generation, count, any_solution=any_solution)
        ]
        return sorted(candidates, key=lambda best: (best.cost, best.island))[:count]

    def digests(self) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island."""
        if not self.recorded:
            return []
        return [pair for colony in self._colonies for pair in colony.digests(self.generation)]
