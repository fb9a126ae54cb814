"""Many runs that share launches; each result is bit-identical to that of a separate run.

`SharedRuns` has a number of places for runs of the same kind. When a run is over, the next one
takes its place.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import MEASURE, Candidate, Interpreter, IslandMeasure
from islands.archipelago.shared import FinalIslands, SharedRuns, parts_for
from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.configuration.stop import first_reason, is_spent, time_limit
from islands.engine.budget import Budget, colonies_of
from islands.engine.halting import HaltedError, Watch
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell
from islands.engine.sharing import SharingRun, Visit, with_arrays
from islands.engine.single import build_result, check_exactly, combined
from islands.errors import IslandsError
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

NextRun = Callable[[], SharingRun[Cell] | None]
"""Returns the next run of a kind, or None if none is available now."""


class _Search(NamedTuple):
    """The completed search of a run."""

    progress: Progress
    reason: str
    islands: FinalIslands


Ended: TypeAlias = tuple[SharingRun[Cell], Result | IslandsError]
"""A run with its result, or with its error."""


class SharedLoop(Generic[Cell]):
    """Performs runs of one kind that share launches."""

    def __init__(self, first: SharingRun[Cell], places: int, backend: Backend) -> None:
        """Compile the program for runs like the first one, with `places` at a time."""
        self._spec, self._backend = first.spec, backend
        [colony] = colonies_of(first.resolved)
        self._parts = parts_for(colony, first.problem, places, backend)
        before = backend.compile_seconds
        self._runs = SharedRuns(
            *(colony.islands, self._parts, with_arrays([first])[0], places, backend),
            migration=first.spec.migration if first.spec.migrates else None,
        )
        self.kind, self.places = first.kind, places
        self._ready: deque[SharingRun[Cell]] = deque()
        self._is_new = True
        self._fitting = first.parts.algorithm
        """The algorithm of the last run that `fits`."""
        self._visits, self._limit = first.spec.visits, time_limit(first.spec.stop)
        self._budget, self._population = Budget(first.resolved), first.spec.mean_population
        self._at: dict[int, SharingRun[Cell]] = {}
        """The runs by place; `_problems` are their problems."""
        self._problems: dict[int, Problem] = {}
        # One entry for the run at each place.
        self._seeds = [0] * places
        self._began = np.zeros(places)
        self._generations, self._evaluations = np.zeros((2, places), np.int64)
        self._is_active, self._is_idle, self._is_stalled = np.zeros((3, places), np.bool_)
        self._interpreter = Interpreter(first.problem, self._parts.encoding, colony.population)
        self._ended = deque[tuple[SharingRun[Cell], _Search | IslandsError]]()
        """Completed searches, and runs that an error has ended."""
        self._max_overshoot = max(LIMITS.least_overshoot, LIMITS.overshoot * self._limit)
        # The time of user code is unknown.
        most = 0.0 if self._parts.evaluates_user_code else self._max_overshoot
        self._watch = Watch(self._runs.halt, max(LIMITS.longest_launch, most))
        self._caller_seconds = 0.0
        """Seconds spent by the caller between results."""
        self.is_slow = False
        """Whether launches take too long; runs of the kind then need their own launches."""
        self._machine = Machine(
            *(1, backend.name, backend.device, backend.reason, "none"),
            *(backend.compile_seconds - before, backend.compiling.was_needed),
        )

    def fits(self, run: SharingRun[Cell]) -> bool:
        """Return whether a run of the same kind fits the compiled kernels."""
        # Problems with equal launch keys share the algorithm, and all numbers that must be equal.
        if run.parts.algorithm is not self._fitting and self._runs.fits(run.parts):
            self._fitting = run.parts.algorithm
        return run.parts.algorithm is self._fitting

    def solve(
        self, next_run: NextRun[Cell], must_end: Callable[[], bool]
    ) -> Iterator[Ended[Cell] | tuple[SharingRun[Cell], None]]:
        """Perform the runs that `next_run` returns, until all are over and it returns None.

        Yield each run with its result or error, or with None if it needs its own launches because
        shared ones take too long. When `must_end` is true, only the results so far are yielded.
        """
        with self._watch.until(must_end):
            try:
                yield from self._perform(next_run, must_end)
            except HaltedError:
                self.is_slow = True
            yield from self._results()
        if self.is_slow and not must_end():
            for run in (*self._at.values(), *self._ready):
                yield run, None

    def _perform(
        self, next_run: NextRun[Cell], must_end: Callable[[], bool]
    ) -> Iterator[Ended[Cell]]:
        while not must_end():
            count = len(self._ended)
            begun: list[int] | None = None
            while begun != [] and not (len(self._at) == self.places or must_end()):
                begun = self._begin(next_run)
                if begun:
                    yield from self._results()  # while the device works
                    self._inspect(begun=begun)
            step = self._advance() if self._at else 0
            yield from self._results()
            if step:
                # While a GPU works, create the arrays of about as many runs as will begin next.
                if not self._backend.in_host_memory:
                    self._ready += islice(iter(next_run, None), max(0, count - len(self._ready)))
                with_arrays(self._ready)
                self._inspect(step)
            elif begun == []:
                return

    def _now(self) -> float:
        return time.perf_counter() - self._caller_seconds

    def _advance(self) -> int:
        """Advance all runs, but none beyond its next visit; return the number of generations."""
        self._launched_at = self._now()
        resting = np.flatnonzero(~(self._is_active | self._is_idle) & (self._generations > 0))
        if resting.size:
            self._runs.rest(resting.tolist())
            self._is_idle[resting] = True
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
        """Return the limit of evaluations of a run in the next generation; None if unlimited."""
        # As in `Loop`, if a generation skips all remaining evaluations, the next has no limit.
        if self._is_stalled[place] or not self._is_active[place]:
            return None
        return self._budget.left(int(self._evaluations[place]))

    def _migrations(self) -> list[int]:
        """Return the number of the current migration of each run, or 0 without one."""
        interval = self._visits.migration_interval
        if interval is None:
            return []
        numbers, rest = np.divmod(self._generations, interval)
        return [*map(int, np.where(self._is_active & (rest == 0), numbers, 0))]

    def _begin(self, next_run: NextRun[Cell]) -> list[int]:
        """Begin the available runs in free places, and return these places."""

        def ready_or_next() -> SharingRun[Cell] | None:
            return self._ready.popleft() if self._ready else next_run()

        free: list[int] = np.flatnonzero(~self._is_active).tolist()
        begun = [*islice(iter(ready_or_next, None), len(free))]
        chosen = free[: len(begun)]
        if chosen:
            self._generations[chosen] = self._evaluations[chosen] = 0
            self._is_active[chosen], self._is_idle[chosen] = True, False
            self._is_stalled[chosen] = False
            # Kernels advance all places: a place without a run needs a valid instance.
            idle = free[len(chosen) :] if self._is_new else []
            instances = with_arrays(begun)
            instances += [instances[0]] * len(idle)
            self._began[chosen] = now = self._now()
            for place, run in zip(chosen, begun, strict=True):
                self._at[place], self._problems[place], run.began = run, run.problem, now
                self._seeds[place] = run.spec.general.seed
            seeds = [self._seeds[place] for place in chosen]
            with self._watch:
                self._runs.begin([*chosen, *idle], instances, [*seeds, *idle])
            self._is_new = False
        return chosen

    def _inspect(self, step: int = 0, begun: Sequence[int] = ()) -> None:
        """Measure all runs, and end those that are over.

        Without a `step`, only the runs at the places that have just `begun` are at a visit.
        """
        with self._watch:
            measured = self._runs.measured()
        if step > 0:
            seconds = self._now() - self._launched_at
            self._watch.launch_ended(step, seconds)
            if step == 1 and seconds > self._max_overshoot:
                raise HaltedError  # with their own launches, runs end in time
        faults, outcomes = self._runs.faults(), self._runs.migration_outcomes()
        times = self._now() - self._began
        if step > 0:
            is_visit = self._is_active & self._visits.include(self._generations)
        else:
            is_visit = np.zeros(self.places, np.bool_)
            is_visit[[*begun]] = True
        standings = Standings(self._interpreter, measured, self._problems, self._generations, times)
        is_over = self._are_over(is_visit, standings, has_advanced=step > 0)
        if faults is not None:
            is_over |= self._is_active & faults.any(axis=(1, 2))
        seen = np.flatnonzero(is_visit | is_over).tolist()
        content, size = measured.tobytes(), measured[0].nbytes
        for place, generation, second in zip(
            seen, self._generations[seen].tolist(), times[seen].tolist(), strict=True
        ):
            numbers = content[place * size : (place + 1) * size]
            migration = outcomes.get(place) if outcomes else None
            self._at[place].visits.append((generation, second, numbers, migration))
        self._end(np.flatnonzero(is_over).tolist(), measured, faults)

    def _are_over(
        self, is_visit: NDArray[np.bool_], standings: Standings, *, has_advanced: bool
    ) -> NDArray[np.bool_]:
        """Return which runs are over, by the same rules as in `Loop`."""
        stop, is_due = self._spec.stop, is_visit
        if has_advanced:
            is_due = is_visit | (self._is_active & (standings.seconds >= self._limit))
        is_over = np.zeros_like(is_due)
        if is_due.any():
            for criterion in stop:
                is_over |= is_due & criterion.met(standings)
        if self._budget.is_limited:
            if has_advanced:
                self._is_stalled = self._is_active & (standings.evaluations == self._evaluations)
            self._evaluations = standings.evaluations
            is_over |= self._is_active & is_spent(stop, standings)
        return is_over

    def _end(
        self,
        places: Sequence[int],
        measured: NDArray[np.int64],
        faults: NDArray[np.int64] | None,
    ) -> None:
        """Read the islands of runs that are over, and free their places."""
        ended = dict[int, tuple[Progress, str]]()
        for place in places:
            run, problem = self._at[place], self._problems[place]
            generation, seconds, *_ = run.visits[-1]
            try:
                if faults is not None:
                    problem.evaluation.reject_reported(faults[place])
                rows = measured[place].tolist()
                measures = self._interpreter.measures(range(len(rows)), rows, problem.instance)
            except IslandsError as error:
                self._ended.append((run, error))
                continue
            tally = Tally.of(measures)
            progress = summarise(tally, generation, seconds, self._population, problem)
            reason = first_reason(self._spec.stop, progress)
            assert reason is not None, "the arrays and the progress agree"
            ended[place] = progress, reason
        final = self._runs.final([*ended]) if ended else []
        for (place, search), islands in zip(ended.items(), final, strict=True):
            self._ended.append((self._at[place], _Search(*search, islands)))
        self._is_active[places] = False
        for place in places:
            del self._at[place], self._problems[place]

    def _results(self) -> Iterator[Ended[Cell]]:
        while self._ended:
            run, end = self._ended.popleft()
            result = self._result_or_error(run, end) if isinstance(end, _Search) else end
            paused = time.perf_counter()
            yield run, result
            # The caller's time does not count as time of a run.
            self._caller_seconds += time.perf_counter() - paused

    def _result_or_error(self, run: SharingRun[Cell], search: _Search) -> Result | IslandsError:
        try:
            with run.problem.evaluation.prepared(1, self._backend.name):
                return self._result(run, search)
        except IslandsError as error:
            return error

    def _result(self, run: SharingRun[Cell], search: _Search) -> Result:
        progress, reason, islands = search
        interpreter, problem, encoding = self._interpreter, run.problem, run.parts.encoding
        best: Candidate | None = None
        for elite in interpreter.elite(islands.cost, islands.island, 1, any_solution=True):
            rows = islands.archive if elite.slot is None else islands.genes[:, elite.slot]
            best = elite.decoded(problem, encoding, rows[elite.island])
        violation = check_exactly(problem, best, progress.cost)
        digests = [*enumerate(map(interpreter.digest, islands.genes, islands.cost))]
        outcome = Outcome(progress, reason, Moment(progress.generation, progress.seconds, None))
        return build_result(
            *(run.resolved, self._machine, outcome, best, violation, combined(digests)),
            reproducible=True,
            folder=None,
            records=VisitRecords(self._spec, problem, interpreter, run.visits, run.began),
        )


class VisitRecords:
    """The records of a run that shared launches, created when they are first read.

    `spec` contains the settings of the first run of the `SharedLoop`: records only depend on
    settings that all of its runs share. `began` is the start of the run, by the clock of that loop.
    """

    def __init__(
        self,
        spec: RunSpec,
        problem: Problem,
        interpreter: Interpreter,
        visits: Sequence[Visit],
        began: float,
    ) -> None:
        self.began = began
        self._spec, self._interpreter, self._visits = spec, interpreter, visits
        self._problem: Problem | Callable[[], Problem] | None = problem

    def drop_problem(self) -> None:
        """Omit the problem, which is slow to send, until `restore_problem` is called."""
        self._problem = None

    def restore_problem(self, create: Callable[[], Problem]) -> None:
        """If the problem was omitted, set the function that creates it when it is needed."""
        if self._problem is None:
            self._problem = create

    @property
    def problem(self) -> Problem:
        """The problem, with the settings of the run."""
        assert self._problem is not None, "it has been omitted"
        if not isinstance(self._problem, Problem):
            self._problem = self._problem().adjusted(self._spec.problem)
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with the problem unless it was omitted."""
        return vars(self) | {"_problem": self._problem and self.problem}

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `trace` or `migrations`."""
        return self._kept.table(name)

    def present(self) -> float | None:
        """Return the best cost of the last generation; None if it may be infeasible."""
        measures = self._measures(self._visits[-1][2])
        costs = [island.present for island in measures if island.present is not None]
        return self.problem.scale.user_costs(min(costs)) if costs else None

    def _measures(self, content: bytes) -> list[IslandMeasure]:
        rows = np.frombuffer(content, np.int64).reshape(-1, len(MEASURE)).tolist()
        return self._interpreter.measures(range(len(rows)), rows, self.problem.instance)

    @cached_property
    def _kept(self) -> Any:
        records, before = MemoryRecords(Resolved(self._spec, self.problem), World()), None
        for generation, seconds, content, migration in self._visits:
            measures = self._measures(content)
            tally, population = Tally.of(measures), self._spec.mean_population
            before = summarise(tally, generation, seconds, population, self.problem, before)
            records.epoch(Epoch(measures, migration and migration.arrivals(), before))
        return records.of_all_ranks()
