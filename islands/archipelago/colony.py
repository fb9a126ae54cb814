"""The islands of one colony on a rank: the same algorithm and settings, the same launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import NEIGHBOURS, Host, TeamExchanges
from islands.archipelago.attempt import Attempt
from islands.archipelago.colonies import ColonySpec, RankIslands
from islands.archipelago.goal import Goal, Reached
from islands.archipelago.injection import place, replace_worst, require_individuals
from islands.archipelago.launches import Launches, Repeated, Segments
from islands.archipelago.measure import Candidate, IslandMeasure, IslandReader
from islands.archipelago.memory import QUOTA, UNLIMITED, WAITING, Memory, tables_of
from islands.archipelago.outside import evaluator
from islands.archipelago.parts import HOST, ProgramParts
from islands.archipelago.saved import require_sound
from islands.archipelago.team import Sharing, Team, Trial
from islands.backends.base import Array, Backend, Calls
from islands.backends.state import Field
from islands.migration import MigrantLayout, Side
from islands.migration.repeated import Halo
from islands.migration.settings import fixed
from islands.parallel import World
from islands.problems.base import Solution
from islands.text import counted


class Colony:
    """The islands of one colony on this rank."""

    def __init__(
        self,
        spec: ColonySpec,
        number: int,
        parts: ProgramParts,
        backend: Backend,
        held: RankIslands,
        fields: Mapping[str, Field],
        layout: MigrantLayout,
        make_halo: Callable[[int], Halo] | None = None,
        team: Team | None = None,
        undivided: World | None = None,
    ) -> None:
        """Compile the program and allocate all memory.

        `held` contains only its own islands, which have these `fields`. `layout` is that of the
        migrants of all colonies. `make_halo` takes the bytes of an individual. A `team` shares the
        work on its islands; after generation 0, the first of `undivided` ranks does all of it.
        """
        self.spec, self.number, self.held = spec, number, held
        self._problem, self._backend, self._parts = parts.problem, backend, parts
        self._evaluation, self._is_limited = parts.problem.evaluation, False
        self.has_reached = False
        """Whether the last generation has ended at the goal."""
        self.encoding = parts.encoding
        memory = Memory(backend, parts, fields, layout)
        self._memory, self.state, self.migrant = memory, memory.state, memory.migrant
        self._read = (parts.problem, self.encoding, self.state, backend)
        self._reader = IslandReader(*self._read, held.mine)
        arrays = self.state.arrays
        self.halo = None if make_halo is None else make_halo(self.migrant.bytes)
        if self.halo is not None:
            arrays = arrays | {"halo": self.halo.adjacent}
        self.attempt = Attempt(backend, self.state, team)
        arrays |= tables_of(lambda _, table: backend.upload(table), parts, arrays)
        plan, halt = parts.algorithm.plan(arrays), self.attempt.halt.words
        self._launches = Launches(
            *(backend, parts, plan, memory, self._reader.measured),
            *(halt, arrays.get(NEIGHBOURS)),
        )
        self.outside = evaluator(parts, backend, self.state, self._launches)
        if self.halo is not None:
            self.halo.prepare(self._launches.populations, memory.all)
        self._generation, self._alone = self._launches.generation, self._launches.alone
        if self.halo is not None:
            self._generation, self._alone = map(self._with_halo, (self._generation, self._alone))
        self.team, self._undivided = team, undivided
        self._is_idle = undivided is not None and undivided.rank > 0
        self._sharing: Sharing | None = None
        self._trial: Trial | None = None
        if team is not None and parts.shape.made is not None:
            self._sharing = Sharing(team, parts.algorithm, self.state, _exchanges(self._generation))
            is_free = self.halo is None or self.halo.exchange is None
            self._trial = Trial(team) if self._alone and is_free else None
            self._forget_children()
        self._fixed = fixed(parts.algorithm)

        self.keeps_order = self._launches.keeps_order
        """Whether each generation ends with sorted islands."""
        self.derives = bool(self._launches.adopt)
        """Whether fields are derived from the genes of individuals that arrive."""

    @property
    def may_take_long(self) -> bool:
        """Whether a generation may take long on any device."""
        parts = self._parts
        is_search = parts.improver.name != "none" or parts.algorithm.may_take_long
        return is_search or parts.evaluated_by == HOST or parts.evaluates_own

    @property
    def calls(self) -> Calls | None:
        """The launches of one of its generations; None if the host takes part, or it is idle."""
        return None if self._is_idle else _only(self._generation)

    def side(self, first: int) -> Side:
        """Return what migration needs; `first` is the number of its first island on the rank."""
        return Side(
            first,
            len(self.held.mine),
            self.spec.population,
            self._fixed,
            self._launches.populations,
            self._memory.all,
            self._launches.rank_again,
            self._launches.ranking_room,
        )

    def start(self, solutions: Sequence[Solution], *, may_be_partial: bool) -> bool:
        """Make and evaluate generation 0; return whether it is complete.

        The `solutions` of a warm start are dealt to all islands of the run.
        """
        held = self.held
        self._memory.clear(held.new_islands())
        require_individuals(solutions, held.islands * self.spec.population)
        place(held.dealt(solutions, 0), self._problem, self.encoding, self._backend, self.state)
        self.attempt.start(may_be_partial=may_be_partial)
        self._forget_children()
        self._run(self._launches.start, 0)
        self._forget_children()  # from now on, other ranks may make some of these individuals
        is_whole = self.attempt.is_whole()
        if is_whole and self._is_limited:
            self._complete_first()
        if not is_whole:
            self.attempt.rank_missing_last()
        self._backend.run([self._launches.rank_again])
        if is_whole:  # missing individuals have no genes to derive anything from
            self.derive(everyone=True)
        return is_whole

    def _forget_children(self) -> None:
        """Let no children wait for evaluation, as those of other ranks never do here."""
        if self._sharing is not None and WAITING in self.state.arrays:
            self.state.fill(WAITING)

    def begin_attempt(self, generation: int, generations: int) -> None:
        """Prepare for generations of the run that may be abandoned."""
        self.attempt.begin(generation * self.spec.rate, generations * self.spec.rate)

    def undo(self) -> None:
        """Return to the generation before the last attempt."""
        self.attempt.undo()
        self.derive(everyone=True)

    def made(self) -> int:
        """Return the number of individuals made in the current attempt; for any thread."""
        return self.attempt.made() if self.outside is None else self.outside.evaluated

    @property
    def rests(self) -> bool:
        """Whether another rank makes all individuals, as sharing them would take longer."""
        if self.team is None:
            return self._is_idle
        if self._trial is not None and self._trial.is_alone:
            return self.team.world.rank > 0
        return not self.team.slots

    def seek(self, goal: Goal) -> None:
        """End a generation at the first child that reaches a goal, if children are called here."""
        if self.outside is not None:
            self.outside.goal = goal

    @property
    def can_seek(self) -> bool:
        """Whether it can end a generation at a child, as all ranks evaluate in each of them."""
        return self._parts.evaluated_by == HOST and self._undivided is None

    @property
    def team_seconds(self) -> float:
        """The time that the team's exchanges have taken."""
        return 0.0 if self._sharing is None else self._sharing.seconds

    @property
    def why_idle(self) -> str:
        """Why ranks that have its islands are idle; empty if none is."""
        if self._trial is not None and self._trial.is_alone:
            alone, shared = (self._trial.seconds_of(is_shared=each) for each in (False, True))
            return f"a generation takes {1e3 * alone:.2g} ms, shared {1e3 * shared:.2g} ms"
        if self.team is not None and self.team.at_work < self.team.world.size:
            return f"an island has {counted(self.spec.population, 'individual')}"
        return f"{self.spec.algorithm} cannot be shared" if self._undivided is not None else ""

    @property
    def working_ranks(self) -> int:
        """The number of ranks that work on its islands."""
        is_alone = self._trial is not None and self._trial.is_alone
        return 1 if self.team is None or is_alone else self.team.at_work

    def advance(self, generation: int, generations: int) -> None:
        """Run this number of generations of the run, with the host taking part in each."""
        trial, first = self._trial, generation * self.spec.rate + 1
        if self._is_idle or (self.rests and trial is not None and trial.is_alone):
            return
        calls = _only(self._alone) if trial is not None and trial.is_alone else None
        if calls is not None:
            self._backend.run(calls, generations * self.spec.rate)
            return
        for made in range(first, first + generations * self.spec.rate):
            is_alone = trial is not None and not trial.is_shared()
            self._run(self._alone if is_alone else self._generation, made)
            if trial is not None:
                trial.generation_ended()

    def limit_first(self, limit: int) -> None:
        """Make at most so many evaluations on all islands of the run in generation 0.

        Each island makes at least one.
        """
        self._set_quotas(self._parts.first_quotas(limit, self.held.islands))

    def limit(self, left: int | None) -> None:
        """Make at most so many evaluations on all islands of the run in the next generation.

        None: any number, which is also made by an algorithm that does not count them.
        """
        if left is not None and self._parts.keeps_quota:
            self._set_quotas(self._parts.quotas(left, self.held.islands))
        elif self._is_limited:
            self._is_limited = False
            self.state.fill(QUOTA, UNLIMITED)
            if self.outside is not None:
                self.outside.others_wait()

    def _set_quotas(self, quotas: NDArray[np.int64]) -> None:
        self._is_limited, mine = True, self.held.mine
        self._backend.upload(quotas[mine.start : mine.stop], self.state.arrays[QUOTA])
        if self.outside is not None:
            self.outside.others_wait()

    def _complete_first(self) -> None:
        """Copy the first individual of an island to those that had no evaluation left."""
        upload, download = self._backend.upload, self._backend.download
        own = [name for name, each in self.state.fields.items() if each.travels]
        parts = [self.state.part(name, 0) for name in (*self._solutions, *own)]
        for island, quota in enumerate(download(self.state.arrays[QUOTA]).tolist()):
            if quota < self.spec.population:
                for part in parts:
                    first = download(part[island, :1])
                    rest = part[island, max(1, quota) :]
                    upload(np.broadcast_to(first, rest.shape).copy(), rest)

    @property
    def _solutions(self) -> list[str]:
        """The fields with the genomes and costs of individuals, and with those offered."""
        names = ("genes", "cost", "offered", "offered_cost")
        return [name for name in names if name in self.state.arrays]

    def sort(self) -> None:
        """Sort the islands, whose generations end without order."""
        self._backend.run([self._launches.rank_again])

    def _run(self, segments: Segments, made: int) -> None:
        """Run the launches of a generation, and the steps of the host between them."""
        for each in segments:
            if isinstance(each, list) and made == 0:
                self._backend.run(each)
            elif isinstance(each, list):
                self._backend.run_again(each)
            elif isinstance(each, TeamExchanges):
                assert self._sharing is not None
                self._sharing.run(each, made)
            elif each is Host.EXCHANGES_HALO:
                assert self.halo is not None
                assert self.halo.exchange is not None
                self.halo.exchange.run()
            else:
                self._evaluate(each, made)

    def _evaluate(self, step: Repeated | Host, made: int) -> None:
        """Evaluate what waits; in rounds, until nothing waits or the generation is abandoned.

        If a child reaches the goal, it is the only one that the generation has.
        """
        outside, turn, evaluated = self.outside, 0, 0
        assert outside is not None
        calls = None if outside.goal is None else self._backend.download(self.state.arrays["calls"])
        is_first = made == 0
        while True:
            is_whole = outside.evaluate(self.attempt.halt.is_requested, is_first=is_first)
            evaluated += outside.evaluated
            if not isinstance(step, Repeated) or outside.reached is not None:
                break
            self._backend.run(step.calls)
            if not is_whole or outside.evaluated == 0:
                break
            is_first, turn = False, turn + 1
        if outside.goal is not None and calls is not None:
            own = outside.reached
            if own is not None:
                own = replace(own, turn=turn, island=self.held.mine[own.island])
            first = outside.goal.first(own)
            if first is not None:
                self._end_with(first, made, calls, evaluated)

    def _end_with(
        self, first: Reached, made: int, calls: NDArray[np.int64], evaluated: int
    ) -> None:
        """Let a generation differ from the one before by an individual that reaches the goal.

        So it is the same on any number of ranks. Of generation 0, all are copies, as if no other
        evaluation had been left. `calls` are the evaluations before, to which this rank has added
        some.
        """
        self.has_reached, upload = True, self._backend.upload
        genes, cost = self.state.part("genes", made), self.state.part("cost", made)
        if made == 0:
            for name in self._solutions:
                part = self.state.part(name, 0)
                value = first.genome if name in ("genes", "offered") else first.cost
                upload(np.broadcast_to(value, part.shape).astype(part.dtype), part)
            self._set_quotas(np.zeros(self.held.islands, np.int64))
        else:
            self.attempt.undo()  # also the states of algorithms
            for name, each in (("genes", genes), ("cost", cost)):
                self._backend.copy(self.state.part(name, made - 1), each)
            if first.island in self.held.mine:
                local = first.island - self.held.mine.start
                upload(first.genome, genes[local, first.slot])
                costs = self._backend.download(cost[local])
                costs[first.slot] = first.cost
                upload(costs, cost[local])
        self.state.fill(WAITING)  # nothing is selected
        shape = self._parts.shape
        slots = (shape.first_made if made == 0 else shape.made) or range(1)
        calls[0, slots.start] += evaluated
        upload(calls, self.state.arrays["calls"])

    def _with_halo(self, segments: Segments) -> Segments:
        """Return the steps of a generation that end with the exchange of the halo."""
        assert self.halo is not None
        *others, last = segments or [[]]
        assert isinstance(last, list), "a generation ends with a launch"
        ends = [] if self.halo.exchange is None else [Host.EXCHANGES_HALO]
        return [*others, [*last, self.halo.pack], *ends] if segments else []

    def derive(self, *, everyone: bool = False) -> None:
        """Update the derived fields of changed individuals, or of everyone."""
        if self.derives:
            if everyone:
                self.state.fill("changed", 1)
            self._backend.run(self._launches.adopt)
            self.state.fill("changed")

    def renew_halo(self) -> None:
        """Exchange the halo, if there is one; collective."""
        if self.halo is not None:
            self.halo.renew()

    def inject(self, solutions: Sequence[Solution], first: int, generation: int) -> None:
        """Replace the worst individuals by solutions, dealt to all islands of the run."""
        replace_worst(self.held.dealt(solutions, first), *self._read, generation * self.spec.rate)
        self._backend.run([self._launches.rank_again])
        self.derive()
        self.renew_halo()

    def populations(self, generation: int) -> list[Array]:
        """Return the genomes of each island on the device."""
        genes = self.state.part("genes", generation * self.spec.rate)
        return [genes[island, :, : self.encoding.size] for island in range(len(self.held.mine))]

    def snapshot(self, generation: int, *, is_copied: bool) -> dict[str, NDArray[Any]]:
        """Return all kept arrays."""
        return self.state.snapshot(generation * self.spec.rate, is_copied=is_copied)

    def require_restorable(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Refuse arrays that are not those of these islands."""
        self.state.require_fit(saved)
        require_sound(saved, self.encoding, generation * self.spec.rate, self.held)

    def restore(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Continue from arrays that passed `require_restorable`."""
        self.state.restore(saved, generation * self.spec.rate)
        self.derive(everyone=True)

    def begin_measure(self) -> None:
        """Begin to measure the islands."""
        self._backend.run([self._launches.measure])
        self._reader.fetch()

    def refuse_faults(self) -> None:
        """Raise an error if kernels have reported a fault of the problem on this rank."""
        self._evaluation.refuse_faults(self._launches.data, self._backend)

    def measures(self) -> list[IslandMeasure]:
        """Return the measures; generations are those of the run."""
        found = self._reader.measures()
        if self.number == 0 and self.spec.rate == 1:
            return found
        return [
            each._replace(
                colony=self.number,
                best_generation=-(-each.best_generation // self.spec.rate),
            )
            for each in found
        ]

    def elite(self, generation: int, count: int, *, any_solution: bool = False) -> list[Candidate]:
        """Return the best individuals: see `IslandReader`."""
        generation *= self.spec.rate
        return self._reader.elite(generation, count, any_solution=any_solution)

    def digests(self, generation: int) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island."""
        return self._reader.digests(generation * self.spec.rate)


def _only(segments: Segments) -> Calls | None:
    """Return the launches if the host has no step between them."""
    only, *others = segments
    return only if isinstance(only, list) and not others else None


def _exchanges(segments: Segments) -> list[TeamExchanges]:
    return [each for each in segments if isinstance(each, TeamExchanges)]
