"""Many runs that share launches: each gives the bits that it would give alone.

Runs of the same size and kind take the places of `SharedRuns`. A run that is over leaves its place
to the next one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import MEASURE, Candidate, IslandMeasure, Meaning
from islands.archipelago.shared import FinalIslands, SharedRuns, parts_for
from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.configuration.stop import first_reason, is_spent, time_limit
from islands.engine.budget import Budget
from islands.engine.halting import HaltedError, Watch
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell
from islands.engine.single import check_exactly, combined, made_result
from islands.engine.waiting import Waiting, with_arrays
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

if TYPE_CHECKING:
    import pyarrow as pa

Take = Callable[[], Waiting[Cell] | None]
"""Returns the next run of a kind, or None if there is none now."""


Visit: TypeAlias = tuple[int, float, bytes, Landing | None]
"""What was seen of a run at a visit: the generation, the seconds, the numbers of `MEASURE` of each
island, and the migrants that have arrived. Thousands of runs have many visits each: plain tuples of
numbers are not searched for garbage."""


@dataclass
class _Run(Generic[Cell]):
    """A run at a place."""

    waiting: Waiting[Cell]
    began: float
    visits: list[Visit] = field(default_factory=list)


class _Search(NamedTuple):
    """What the search of a run that is over has found."""

    progress: Progress
    reason: str
    found: FinalIslands


class SharedLoop(Generic[Cell]):
    """Makes runs of one kind that share launches."""

    def __init__(self, first: Waiting[Cell], places: int, backend: Backend) -> None:
        """Compile the program for runs like the first one, with `places` at a time."""
        self._spec, self._backend = first.spec, backend
        colony = first.spec.as_colony()
        self._parts = parts_for(colony, first.problem, places, backend)
        before = backend.compile_seconds
        self._runs = SharedRuns(
            *(colony.islands, self._parts, with_arrays([first])[0], places, backend),
            migration=first.spec.migration if first.spec.migrates else None,
        )
        self.kind, self.places = first.kind, places
        self._ready: deque[Waiting[Cell]] = deque()
        self._is_new = True
        self._known = first.parts.algorithm
        """The algorithm of instances that fit."""
        self._visits, self._limit = first.spec.visits, time_limit(first.spec.stop)
        self._budget, self._population = Budget(first.resolved), first.spec.mean_population
        self._at: dict[int, _Run[Cell]] = {}
        """The runs at places, and their problems."""
        self._problems: dict[int, Problem] = {}
        # Of the run at each place.
        self._seeds = [0] * places
        self._began = np.zeros(places)
        self._generations, self._evaluations = np.zeros((2, places), np.int64)
        self._is_active, self._rests, self._stands = np.zeros((3, places), np.bool_)
        self._meaning = Meaning(first.problem, self._parts.encoding, colony.population)
        self._ended = deque[tuple[_Run[Cell], _Search | IslandsError]]()
        """Runs that are over, and what they have found or the fault that has ended them."""
        self._most_late = max(LIMITS.least_overshoot, LIMITS.overshoot * self._limit)
        longest = max(LIMITS.longest_launch, self._most_late)
        self._watch = Watch(
            self._runs.halt, LIMITS.longest_launch if self._parts.evaluates_own else longest
        )
        self._away = 0.0
        """Seconds in which the caller did something else."""
        self.is_slow = False
        """Whether launches take long, so that runs of the kind are to be made alone."""
        self._machine = Machine(
            *(1, backend.name, backend.device, backend.reason, "none"),
            *(backend.compile_seconds - before, backend.compiling.was_needed),
        )

    def fits(self, waiting: Waiting[Cell]) -> bool:
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
        self, take: Take[Cell], must_end: Callable[[], bool]
    ) -> Iterator[tuple[Waiting[Cell], Result | IslandsError | None]]:
        """Make the runs that `take` returns, until all are over and it returns None.

        Yield each with its result or its error, or with None if it is to be made alone, as launches
        take long. What has been found when it `must_end` is kept.
        """
        with self._watch.until(must_end):
            try:
                yield from self._solved(take, must_end)
            except HaltedError:
                self.is_slow = True
            yield from self._results()
        if self.is_slow and not must_end():
            for waiting in (*(run.waiting for run in self._at.values()), *self._ready):
                yield waiting, None

    def _solved(
        self, take: Take[Cell], must_end: Callable[[], bool]
    ) -> Iterator[tuple[Waiting[Cell], Result | IslandsError | None]]:
        while not must_end():
            count = len(self._ended)
            begun: list[int] | None = None
            while begun != [] and not (len(self._at) == self.places or must_end()):
                begun = self._begin(take)
                if begun:
                    yield from self._results()  # while the device works
                    self._look(begun=begun)
            step = self._advance() if self._at else 0
            yield from self._results()
            if step:
                self._make_ready(take, count)
                self._look(step)
            elif begun == []:
                return

    def _now(self) -> float:
        return time.perf_counter() - self._away

    def _advance(self) -> int:
        """Let the device advance, at most to the next stop; return the number of generations."""
        self._launched_at = self._now()
        resting = np.flatnonzero(~(self._is_active | self._rests) & (self._generations > 0))
        if resting.size:
            self._runs.rest(resting.tolist())
            self._rests[resting] = True
        active = self._generations[self._is_active]
        step = min(int((self._visits.after(active) - active).min()), self._watch.generations)
        if self._budget.is_limited:
            safe = self._budget.safe(self._evaluations[self._is_active])
            step = min(step, max(1, int(safe.min())))
        self._generations += step
        if self._budget.is_limited:
            self._runs.limit([self._left(place) for place in range(self.places)])
        with self._watch:
            self._runs.advance(step, self._migrations(), self._seeds)
        return step

    def _left(self, place: int) -> int | None:
        """Return the evaluations that a run may make in the next generation."""
        # As of a run alone, the generation is whole if the last one has made none.
        if self._stands[place] or not self._is_active[place]:
            return None
        return self._budget.left(int(self._evaluations[place]))

    def _migrations(self) -> list[int]:
        """Return the number of the migration that each run has now, or 0."""
        interval = self._visits.migration_interval
        if interval is None:
            return []
        numbers, rest = np.divmod(self._generations, interval)
        return [*map(int, np.where(self._is_active & (rest == 0), numbers, 0))]

    def _make_ready(self, take: Take[Cell], count: int) -> None:
        """Take about as many instances as the next look will need, while the device works."""
        while not self._backend.in_host_memory and len(self._ready) < count:
            taken = take()
            if taken is None:
                break
            self._ready.append(taken)
        with_arrays(self._ready)

    def _begin(self, take: Take[Cell]) -> list[int]:
        """Fill free places as far as there are instances now, and return these places."""
        free, begun = np.flatnonzero(~self._is_active).tolist(), list[Waiting[Cell]]()
        while len(begun) < len(free):
            waiting = self._ready.popleft() if self._ready else take()
            if waiting is None:
                break
            begun.append(waiting)
        chosen: list[int] = free[: len(begun)]
        if chosen:
            self._generations[chosen] = self._evaluations[chosen] = 0
            self._is_active[chosen], self._rests[chosen] = True, False
            self._stands[chosen] = False
            # Kernels advance all places: those without a run need an instance that makes sense.
            idle = free[len(chosen) :] if self._is_new else []
            instances = with_arrays(begun)
            instances += [instances[0]] * len(idle)
            self._began[chosen] = now = self._now()
            for place, waiting in zip(chosen, begun, strict=True):
                self._at[place], self._problems[place] = _Run(waiting, now), waiting.problem
                self._seeds[place] = waiting.spec.general.seed
            seeds = [self._seeds[place] for place in chosen]
            with self._watch:
                self._runs.begin([*chosen, *idle], instances, [*seeds, *idle])
            self._is_new = False
        return chosen

    def _look(self, step: int = 0, begun: Sequence[int] = ()) -> None:
        """Measure, and find the runs that are over, whose places are free then.

        After a launch without generations, only those that have just `begun` are at a visit.
        """
        with self._watch:
            measured = self._runs.measured()
        if step > 0:
            seconds = self._now() - self._launched_at
            self._watch.has_made(step, seconds)
            if step == 1 and seconds > self._most_late:
                raise HaltedError  # a run alone ends in time
        faults, landings = self._runs.faults(), self._runs.landings()
        times = self._now() - self._began
        if step > 0:
            is_visit = self._is_active & self._visits.include(self._generations)
        else:
            is_visit = np.zeros(self.places, np.bool_)
            is_visit[[*begun]] = True
        standings = Standings(self._meaning, measured, self._problems, self._generations, times)
        is_over = self._are_over(is_visit, standings, has_advanced=step > 0)
        if faults is not None:
            is_over |= self._is_active & faults.any(axis=(1, 2))
        seen = np.flatnonzero(is_visit | is_over).tolist()
        content, size = measured.tobytes(), measured[0].nbytes
        for place, generation, second in zip(
            seen, self._generations[seen].tolist(), times[seen].tolist(), strict=True
        ):
            numbers = content[place * size : (place + 1) * size]
            landing = landings.get(place) if landings else None
            self._at[place].visits.append((generation, second, numbers, landing))
        self._end(np.flatnonzero(is_over).tolist(), measured, faults)

    def _are_over(
        self, is_visit: NDArray[np.bool_], standings: Standings, *, has_advanced: bool
    ) -> NDArray[np.bool_]:
        """Return which runs are over, as `Loop` decides of one alone."""
        stop, is_due = self._spec.stop, is_visit
        if has_advanced:
            is_due = is_visit | (self._is_active & (standings.seconds >= self._limit))
        is_over = np.zeros_like(is_due)
        if is_due.any():
            for each in stop:
                is_over |= is_due & each.met(standings)
        if self._budget.is_limited:
            if has_advanced:
                self._stands = self._is_active & (standings.evaluations == self._evaluations)
            self._evaluations = standings.evaluations
            is_over |= self._is_active & is_spent(stop, standings)
        return is_over

    def _end(
        self,
        places: Sequence[int],
        measured: NDArray[np.int64],
        faults: NDArray[np.int64] | None,
    ) -> None:
        """Read what runs have found, and free their places."""
        ended = dict[int, tuple[Progress, str]]()
        for place in places:
            run, problem = self._at[place], self._problems[place]
            generation, seconds, *_ = run.visits[-1]
            try:
                if faults is not None:
                    problem.evaluation.refuse_reported(faults[place])
                rows = measured[place].tolist()
                measures = self._meaning.measures(range(len(rows)), rows, problem.instance)
            except IslandsError as error:
                self._ended.append((run, error))
                continue
            tally = Tally.of(measures)
            progress = summarise(tally, generation, seconds, self._population, problem)
            reason = first_reason(self._spec.stop, progress)
            assert reason is not None, "the arrays and the progress say the same"
            ended[place] = progress, reason
        found = self._runs.found([*ended]) if ended else []
        for (place, search), own in zip(ended.items(), found, strict=True):
            self._ended.append((self._at[place], _Search(*search, own)))
        self._is_active[places] = False
        for place in places:
            del self._at[place], self._problems[place]

    def _results(self) -> Iterator[tuple[Waiting[Cell], Result | IslandsError]]:
        while self._ended:
            run, found = self._ended.popleft()
            made = self._result_or_error(run, found)
            paused = time.perf_counter()
            yield run.waiting, made
            # What the caller does meanwhile takes no time of a run.
            self._away += time.perf_counter() - paused

    def _result_or_error(
        self, run: _Run[Cell], found: _Search | IslandsError
    ) -> Result | IslandsError:
        if isinstance(found, IslandsError):
            return found
        try:
            with run.waiting.problem.evaluation.prepared(1, self._backend.name):
                return self._result(run, found)
        except IslandsError as error:
            return error

    def _result(self, run: _Run[Cell], search: _Search) -> Result:
        progress, reason, found = search
        waiting, meaning = run.waiting, self._meaning
        best: Candidate | None = None
        problem, encoding = waiting.problem, waiting.parts.encoding
        for each in meaning.elite(found.cost, found.island, 1, any_solution=True):
            rows = found.archive if each.slot is None else found.genes[:, each.slot]
            best = each.decoded(problem, encoding, rows[each.island])
        violation = check_exactly(problem, best, progress.cost)
        digests = [*enumerate(map(meaning.digest, found.genes, found.cost))]
        outcome = Outcome(progress, reason, Moment(progress.generation, progress.seconds, None))
        return made_result(
            *(waiting.resolved, self._machine, outcome, best, violation, combined(digests)),
            reproducible=True,
            folder=None,
            records=VisitRecords(self._spec, problem, meaning, run.visits, run.began),
        )


class VisitRecords:
    """The records of a run that shared launches, made when they are asked for.

    Its settings are those of the first run there: records depend on what all have. The run
    `began` at a time of a clock that all runs with the same launches share.
    """

    def __init__(
        self,
        spec: RunSpec,
        problem: Problem,
        meaning: Meaning,
        visits: Sequence[Visit],
        began: float,
    ) -> None:
        self.began = began
        self._spec, self._meaning, self._visits = spec, meaning, visits
        self._problem: Problem | Callable[[], Problem] | None = problem

    def leave_problem(self) -> None:
        """Leave out the problem, which takes most of the time to send; `take_problem` follows."""
        self._problem = None

    def take_problem(self, made: Callable[[], Problem]) -> None:
        """Take a function that makes the problem when it is asked for."""
        if self._problem is None:
            self._problem = made

    @property
    def problem(self) -> Problem:
        """The problem, with the settings of the run."""
        assert self._problem is not None, "it has been left out"
        if not isinstance(self._problem, Problem):
            self._problem = self._problem().adjusted(self._spec.problem)
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent or stored, with a problem that was to be made later."""
        return vars(self) | {"_problem": self._problem and self.problem}

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `trace` or `migrations`."""
        return self._kept.table(name)

    def present(self) -> float | None:
        """Return the best cost of the last generation; None if it may be infeasible."""
        costs = [each.present for each in self._measures(self._visits[-1][2])]
        known = [each for each in costs if each is not None]
        return self.problem.scale.own_sense(min(known)) if known else None

    def _measures(self, content: bytes) -> list[IslandMeasure]:
        rows = np.frombuffer(content, np.int64).reshape(-1, len(MEASURE)).tolist()
        return self._meaning.measures(range(len(rows)), rows, self.problem.instance)

    @cached_property
    def _kept(self) -> Any:
        records, before = MemoryRecords(Resolved(self._spec, self.problem), World()), None
        for generation, seconds, content, landing in self._visits:
            measures = self._measures(content)
            tally, population = Tally.of(measures), self._spec.mean_population
            before = summarise(tally, generation, seconds, population, self.problem, before)
            records.epoch(Epoch(measures, landing and landing.arrivals(), before))
        return records.of_all_ranks()
