"""The islands of one colony on a rank, which share an algorithm, its settings and launches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Host, TeamExchanges
from islands.archipelago import messages
from islands.archipelago.attempt import Attempt
from islands.archipelago.colonies import ColonySpec, RankIslands
from islands.archipelago.goal import Goal, Reached
from islands.archipelago.injection import place, replace_worst
from islands.archipelago.launches import Launches, Repeated, Segments, uninterrupted
from islands.archipelago.measure import Candidate, IslandMeasure, IslandReader
from islands.archipelago.memory import UNLIMITED, Memory
from islands.archipelago.outside import evaluator
from islands.archipelago.parts import HOST, QUOTA, WAITING, ProgramParts
from islands.archipelago.saved import require_sound
from islands.archipelago.sizes import require_countable
from islands.archipelago.team import SlotExchange, Team, Trial, divided
from islands.backends.base import Array, Backend, Calls
from islands.migration import MigrantLayout, Ranks, Side
from islands.migration.repeated import Halo, RepeatedExchange
from islands.parallel import World
from islands.problems.base import Problem, Solution
from islands.text import counted


@dataclass(frozen=True)
class ColonySetup:
    """A colony of a run as one rank sees it, before its memory is allocated."""

    number: int
    spec: ColonySpec
    parts: ProgramParts
    held: RankIslands | None
    """The islands of the colony that this rank holds; None if it holds none."""
    team: Team | None = None
    """The ranks that share the work on these islands."""
    undivided: World | None = None
    """Ranks that hold the same islands but cannot share the work: after generation 0, the first one
    does all of it."""

    @classmethod
    def of(
        cls,
        number: int,
        spec: ColonySpec,
        held: RankIslands | None,
        problem: Problem,
        backend: Backend,
        ranks: Ranks,
    ) -> Self:
        """Return a colony's setup on this rank; reject more individuals than kernels can count."""
        islands = 1 if held is None else len(held.numbers)
        require_countable(islands, spec.population, ranks.world.size)
        parts = ProgramParts.of(spec, problem, backend.shared_memory, islands)
        if held is None or ranks.team is None:
            return cls(number, spec, parts, held)
        if not parts.schedule.divides:
            return cls(number, spec, parts, held, undivided=ranks.team)
        slots = divided(spec.population, ranks.team.size, parts.algorithm.copied())
        first = divided(spec.population, ranks.team.size)
        team = Team(ranks.team, backend, ranks.transport, slots, first)
        return cls(number, spec, parts.sharing(team.slots, first[ranks.team.rank]), held, team)


class Colony:
    """The islands of one colony on this rank."""

    def __init__(
        self, setup: ColonySetup, backend: Backend, layout: MigrantLayout, halo: Halo | None = None
    ) -> None:
        """Compile the program and allocate all memory.

        `layout` is that of the migrants of all colonies.
        """
        assert setup.held is not None, "the rank holds islands of the colony"
        self.spec, self.number, self.held = setup.spec, setup.number, setup.held
        parts = self._parts = setup.parts
        self._problem, self._backend, self.encoding = parts.problem, backend, parts.encoding
        self.halo, self.team, self._undivided = halo, setup.team, setup.undivided
        self._is_limited = False
        self.has_reached_goal = False
        """Whether the last generation has ended at the goal."""
        memory = self._memory = Memory(backend, parts, layout)
        self.state, self.migrant = memory.state, memory.migrant
        self._reader = IslandReader(
            parts.problem, self.encoding, self.state, backend, self.held.numbers
        )
        self.attempt = Attempt(backend, self.state, self.team)
        self._launches = Launches(
            memory,
            self._reader.measured,
            self.attempt.halt.words,
            halo=None if halo is None else halo.adjacent,
        )
        self.outside = evaluator(memory, self._launches)
        self._generation, self._alone = self._launches.generation, self._launches.alone
        if halo is not None:
            halo.prepare(self._launches.populations, memory.all)
            self._generation = _with_halo(self._generation, halo)
            self._alone = _with_halo(self._alone, halo) if self._alone else []
        self._has_no_work = self._undivided is not None and self._undivided.rank > 0
        self._sharing: SlotExchange | None = None
        self._trial: Trial | None = None
        if self.team is not None and parts.shape.made is not None:
            steps = [step for step in self._generation if isinstance(step, TeamExchanges)]
            self._sharing = SlotExchange(self.team, parts.algorithm, self.state, steps)
            is_free = halo is None or halo.exchange is None
            self._trial = Trial(self.team) if self._alone and is_free else None
            self._forget_children()
        self.keeps_order = self._launches.keeps_order
        """Whether each generation ends with sorted islands."""
        self.derives = bool(self._launches.adopt)
        """Whether fields are derived from the genes of individuals that arrive."""

    @property
    def may_take_long(self) -> bool:
        """True if a generation may be slow even on a GPU."""
        parts = self._parts
        is_search = parts.improver.name != "none" or parts.algorithm.may_take_long
        return is_search or parts.evaluated_by == HOST or parts.evaluates_user_code

    @property
    def calls(self) -> Calls | None:
        """The launches of a generation; None if the host takes part, or the rank has no work."""
        return None if self._has_no_work else uninterrupted(self._generation)

    def side(self, first: int) -> Side:
        """Return the islands for migration; `first` is their offset among those of this rank."""
        return self._launches.side(first)

    def start(self, solutions: Sequence[Solution], *, may_be_partial: bool) -> bool:
        """Create and evaluate generation 0; return whether it is complete.

        The `solutions` of a warm start are dealt to all islands of the run.
        """
        self._memory.clear(self.held.records())
        individuals = self.held.islands * self.spec.population
        if len(solutions) > individuals:
            raise messages.too_many_solutions("start", len(solutions), individuals)
        place(self.held.dealt(solutions, 0), self._memory)
        self.attempt.start(may_be_partial=may_be_partial)
        self._forget_children()
        self._run(self._launches.start, 0)
        self._forget_children()  # from now on, other ranks may create some of these individuals
        is_complete = self.attempt.is_complete()
        if is_complete and self._is_limited:
            self._complete_first()
        if not is_complete:
            self.attempt.rank_missing_last()
        self._backend.run([self._launches.rank_again])
        if is_complete:  # missing individuals have no genes to derive anything from
            self.derive(of_all=True)
        return is_complete

    def _forget_children(self) -> None:
        """Mark all children as not waiting: those that other ranks evaluate never wait here."""
        if self._sharing is not None and WAITING in self.state.arrays:
            self.state.fill(WAITING)

    def begin_attempt(self, generation: int, generations: int) -> None:
        """Prepare for generations of the run that may be abandoned."""
        self.attempt.begin(generation * self.spec.rate, generations * self.spec.rate)

    def undo(self) -> None:
        """Return to the generation before the last attempt."""
        self.attempt.undo()
        self.derive(of_all=True)

    def new_individuals(self) -> int:
        """Return the number of new individuals in the current attempt; thread-safe."""
        return self.attempt.new_individuals() if self.outside is None else self.outside.evaluated

    @property
    def is_idle(self) -> bool:
        """Whether other ranks do all the work on these islands."""
        if self.team is None:
            return self._has_no_work
        if self._trial is not None and self._trial.is_alone:
            return self.team.world.rank > 0
        return not self.team.slots

    def end_at(self, goal: Goal) -> None:
        """End a generation at the first child that reaches a goal, if the host evaluates."""
        if self.outside is not None:
            self.outside.goal = goal

    @property
    def can_end_at_goal(self) -> bool:
        """Whether a generation can end at a child: all ranks evaluate on the host."""
        return self._parts.evaluated_by == HOST and self._undivided is None

    @property
    def team_seconds(self) -> float:
        """The time that the team's exchanges have taken."""
        return 0.0 if self._sharing is None else self._sharing.seconds

    @property
    def why_idle(self) -> str:
        """Why some ranks that hold these islands are idle; empty if none is."""
        if self._trial is not None and self._trial.is_alone:
            alone, shared = (self._trial.seconds_of(is_shared=way) for way in (False, True))
            return f"a generation takes {1e3 * alone:.2g} ms alone, {1e3 * shared:.2g} ms shared"
        if self.team is not None and self.team.working_members < self.team.world.size:
            return f"an island has {counted(self.spec.population, 'individual')}"
        return (
            f"{self.spec.algorithm} cannot divide the work on an island"
            if self._undivided is not None
            else ""
        )

    @property
    def working_ranks(self) -> int:
        """The number of ranks that work on these islands."""
        is_alone = self._trial is not None and self._trial.is_alone
        return 1 if self.team is None or is_alone else self.team.working_members

    def advance(self, generation: int, generations: int) -> None:
        """Advance by `generations` of the run after `generation`, including steps of the host."""
        trial, first = self._trial, generation * self.spec.rate + 1
        if self._has_no_work or (self.is_idle and trial is not None and trial.is_alone):
            return
        calls = uninterrupted(self._alone) if trial is not None and trial.is_alone else None
        if calls is not None:
            self._backend.run(calls, generations * self.spec.rate)
            return
        for number in range(first, first + generations * self.spec.rate):
            is_alone = trial is not None and not trial.is_shared()
            self._run(self._alone if is_alone else self._generation, number)
            if trial is not None:
                trial.generation_ended()

    def limit_first(self, limit: int) -> None:
        """Limit the evaluations of all islands of the run in generation 0.

        An island makes at least one.
        """
        self._set_quotas(self._parts.first_quotas(limit, self.held.islands))

    def limit(self, left: int | None) -> None:
        """Limit the evaluations of all islands of the run in the next generation.

        None means no limit. Algorithms that cannot end a generation early ignore it.
        """
        if left is not None and self._parts.keeps_quota:
            self._set_quotas(self._parts.quotas(left, self.held.islands))
        elif self._is_limited:
            self._is_limited = False
            self.state.fill(QUOTA, UNLIMITED)
            if self.outside is not None:
                self.outside.slots_changed()

    def _set_quotas(self, quotas: NDArray[np.int64]) -> None:
        self._is_limited, numbers = True, self.held.numbers
        self._backend.upload(quotas[numbers.start : numbers.stop], self.state.arrays[QUOTA])
        if self.outside is not None:
            self.outside.slots_changed()

    def _complete_first(self) -> None:
        """Replace the individuals for which no evaluation was left by copies of the first one."""
        upload, download = self._backend.upload, self._backend.download
        traits = [name for name, field in self.state.fields.items() if field.travels]
        parts = [self.state.part(name, 0) for name in (*self._solutions, *traits)]
        for island, quota in enumerate(download(self.state.arrays[QUOTA]).tolist()):
            if quota < self.spec.population:
                for part in parts:
                    first = download(part[island, :1])
                    rest = part[island, max(1, quota) :]
                    upload(np.broadcast_to(first, rest.shape).copy(), rest)

    @property
    def _solutions(self) -> list[str]:
        """The fields with genomes and costs, including those offered to the archive."""
        names = ("genes", "cost", "offered", "offered_cost")
        return [name for name in names if name in self.state.arrays]

    def sort(self) -> None:
        """Sort the islands."""
        self._backend.run([self._launches.rank_again])

    def _run(self, segments: Segments, generation: int) -> None:
        """Run a generation of the colony: its launches, and the host's steps between them."""
        for segment in segments:
            if isinstance(segment, list) and generation == 0:
                self._backend.run(segment)
            elif isinstance(segment, list):
                self._backend.run_again(segment)
            elif isinstance(segment, TeamExchanges):
                assert self._sharing is not None
                self._sharing.run(segment, generation)
            elif isinstance(segment, RepeatedExchange):
                segment.run()  # exchanges the halo
            else:
                self._evaluate(segment, generation)

    def _evaluate(self, step: Repeated | Host, generation: int) -> None:
        """Evaluate the waiting children; with rounds, until none waits or a halt is requested.

        A child that reaches the goal becomes the only new individual of the generation.
        """
        outside, turn, evaluated = self.outside, 0, 0
        assert outside is not None
        calls = None if outside.goal is None else self._backend.download(self.state.arrays["calls"])
        is_first = generation == 0
        while True:
            is_complete = outside.evaluate(self.attempt.halt.is_requested, is_first=is_first)
            evaluated += outside.evaluated
            if not isinstance(step, Repeated) or outside.reached is not None:
                break
            self._backend.run(step.calls)
            if not is_complete or outside.evaluated == 0:
                break
            is_first, turn = False, turn + 1
        if outside.goal is not None and calls is not None:
            reached = outside.reached
            if reached is not None:
                reached = replace(reached, turn=turn, island=self.held.numbers[reached.island])
            first = outside.goal.first(reached)
            if first is not None:
                self._end_with(first, generation, calls, evaluated)

    def _end_with(
        self, first: Reached, generation: int, calls: NDArray[np.int64], evaluated: int
    ) -> None:
        """Replace a generation by the previous one, plus the individual that reaches the goal.

        The generation is then the same on any number of ranks. In generation 0, all individuals
        are copies of that one. `calls` are the numbers of evaluations before the generation, to
        which this rank has added `evaluated`.
        """
        self.has_reached_goal, upload = True, self._backend.upload
        genes, cost = (self.state.part(name, generation) for name in ("genes", "cost"))
        if generation == 0:
            for name in self._solutions:
                part = self.state.part(name, 0)
                value = first.genome if name in ("genes", "offered") else first.cost
                upload(np.broadcast_to(value, part.shape).astype(part.dtype), part)
            self._set_quotas(np.zeros(self.held.islands, np.int64))
        else:
            self.attempt.undo()  # restores the states of algorithms, too
            for name, part in (("genes", genes), ("cost", cost)):
                self._backend.copy(self.state.part(name, generation - 1), part)
            if first.island in self.held.numbers:
                local = first.island - self.held.numbers.start
                upload(first.genome, genes[local, first.slot])
                costs = self._backend.download(cost[local])
                costs[first.slot] = first.cost
                upload(costs, cost[local])
        self.state.fill(WAITING)  # no child waits
        shape = self._parts.shape
        slots = (shape.first_made if generation == 0 else shape.made) or range(1)
        calls[0, slots.start] += evaluated
        upload(calls, self.state.arrays["calls"])

    def derive(self, *, of_all: bool = False) -> None:
        """Update the derived fields of changed individuals, or of all of them."""
        if self.derives:
            if of_all:
                self.state.fill("changed", 1)
            self._backend.run(self._launches.adopt)
            self.state.fill("changed")

    def inject(self, solutions: Sequence[Solution], first: int, generation: int) -> None:
        """Replace the worst individuals by solutions, dealt to all islands of the run."""
        dealt = self.held.dealt(solutions, first)
        replace_worst(dealt, self._memory, generation * self.spec.rate)
        self._backend.run([self._launches.rank_again])
        self.derive()

    def populations(self, generation: int) -> list[Array]:
        """Return the genomes of each island on the device."""
        genes = self.state.part("genes", generation * self.spec.rate)
        return [genes[island, :, : self.encoding.size] for island in range(len(self.held.numbers))]

    def snapshot(self, generation: int, *, is_copied: bool) -> dict[str, NDArray[Any]]:
        """Return all arrays that a checkpoint contains."""
        return self.state.snapshot(generation * self.spec.rate, is_copied=is_copied)

    def require_restorable(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Reject arrays that do not fit these islands."""
        self.state.require_fit(saved)
        require_sound(saved, self.encoding, generation * self.spec.rate, self.held)

    def restore(self, saved: Mapping[str, NDArray[Any]], generation: int) -> None:
        """Continue from arrays that passed `require_restorable`."""
        self.state.restore(saved, generation * self.spec.rate)
        self.derive(of_all=True)

    def begin_measure(self) -> None:
        """Begin to measure the islands."""
        self._backend.run([self._launches.measure])
        self._reader.fetch()

    def reject_faults(self) -> None:
        """Raise an error if kernels have reported a fault of the problem on this rank."""
        self._problem.evaluation.reject_faults(self._launches.data, self._backend)

    def measures(self) -> list[IslandMeasure]:
        """Return the measures; generations are those of the run."""
        measures = self._reader.measures()
        if self.number == 0 and self.spec.rate == 1:
            return measures
        return [
            measure._replace(
                colony=self.number,
                best_generation=-(-measure.best_generation // self.spec.rate),
            )
            for measure in measures
        ]

    def elite(self, generation: int, count: int, *, any_solution: bool = False) -> list[Candidate]:
        """Return the best individuals: see `Interpreter.elite`."""
        return self._reader.elite(generation * self.spec.rate, count, any_solution=any_solution)

    def digests(self, generation: int) -> list[tuple[int, str]]:
        """Return the SHA-256 of the genomes and costs of each island."""
        return self._reader.digests(generation * self.spec.rate)


def _with_halo(segments: Segments, halo: Halo) -> Segments:
    """Return the steps of a generation, followed by the exchange of the halo."""
    *earlier, last = segments
    assert isinstance(last, list), "a generation ends with a launch"
    exchange = [] if halo.exchange is None else [halo.exchange]
    return [*earlier, [*last, halo.pack], *exchange]
