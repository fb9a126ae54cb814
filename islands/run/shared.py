"""Many instances that share launches: each is solved as if alone, with the same bits.

Instances of the same size and kind take the places of the runs of `SharedRuns`. A run that is over
leaves its place to the next instance.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import (
    MEASURE,
    IslandMeasure,
    Meaning,
)
from islands.archipelago.shared import Found, SharedRuns, parts_for
from islands.backends.base import Backend
from islands.configuration.spec import RunSpec, Visits
from islands.configuration.stop import first_reason
from islands.errors import IslandsError
from islands.migration.shared import Landing
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch, Moment, Outcome, Progress
from islands.progress.result import Result
from islands.progress.standings import Standings
from islands.progress.tally import Tally, summarise
from islands.progress.usage import Machine
from islands.record.tables import MemoryRecords
from islands.run.halting import Watch
from islands.run.single import check_exactly, combined, completed
from islands.run.waiting import Key, Waiting, with_arrays

if TYPE_CHECKING:
    import pyarrow as pa

Take = Callable[[], Waiting[Key] | None]
"""Returns the next instance of a kind, or None if there is none now."""


class Visit(NamedTuple):
    """What was seen of a run at a visit."""

    generation: int
    seconds: float
    measures: bytes
    """The numbers of `MEASURE` of each island."""
    landing: Landing | None
    """The migrants that have arrived."""


@dataclass
class _Run(Generic[Key]):
    """An instance at a place."""

    waiting: Waiting[Key]
    began: float
    visits: list[Visit] = field(default_factory=list)


@dataclass(frozen=True)
class _Search:
    """What the search of a run that is over has found."""

    progress: Progress
    reason: str
    found: Found


@dataclass(frozen=True)
class _Ended(Generic[Key]):
    """A run that is over, and what it has found or the fault that has ended it."""

    run: _Run[Key]
    found: _Search | IslandsError


class _HaltedError(Exception):
    """The device has left its work incomplete."""


class Sharing(Generic[Key]):
    """Solves instances of one kind that share launches."""

    def __init__(self, first: Waiting[Key], places: int, backend: Backend) -> None:
        """Compile the program for instances like the first one, with `places` at a time."""
        self._spec, self._backend = first.spec, backend
        colony = first.spec.as_colony()
        self._parts = parts_for(colony, first.problem, places, backend)
        self._runs = SharedRuns(
            *(colony.islands, self._parts, with_arrays([first])[0], places, backend),
            migration=first.spec.migration if first.spec.migrates else None,
        )
        self.kind, self.places = first.kind, places
        self._ready: deque[Waiting[Key]] = deque()
        self._is_new = True
        self._known = first.parts.algorithm
        """The algorithm of instances that fit."""
        self._visits = Visits.of(first.spec)
        self._at: list[_Run[Key] | None] = [None] * places
        self._generations = np.zeros(places, np.int64)
        self._is_active, self._rests = np.zeros(places, np.bool_), np.zeros(places, np.bool_)
        self._meaning = Meaning(first.problem, self._parts.encoding, colony.population)
        self._ended = deque[_Ended[Key]]()
        self._watch: Watch | None = None
        if self._parts.evaluates_own:
            self._watch = Watch(self._runs.halt)
        self._away = 0.0
        """Seconds in which the caller did something else."""
        self.is_slow = False
        """Whether evaluations take long, so that instances of the kind are to be solved alone."""
        self._machine = Machine(
            *(1, backend.name, backend.device, backend.reason, "none"),
            *(backend.compile_seconds, backend.compiling.was_needed),
        )

    def fits(self, waiting: Waiting[Key]) -> bool:
        """Return whether the kernels can solve an instance of the same kind."""
        # Those with an equal `likeness` share the object of the algorithm, and all numbers that
        # must be equal.
        if waiting.parts.algorithm is self._known:
            return True
        fits = self._runs.fits(waiting.parts)
        if fits:
            self._known = waiting.parts.algorithm
        return fits

    def solve(
        self, take: Take[Key], must_end: Callable[[], bool]
    ) -> Iterator[tuple[Key, Result | IslandsError | None]]:
        """Solve the instances that `take` returns, until all are over and it returns None.

        Yield each with its result or its error, or with None if it is to be solved alone, as
        evaluations take long. What has been found when it `must_end` is kept.
        """
        with nullcontext() if self._watch is None else self._watch.until(must_end):
            try:
                yield from self._solved(take, must_end)
            except _HaltedError:
                self.is_slow = True
            yield from self._results()
        if self.is_slow and not must_end():
            runs = [run for run in self._at if run is not None]
            for waiting in (*(run.waiting for run in runs), *self._ready):
                yield waiting.key, None

    def _solved(
        self, take: Take[Key], must_end: Callable[[], bool]
    ) -> Iterator[tuple[Key, Result | IslandsError | None]]:
        while not must_end():
            may_begin, count = True, len(self._ended)
            while may_begin and not (self._is_active.all() or must_end()):
                may_begin = self._begin(take)
                if may_begin:
                    yield from self._results()  # while the device works
                    self._look(step=0)
            is_working = bool(self._is_active.any())
            step = self._advance() if is_working else 0
            yield from self._results()
            if is_working:
                self._make_ready(take, count)
                self._look(step)
            elif not may_begin:
                return

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Do not count the time in which the caller does something else."""
        paused = time.perf_counter()
        yield
        self._away += time.perf_counter() - paused

    def _now(self) -> float:
        return time.perf_counter() - self._away

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Wait for the device, not too long if nobody knows how long evaluations take."""
        if self._watch is None:
            yield
            return
        with self._watch.working():
            yield
        if self._watch.has_halted:
            raise _HaltedError

    def _advance(self) -> int:
        """Let the device advance to the next visit of a run; return the number of generations."""
        ahead = self._next_visits() - self._generations
        step = int(ahead[self._is_active].min())
        if self._watch is not None:
            step = min(step, self._watch.generations)
        self._generations += step
        seeds = [0 if each is None else each.waiting.spec.general.seed for each in self._at]
        with self._working():
            self._runs.advance(step, self._migrations().tolist(), seeds)
        return step

    def _migrations(self) -> NDArray[np.int64]:
        """Return the number of the migration that each run has now, or 0."""
        interval = self._visits.migration_interval
        if interval is None:
            return np.zeros(self.places, np.int64)
        numbers, rest = np.divmod(self._generations, interval)
        return np.where(self._is_active & (rest == 0), numbers, 0)

    def _make_ready(self, take: Take[Key], count: int) -> None:
        """Take about as many instances as the next look will need, while the device works."""
        while not self._backend.in_host_memory and len(self._ready) < count:
            taken = take()
            if taken is None:
                break
            self._ready.append(taken)
        with_arrays(self._ready)

    def _begin(self, take: Take[Key]) -> bool:
        """Fill free places as far as there are instances now; return whether any has begun."""
        free = np.flatnonzero(~self._is_active).tolist()
        chosen, begun, seeds = [], [], []
        for place in free:
            waiting = self._ready.popleft() if self._ready else take()
            if waiting is None:
                break
            chosen.append(place)
            begun.append(waiting)
            seeds.append(waiting.spec.general.seed)
        if chosen:
            self._generations[chosen] = 0
            self._is_active[chosen], self._rests[chosen] = True, False
            # Kernels advance all places: those without an instance need one that makes sense.
            idle = free[len(chosen) :] if self._is_new else []
            instances = with_arrays(begun)
            instances += [instances[0]] * len(idle)
            now = self._now()
            for place, waiting in zip(chosen, begun, strict=True):
                self._at[place] = _Run(waiting, now)
            with self._working():
                self._runs.begin([*chosen, *idle], instances, [*seeds, *idle])
            self._is_new = False
        return bool(chosen)

    def _next_visits(self) -> NDArray[np.int64]:
        known = {each: self._visits.after(each) for each in {*self._generations.tolist()}}
        return np.array([known[each] for each in self._generations.tolist()], np.int64)

    def _look(self, step: int) -> None:
        """Measure, and find the runs that are over, whose places are free then."""
        with self._working():
            measured = self._runs.measured()
        if self._watch is not None:
            self._watch.has_made(step)
        faults, landings, now = self._runs.faults(), self._runs.landings(), self._now()
        looked = self._is_active.copy()
        if step == 0:  # only those that have just begun
            looked &= [each is not None and not each.visits for each in self._at]
        else:
            looked &= [self._is_visit(each) for each in self._generations.tolist()]
        for place in np.flatnonzero(looked).tolist():
            run = self._at[place]
            assert run is not None
            generation = int(self._generations[place])
            seen = measured[place].tobytes()
            run.visits.append(Visit(generation, now - run.began, seen, landings.get(place)))
        is_met, ended = self._is_met(measured, now), []
        if faults is not None:
            is_met |= faults.any(axis=(1, 2))
        for place in np.flatnonzero(looked & is_met).tolist():
            run = self._at[place]
            assert run is not None
            if faults is not None:
                try:
                    run.waiting.problem.evaluation.refuse_reported(faults[place])
                except IslandsError as error:
                    self._ended.append(_Ended(run, error))
                    self._free([place])
                    continue
            generation, seconds, *_ = run.visits[-1]
            rows = measured[place].tolist()
            try:
                measures = self._meaning.measures(range(len(rows)), rows)
            except IslandsError as error:
                self._ended.append(_Ended(run, error))
                self._free([place])
                continue
            progress = _progress(run.waiting, measures, generation, seconds)
            reason = first_reason(run.waiting.spec.stop, progress)
            if reason is not None:
                ended.append((place, run, progress, reason))
        places = [each[0] for each in ended]
        found = self._runs.found(places) if places else []
        self._free(places)
        for (_, run, progress, reason), own in zip(ended, found, strict=True):
            self._ended.append(_Ended(run, _Search(progress, reason, own)))
        resting = ~(self._is_active | self._rests) & (self._generations > 0)
        if resting.any():
            self._runs.rest(np.flatnonzero(resting).tolist())
            self._rests |= resting

    def _free(self, places: Sequence[int]) -> None:
        """Let the places be those of other instances."""
        self._is_active[places] = False
        for place in places:
            self._at[place] = None

    def _is_visit(self, generation: int) -> bool:
        return bool(self._visits.include(generation))

    def _is_met(self, measured: NDArray[np.int64], now: float) -> NDArray[np.bool_]:
        """Return which runs meet a criterion, from the measures of all of them at once."""
        seconds = np.array([0.0 if each is None else now - each.began for each in self._at])
        problems = [None if each is None else each.waiting.problem for each in self._at]
        standings = Standings(self._meaning, measured, problems, self._generations, seconds)
        is_met: NDArray[np.bool_] = np.any(
            [each.met(standings) for each in self._spec.stop], axis=0
        )
        return is_met

    def _results(self) -> Iterator[tuple[Key, Result | IslandsError]]:
        while self._ended:
            each = self._ended.popleft()
            made = self._result_or_error(each)
            with self._paused():
                yield each.run.waiting.key, made

    def _result_or_error(self, ended: _Ended[Key]) -> Result | IslandsError:
        if isinstance(ended.found, IslandsError):
            return ended.found
        problem = ended.run.waiting.problem
        try:
            with problem.evaluation.prepared(1, self._backend.name):
                return self._result(ended.run, ended.found)
        except IslandsError as error:
            return error

    def _result(self, run: _Run[Key], search: _Search) -> Result:
        found = search.found
        spec, problem, encoding = run.waiting.spec, run.waiting.problem, run.waiting.parts.encoding
        meaning = Meaning(problem, encoding, found.cost.shape[1])

        def genome(island: int, place: int | None) -> Any:
            if place is not None:
                return found.genes[island, place]
            assert found.archive is not None
            return found.archive[island]

        elite = meaning.elite(found.cost, found.island, genome, 1, any_solution=True)
        best = next(iter(elite), None)
        violation = check_exactly(problem, best, search.progress.cost)
        digests = [*enumerate(map(meaning.digest, found.genes, found.cost))]
        moment = Moment(search.progress.generation, search.progress.seconds, None)
        outcome = Outcome(search.progress, search.reason, moment)
        return completed(
            *(spec, problem, self._machine, outcome, best, violation, combined(digests)),
            reproducible=True,
            folder=None,
            records=VisitRecords(self._spec, problem, self._meaning, run.visits),
        )


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
    """The records of a run that shared launches, made when they are asked for.

    `spec` is that of the first run there: what records depend on is the same for all.
    """

    def __init__(
        self,
        spec: RunSpec,
        problem: Problem,
        meaning: Meaning,
        visits: Sequence[Visit],
    ) -> None:
        self._spec, self.problem, self._meaning, self._visits = spec, problem, meaning, visits

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `trace` or `migrations`."""
        return self._kept.table(name)

    @cached_property
    def _kept(self) -> Any:
        records, before = MemoryRecords(self._spec, self.problem, World()), None
        for generation, seconds, content, landing in self._visits:
            rows = np.frombuffer(content, np.int64).reshape(-1, len(MEASURE)).tolist()
            measures = self._meaning.measures(range(len(rows)), rows)
            tally, population = Tally.of(measures), self._spec.mean_population
            before = summarise(tally, generation, seconds, population, self.problem, before)
            records.epoch(Epoch(measures, landing and landing.arrivals(), before))
        return records.of_all_ranks()
