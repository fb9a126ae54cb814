"""The islands of one rank, of one or several colonies, which evolve and exchange migrants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.colonies import ColonySpec, RankIslands, islands_of_each, of_colony
from islands.archipelago.colony import Colony
from islands.archipelago.goal import Goal
from islands.archipelago.measure import Candidate, IslandMeasure
from islands.archipelago.memory import fields_of
from islands.archipelago.parts import ProgramParts
from islands.archipelago.saved import EMIGRANTS, by_colony, joined, require_genomes, split
from islands.archipelago.sizes import require_countable, require_memory
from islands.archipelago.team import Team, divided
from islands.backends.base import Array, Backend
from islands.migration import Arrivals, AsyncExchange, Exchange, MigrantLayout, Transport
from islands.migration.repeated import Halo
from islands.migration.settings import MigrationSettings, require_fit
from islands.parallel import Deal, World
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
        world: World,
        transport: type[Transport] | None = None,
        asynchronous: bool = False,
        warm_start: Callable[[], Sequence[Solution]] = tuple,
        deal: Deal | None = None,
        team: World | None = None,
    ) -> None:
        """Compile the programs and allocate all memory of the run.

        `transport` is the result of `islands.migration.transport.find`. With `asynchronous`, ranks
        do not wait for each other until `finish`. `warm_start` is only called by `start`. `deal`
        says which ranks have which islands; `team` has the ranks that share those of this rank, if
        there are several.
        """
        islands = sum(each.islands for each in colonies)
        self._islands = islands_of_each(colonies)
        held = RankIslands(islands, seed=seed, world=world, deal=deal)
        self.deal, self.held = held.deal, held.mine
        """The islands of which this rank has a copy."""
        self.mine = held.deal.recorded(world.rank)
        """The islands that this rank measures, records and saves; each island has one such rank."""
        self.generation = 0
        self.may_be_partial = False
        """Whether generation 0 may stay incomplete; the caller then checks `is_partial`."""
        self.is_partial = False
        """Whether generation 0 is incomplete: missing individuals are worse than all others."""
        self.ahead = range(0)
        """The generations in progress, or an empty range; for any thread."""
        self.backend, self._warm_start = backend, warm_start
        self.is_on_cpu = backend.in_host_memory
        kind = AsyncExchange if asynchronous and world.size > 1 else Exchange
        self._exchange = kind(
            *(migration, backend, world, transport),
            deal=held.deal,
            seed=seed,
            starts=np.array([each.start for each in self._islands], np.int64),
        )
        shared: Team | None = None
        helds, parts = [held.within(each) for each in self._islands], list[ProgramParts]()
        for number, (spec, own) in enumerate(zip(colonies, helds, strict=True)):
            with of_colony(number if colonies[1:] else None):
                on_rank = len(own.mine) if own is not None else 1
                require_countable(on_rank, spec.population, world.size)
                made = ProgramParts.of(spec, problem, backend.block_memory, on_rank)
                if own is not None and team is not None and made.schedule.divides:
                    slots = divided(spec.population, team.size, made.algorithm.copied())
                    first = divided(spec.population, team.size)
                    made = made.sharing(slots[team.rank], first[team.rank])
                    shared = Team(team, backend, transport, slots, first)
                size = {"islands": islands, "seed": seed}
                require_fit(made.algorithm, spec.population, migration, **size)
            parts.append(made)
        self._encodings = [each.encoding for each in parts]
        make_halo = None
        if reach := parts[0].algorithm.halo:
            make_halo = partial(Halo, backend, world, held.deal, transport, reach)
        fields = [fields_of(each) for each in parts]
        layout = MigrantLayout([(a.algorithm.name, b) for a, b in zip(parts, fields, strict=True)])
        here = [(a, b) for a, b, own in zip(parts, fields, helds, strict=True) if own is not None]
        require_memory(backend, here, migration, layout, size=(islands, seed), deal=held.deal)
        self._transport = transport.name if transport is not None else "device"
        self._colonies = [
            Colony(
                *(spec, number, parts[number], backend, own, fields[number], layout, make_halo),
                *(shared, team if shared is None else None),
            )
            for number, (spec, own) in enumerate(zip(colonies, helds, strict=True))
            if own is not None
        ]
        sides = {each.number: each.side(self._place(each).start) for each in self._colonies}
        self._exchange.prepare(sides, self._encodings, layout.bytes)
        self._branches = [(c.calls, c.spec.rate) for c in self._colonies if c.calls is not None]
        self._with_host = [each for each in self._colonies if each.calls is None]
        self._unsorted = [each for each in self._colonies if not each.keeps_order]
        self._deriving = [each for each in self._colonies if each.derives]

    def _place(self, colony: Colony) -> slice:
        """Return the place of a colony's islands among those of this rank."""
        mine = colony.held.mine
        return slice(mine.start - self.held.start, mine.stop - self.held.start)

    @property
    def transport(self) -> str:
        """The transport of migrants: `none`, `device`, `cuda-aware` or `staged`."""
        has_halo = self._colonies[0].halo is not None
        return self._transport if has_halo else self._exchange.transport

    @property
    def migrations(self) -> int:
        """The number of migrations that have begun."""
        return self._exchange.migrations

    @property
    def evaluation_seconds(self) -> float:
        """The time spent on evaluations between launches."""
        outside = [each.outside for each in self._colonies if each.outside is not None]
        return sum(each.seconds for each in outside)

    @property
    def may_take_long(self) -> bool:
        """Whether a generation may take long.

        It may with local search, host evaluation or a problem of the user's own, and on a CPU.
        """
        return self.is_on_cpu or any(each.may_take_long for each in self._colonies)

    @property
    def working_ranks(self) -> int:
        """The number of ranks that work on the islands of this rank."""
        return max(each.working_ranks for each in self._colonies)

    @property
    def is_idle(self) -> bool:
        """Whether other ranks do all work on the islands of this rank."""
        return all(each.rests for each in self._colonies)

    @property
    def why_idle(self) -> str:
        """Why ranks that share the islands of this rank are idle; empty if none is."""
        return next((each.why_idle for each in self._colonies if each.why_idle), "")

    @property
    def team_seconds(self) -> float:
        """The time that exchanges with ranks that share an island have taken."""
        return sum(each.team_seconds for each in self._colonies)

    def start(self) -> None:
        """Make and evaluate generation 0; only part of it if it `may_be_partial` and must end."""
        self.generation = 0
        self._exchange.restore(0, None)
        solutions = self._warm_start()
        self.ahead = range(1)
        are_whole = [
            each.start(solutions, may_be_partial=self.may_be_partial) for each in self._colonies
        ]
        self.is_partial = not self._all_complete(are_whole)
        self.renew_halo()

    def abandon(self) -> None:
        """Request the end of the generations in progress, from any thread."""
        for each in self._colonies:
            each.attempt.halt.request()

    def attempt(self, generations: int) -> bool:
        """Advance; return whether the generations are complete.

        Otherwise, they were abandoned: `undo` them.
        """
        for each in self._colonies:
            each.begin_attempt(self.generation, generations)
        self._began = self.generation
        self.ahead = range(self.generation + 1, self.generation + 1 + generations)
        self.advance(generations)
        return self._all_complete([each.attempt.is_whole() for each in self._colonies])

    def _all_complete(self, are_whole: Sequence[bool]) -> bool:
        """End the generations in progress; return whether no colony has abandoned them."""
        self.ahead = range(0)
        if not all(are_whole):
            for each, is_whole in zip(self._colonies, are_whole, strict=True):
                if is_whole:  # the request must not end the next generations
                    each.attempt.halt.forget()
        return all(are_whole)

    def undo(self) -> None:
        """Return to the generation before the last `attempt`; collective if there is a halo."""
        self.generation = self._began
        for each in self._colonies:
            each.undo()
        self.renew_halo()

    def made(self) -> int:
        """Return the number of individuals made in the generations `ahead`; for any thread."""
        return sum(each.made() for each in self._colonies)

    @property
    def can_seek(self) -> bool:
        """Whether `seek` can end the run at a call; on all ranks, if it is so on each."""
        return len(self._islands) == 1 and all(each.can_seek for each in self._colonies)

    def seek(self, goal: Goal) -> None:
        """End the run at the first child that reaches a goal."""
        for each in self._colonies:
            each.seek(goal)

    @property
    def has_reached(self) -> bool:
        """Whether the last generation has ended at the goal, on any rank."""
        return any(each.has_reached for each in self._colonies)

    def limit_first(self, limit: int) -> None:
        """Limit the evaluations of the islands of all ranks in generation 0."""
        if len(self._islands) == 1:
            for each in self._colonies:
                each.limit_first(limit)

    def limit(self, left: int | None) -> None:
        """Limit the evaluations of the islands of all ranks in the next generation.

        None: no limit. Several colonies always make whole generations.
        """
        if len(self._islands) == 1:
            for each in self._colonies:
                each.limit(left)

    def advance(self, generations: int) -> None:
        """Run this number of generations; only host evaluation and the halo wait for the device."""
        self.backend.run_branches(self._branches, generations)
        for each in self._with_host:
            each.advance(self.generation, generations)
        for each in self._unsorted if generations else ():
            each.sort()
        self.generation += generations
        if self._exchange.in_flight is not None:
            # While the device works, the host sends the migrants.
            self._exchange.arrive()

    def wait(self) -> None:
        """Wait until the device has completed all launches."""
        self.backend.synchronise()

    def migrate(self) -> None:
        """Exchange migrants with all islands; collective over the ranks."""
        self._exchange.migrate()
        for each in self._deriving:
            each.derive()

    def inject(self, solutions: Sequence[Solution], first: int) -> None:
        """Replace the worst individuals by solutions, dealt in turn from the island `first` on."""
        for each in self._colonies:
            each.inject(solutions, first, self.generation)

    def populations(self) -> list[Array]:
        """Return the genomes of each island that this rank records, until the islands advance."""
        self.wait()
        if not self.mine:
            return []  # other ranks may have made the last generations
        return [island for each in self._colonies for island in each.populations(self.generation)]

    def finish(self) -> None:
        """End the exchange after the last migration; collective."""
        self._exchange.finish()

    def arrivals(self) -> Arrivals | None:
        """Return the record of the migration before the last `measure`, or None."""
        arrivals = self._exchange.arrivals()
        return arrivals if self.mine else None

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
        if not self.mine:
            return {}
        arrays = {
            each.number: each.snapshot(self.generation, is_copied=is_copied)
            for each in self._colonies
        }
        saved = joined(arrays, len(self._islands))
        emigrants = self._exchange.emigrants()
        return saved if emigrants is None else saved | {EMIGRANTS: emigrants}

    def restore(
        self, saved: Mapping[str, NDArray[Any]], *, generation: int, migrations: int
    ) -> None:
        """Continue from a snapshot of the same islands, instead of `start`."""
        own = by_colony(saved, len(self._islands))
        for each in self._colonies:
            each.require_restorable(own[each.number], generation)
        emigrants = saved.get(EMIGRANTS)
        self._exchange.restore(migrations, emigrants)
        if emigrants is not None:
            for each in self._colonies:
                require_genomes(emigrants[self._place(each)], each.migrant, each.encoding)
        for each in self._colonies:
            each.restore(own[each.number], generation)
        self.generation = generation

    def renew_halo(self) -> None:
        """Exchange the halo, if there is one; collective."""
        for each in self._colonies:
            each.renew_halo()

    def measure(self) -> list[IslandMeasure]:
        """Return the measures of each island that this rank records.

        They have no distances if individuals are missing.
        """
        if self.mine:
            for each in self._colonies:
                each.begin_measure()
            self._exchange.fetch()
        self.backend.synchronise()
        self._refuse_faults()
        if not self.mine:
            return []
        found = [measure for each in self._colonies for measure in each.measures()]
        return [each._replace(distance=None) for each in found] if self.is_partial else found

    def _refuse_faults(self) -> None:
        """Raise an error about a fault on this rank, which it may have found for others."""
        for each in self._colonies:
            each.refuse_faults()

    def best(self) -> Candidate | None:
        """Return the best individual of this rank, among equals that of the first island, or None.

        It has a violation only if no individual is feasible.
        """
        return next(iter(self.elite(1, any_solution=True)), None)

    def elite(self, count: int, *, any_solution: bool = False) -> list[Candidate]:
        """Return the best individuals of this rank's islands, best first, archives included.

        If populations may hold infeasible solutions, only the archives are considered. With
        `any_solution`, a violation does not exclude one.
        """
        self._refuse_faults()
        if not self.mine:
            return []
        found = [
            best
            for each in self._colonies
            for best in each.elite(self.generation, count, any_solution=any_solution)
        ]
        return sorted(found, key=lambda best: (best.cost, best.island))[:count]

    def digests(self) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island."""
        if not self.mine:
            return []
        return [pair for each in self._colonies for pair in each.digests(self.generation)]
