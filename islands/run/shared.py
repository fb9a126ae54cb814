"""Many instances that share launches: each is solved as if alone, with the same bits.

Instances of the same size and kind take the places of the runs of `SharedRuns`. A run that is over
leaves its place to the next instance.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.instances import Arrays, arrays_of, shapes_of
from islands.archipelago.measure import (
    ISLAND,
    MEASURE,
    NONE,
    Candidate,
    IslandMeasure,
    Meaning,
    digest_of,
)
from islands.archipelago.parts import ProgramParts
from islands.archipelago.shared import Found, SharedRuns, bytes_a_run, can_share, parts_for
from islands.backends.base import Backend
from islands.configuration.spec import RunSpec, Visits
from islands.configuration.stop import CONVERGED, CRITERIA, first_reason
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch, Moment, Outcome, Progress
from islands.progress.result import Result
from islands.progress.tally import Tally, summarise
from islands.progress.usage import Machine
from islands.record.tables import MemoryRecords
from islands.run.single import check_exactly, combined, completed

if TYPE_CHECKING:
    import pyarrow as pa

_CRITERIA = {kind for kind in CRITERIA if kind != "evaluations"}
"""A limit of evaluations is looked at between visits."""
_INDIVIDUALS = 1 << 15
"""Individuals of a launch that fill a GPU."""
_INDIVIDUALS_ON_CPU = 256
"""Those of a launch of a CPU thread: enough that launches take longer than what the host does for
them, and few enough for its caches."""
_SECONDS_ON_CPU, _READ_SECONDS = 0.005, 2e-9
"""The time of a launch of a CPU thread, if local searches take most of it, and of a read of memory.
Places without an instance compute until the last one has ended."""
_MOST_PLACES = 2048
_SHARE = 0.5
"""Part of the free memory of a device that runs may take."""

_OF_BEST, _OF_GENERATION, _OF_ARCHIVED, _OF_ARCHIVED_GENERATION, _OF_DISTINCT, _OF_ENDED = (
    MEASURE.index(name)
    for name in (
        *("best", "best_generation", "archived", "archived_generation"),
        *("distinct", "ended"),
    )
)

Key = TypeVar("Key")
Other = TypeVar("Other")


@dataclass
class Waiting(Generic[Key]):
    """An instance that waits for a place."""

    key: Key
    """By what the caller knows it."""
    spec: RunSpec
    problem: Problem
    parts: ProgramParts
    """Its parts, for one run."""
    arrays: Arrays
    kind: Hashable
    """What instances of the same launches have in common, apart from most numbers in structs."""

    def like(self, key: Other, spec: RunSpec, problem: Problem) -> Waiting[Other]:
        """Return another instance with an equal `likeness`."""
        parts = replace(self.parts, problem=problem)
        return Waiting(key, spec, problem, parts, arrays_of(parts), self.kind)


Take = Callable[[], Waiting[Key] | None]
"""Returns the next instance of a kind, or None if there is none now."""


@dataclass
class _Run(Generic[Key]):
    """An instance at a place."""

    waiting: Waiting[Key]
    began: float
    visits: list[tuple[int, float, NDArray[np.int64]]] = field(default_factory=list)
    """The generation, the time and the measures at each visit."""


@dataclass(frozen=True)
class _Ended(Generic[Key]):
    """A run that is over."""

    run: _Run[Key]
    progress: Progress
    reason: str
    measures: Sequence[IslandMeasure]
    found: Found


def shares_launches(spec: RunSpec) -> bool:
    """Return whether runs with these settings may share launches."""
    is_plain = not (spec.colonies or spec.start or spec.given or spec.general.bound)
    return is_plain and all(each.kind in _CRITERIA for each in spec.stop)


def waiting_for(key: Key, spec: RunSpec, problem: Problem, backend: Backend) -> Waiting[Key] | None:
    """Return an instance that waits; None if it cannot share launches."""
    if not shares_launches(spec):
        return None
    colony = spec.as_colony()
    parts = parts_for(colony, problem, 1, backend)
    if not can_share(parts):
        return None
    arrays = arrays_of(parts)
    macros = tuple(sorted((name, each) for name, each in parts.macros().items()))
    settings = problem.name, problem.size, colony, spec.stop, spec.record, spec.migration
    kind = *settings, macros, parts.algorithm.numbers(), shapes_of(arrays)
    return Waiting(key, spec, problem, parts, arrays, kind)


class Sharing(Generic[Key]):
    """Solves instances of one kind that share launches."""

    def __init__(self, first: Waiting[Key], places: int, backend: Backend) -> None:
        """Compile the program for instances like the first one, at most `places` at a time."""
        self._spec, self._backend = first.spec, backend
        colony = first.spec.as_colony()
        places = min(places, places_for(first, backend))
        self._parts = parts_for(colony, first.problem, places, backend)
        self._runs = SharedRuns(colony.islands, self._parts, first.arrays, places, backend)
        self.kind, self.places = first.kind, places
        self._ready: deque[Waiting[Key]] = deque()
        self._is_new = True
        self._known = first.parts.algorithm
        """The algorithm of instances that fit."""
        self._visits = Visits.of(first.spec)
        self._at: list[_Run[Key] | None] = [None] * places
        self._generations = np.zeros(places, np.int64)
        self._is_active = np.zeros(places, np.bool_)
        self._meaning = Meaning(first.problem, self._parts.encoding, colony.population)
        self._machine = Machine(
            *(1, backend.name, backend.device, backend.reason, "none"),
            *(backend.compile_seconds, backend.compiling.was_needed),
        )

    def fits(self, waiting: Waiting[Key]) -> bool:
        """Return whether the kernels can solve an instance of the same kind."""
        # Those with an equal `likeness` share the object of the algorithm, and all numbers.
        if waiting.parts.algorithm is self._known:
            return True
        fits = self._runs.fits(waiting.parts)
        if fits:
            self._known = waiting.parts.algorithm
        return fits

    def solve(
        self, take: Take[Key], must_end: Callable[[], bool]
    ) -> Iterator[tuple[Key, Result | None]]:
        """Solve the instances that `take` returns until it returns None, or leave them.

        Yield each with its result, or with None if its islands would exchange migrants now: it is
        to be solved alone.
        """
        is_over = False
        ended: list[_Ended[Key]] = []
        while not must_end():
            while not is_over and not self._is_active.all() and len(ended) < 2 * self.places:
                is_over = self._begin(take)
                ended += self._look(step=0)
            is_working = bool(self._is_active.any())
            step = self._advance() if is_working else 0
            for each in self._results(ended):  # while the device works
                paused = time.perf_counter()
                yield each
                self._pause(time.perf_counter() - paused)
            if is_working:
                self._make_ready(take, len(ended))
                left = self._leaving()  # a run exchanges migrants before it is looked at
                ended = self._look(step)
                for key in left:
                    paused = time.perf_counter()
                    yield key, None
                    self._pause(time.perf_counter() - paused)
            elif is_over:
                return
            else:
                ended = []

    def _pause(self, seconds: float) -> None:
        """Do not count the time in which the caller did something else."""
        for run in self._at:
            if run is not None:
                run.began += seconds

    def _advance(self) -> int:
        """Let the device advance to the next visit of a run; return the number of generations."""
        ahead = self._next_visits() - self._generations
        step = int(ahead[self._is_active].min())
        self._runs.advance(step)
        self._generations += step
        return step

    def _make_ready(self, take: Take[Key], count: int) -> None:
        """Take about as many instances as the next look will need, while the device works."""
        while not self._backend.in_host_memory and len(self._ready) < count:
            taken = take()
            if taken is None:
                return
            self._ready.append(taken)

    def _begin(self, take: Take[Key]) -> bool:
        """Fill free places; return whether there are no more instances."""
        free = np.flatnonzero(~self._is_active).tolist()
        chosen, instances, seeds = [], [], []
        is_over = False
        for place in free:
            waiting = self._ready.popleft() if self._ready else take()
            if waiting is None:
                is_over = True
                break
            self._at[place] = _Run(waiting, time.perf_counter())
            chosen.append(place)
            instances.append(waiting.arrays)
            seeds.append(waiting.spec.general.seed)
        if chosen:
            self._generations[chosen] = 0
            self._is_active[chosen] = True
            # Kernels advance all places: those without an instance need one that makes sense.
            idle = free[len(chosen) :] if self._is_new else []
            instances += [instances[0]] * len(idle)
            self._runs.begin([*chosen, *idle], instances, [*seeds, *idle])
            self._is_new = False
        return is_over

    def _next_visits(self) -> NDArray[np.int64]:
        known = {each: self._visits.after(each) for each in {*self._generations.tolist()}}
        return np.array([known[each] for each in self._generations.tolist()], np.int64)

    def _look(self, step: int) -> list[_Ended[Key]]:
        """Measure; return the runs that are over, whose places are free then."""
        measured, now = self._runs.measured(), time.perf_counter()
        looked = self._is_active & (self._generations == 0 if step == 0 else True)
        looked &= [self._is_visit(each) for each in self._generations.tolist()]
        for place in np.flatnonzero(looked).tolist():
            run = self._at[place]
            assert run is not None
            generation = int(self._generations[place])
            run.visits.append((generation, now - run.began, measured[place].copy()))
        ended = []
        for place in np.flatnonzero(looked & self._may_end(measured, now)).tolist():
            run = self._at[place]
            assert run is not None
            generation, seconds, rows = run.visits[-1]
            measures = self._meaning.measures(range(len(rows)), rows)
            progress = _progress(run.waiting, measures, generation, seconds)
            reason = first_reason(run.waiting.spec.stop, progress)
            if reason is not None:
                ended.append((place, run, progress, reason, measures))
        places = [each[0] for each in ended]
        found = self._runs.found(places) if places else []
        self._is_active[places] = False
        for place in places:
            self._at[place] = None
        return [_Ended(*each[1:], own) for each, own in zip(ended, found, strict=True)]

    def _is_visit(self, generation: int) -> bool:
        return bool(self._visits.include(generation))

    def _may_end(self, measured: NDArray[np.int64], now: float) -> NDArray[np.bool_]:
        """Return which runs may be over, from the measures of all of them at once."""
        spec, generations = self._spec, self._generations
        may = np.zeros(self.places, np.bool_)
        is_plain = not self._parts.problem.scale.has_violations
        for criterion in spec.stop:
            if criterion.kind == "generations":
                may |= generations >= criterion.value
            elif criterion.kind == "seconds":
                began = [0.0 if each is None else now - each.began for each in self._at]
                may |= np.array(began) >= criterion.value
            elif criterion.kind == CONVERGED and is_plain:
                stands = generations - _best_generations(measured)
                each = (measured[..., _OF_DISTINCT] == 1) | (measured[..., _OF_ENDED] > 0)
                may |= each.all(axis=1) | (stands >= spec.mean_population + criterion.value)
            else:
                may[:] = True
        return may

    def _leaving(self) -> list[Key]:
        """Return the runs that would exchange migrants now, whose places are free then."""
        interval, left = self._visits.migration_interval, list[Key]()
        if interval is None:
            return left
        leaves = self._is_active & (self._generations > 0) & (self._generations % interval == 0)
        for place in np.flatnonzero(leaves).tolist():
            run = self._at[place]
            assert run is not None
            self._is_active[place], self._at[place] = False, None
            left.append(run.waiting.key)
        return left

    def _results(self, ended: Sequence[_Ended[Key]]) -> Iterator[tuple[Key, Result]]:
        for each in ended:
            yield each.run.waiting.key, self._result(each)

    def _result(self, ended: _Ended[Key]) -> Result:
        waiting, found = ended.run.waiting, ended.found
        spec, problem = waiting.spec, waiting.problem
        best = self._best(problem, found)
        violation = check_exactly(problem, best, ended.progress.cost)
        size = self._parts.encoding.size
        digests = [
            (island, digest_of(found.genes[island, :, :size], found.cost[island]))
            for island in range(len(found.genes))
        ]
        moment = Moment(ended.progress.generation, ended.progress.seconds, None)
        outcome = Outcome(ended.progress, ended.reason, moment)
        return completed(
            *(spec, problem, self._machine, outcome, best, violation, combined(digests)),
            reproducible=True,
            folder=None,
            records=VisitRecords(spec, problem, self._meaning, ended.run.visits),
        )

    def _best(self, problem: Problem, found: Found) -> Candidate | None:
        """Return the best individual of a run, as `IslandReader.elite` finds it."""
        meaning, population = self._meaning, found.cost.shape[1]
        costs = np.full_like(found.cost, NONE) if problem.scale.marks else found.cost
        archived = found.island[:, ISLAND.index("archived")]
        every = np.concatenate([costs.ravel(), archived])
        numbers = np.arange(len(costs))
        islands = np.concatenate([np.repeat(numbers, population), numbers])
        place = int(np.lexsort((islands, every))[0])
        if every[place] >= meaning.worst:
            return None
        island = int(islands[place])
        if place < costs.size:
            row = found.genes[island, place - island * population]
        else:
            assert found.archive is not None
            row = found.archive[island]
        genome = row[: self._parts.encoding.size]
        decoded = self._parts.encoding.decode(genome[np.newaxis])[0]
        cost = meaning.scale.unmarked(int(every[place]))
        return Candidate(cost, island, problem.layout.from_device(decoded), genome)


def _best_generations(measured: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the generation in which each run found its best cost."""
    archived = measured[..., _OF_ARCHIVED] <= measured[..., _OF_BEST]
    best = np.minimum(measured[..., _OF_ARCHIVED], measured[..., _OF_BEST])
    own = np.where(archived, measured[..., _OF_ARCHIVED_GENERATION], measured[..., _OF_GENERATION])
    is_best = best == best.min(axis=1, keepdims=True)
    found: NDArray[np.int64] = np.where(is_best, own, NONE).min(axis=1)
    return found


def places_for(first: Waiting[Any], backend: Backend) -> int:
    """Return the number of runs of a launch that fill the device."""
    colony = first.spec.as_colony()
    individuals = _INDIVIDUALS
    if backend.in_host_memory:
        each = _READ_SECONDS * first.parts.improver.work(first.problem)
        individuals = int(min(_INDIVIDUALS_ON_CPU, _SECONDS_ON_CPU / max(each, 1e-9)))
    fill = max(1, individuals // (colony.islands * colony.population))
    room = fill
    if (free := backend.free_now()) is not None:
        room = max(1, int(_SHARE * free / bytes_a_run(first.parts, 1)))
    return min(fill, room, _MOST_PLACES)


def _progress(
    waiting: Waiting[Any],
    measures: Sequence[IslandMeasure],
    generation: int,
    seconds: float,
    before: Progress | None = None,
) -> Progress:
    population = waiting.spec.mean_population
    tally = Tally.of(measures)
    return summarise(tally, generation, seconds, population, waiting.problem, before)


class VisitRecords:
    """The records of a run that shared launches, made when they are asked for."""

    def __init__(
        self,
        spec: RunSpec,
        problem: Problem,
        meaning: Meaning,
        visits: Sequence[tuple[int, float, NDArray[np.int64]]],
    ) -> None:
        self._spec, self.problem, self._meaning, self._visits = spec, problem, meaning, visits

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `trace` or `migrations`."""
        return self._kept.table(name)

    @cached_property
    def _kept(self) -> Any:
        records, before = MemoryRecords(self._spec, self.problem, World()), None
        for generation, seconds, rows in self._visits:
            measures = self._meaning.measures(range(len(rows)), rows)
            tally, population = Tally.of(measures), self._spec.mean_population
            before = summarise(tally, generation, seconds, population, self.problem, before)
            records.epoch(Epoch(measures, None, before))
        return records.of_all_ranks()
