"""A queue of runs: similar ones share launches, the others run alone.

The threads of a GPU, each with a stream, share a queue. Each takes a different kind of run, so
that the device stays busy even if there are few runs of a kind.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Event, Lock, get_ident
from typing import Any, Generic

from islands.backends.base import Backend
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell, Plan, Ready
from islands.engine.preparing import Preparing
from islands.engine.shared import SharedLoop
from islands.engine.sharing import SharingRun, places_for
from islands.errors import IslandsError
from islands.instances.lines import reading_until


class Queue(Generic[Cell]):
    """Performs the runs of a plan in an order that lets many share launches."""

    def __init__(
        self,
        plan: Plan[Cell],
        cells: Iterator[Cell | None],
        device: Backend,
        is_over: Callable[[], bool] = lambda: False,
        *,
        threads: int = 1,
        places: int | None = None,
    ) -> None:
        """Read `cells` on demand; they yield None while the next one is not known yet.

        When `is_over` is true, runs in progress end without a result. `threads` is the number of
        threads that call `results`, each with a stream of the device. `places` is the number of
        runs that share launches; by default, as many as fill the device.
        """
        self._plan, self._cells, self._is_over = plan, cells, is_over
        self._preparing = Preparing(plan, device)
        self._threads = threads
        self._places_for = partial(places_for, threads=threads, wanted=places)
        self._reading, self._lock = Lock(), Lock()
        """Held by the thread that reads cells, and by one that changes the waiting runs."""
        self._turn = Lock()
        """Held by the thread that performs a single run. Such a run may need the whole device, and
        call user code that is not thread-safe."""
        self._has_news = Event()
        """Set when a kind waits for a thread, and when nothing is left to do."""
        self._waiting: dict[Hashable, deque[SharingRun[Cell]]] = {}
        self._alone: deque[Ready[Cell]] = deque()
        self._failed: deque[tuple[Cell, IslandsError]] = deque()
        self._count = self._bytes = 0
        """The number of waiting runs, and the bytes of their arrays."""
        self._ahead = 1
        """The target number of waiting runs."""
        self._is_at_end = self._is_short = False
        """Whether all cells have been read, and whether fewer runs wait than the target."""
        self._in_progress = set[Hashable]()
        """The kinds that threads perform now."""
        self._began: dict[int, float] = {}
        """The time at which each of these threads began its kind."""
        self._alone_kinds = set[Hashable]()
        """The kinds whose runs are performed individually."""

    def results(self, backend: Backend) -> Iterator[tuple[Cell, Any]]:
        """Yield each cell with its value (see `Plan.value_of`), or with its error."""
        # Use a copy of the context, as `trusted` and `reading_until` must not affect the caller.
        context, steps = copy_context(), self._results(backend)
        try:
            while (result := context.run(next, steps, None)) is not None:
                yield result
        finally:
            context.run(steps.close)
            self._has_news.set()

    def _results(self, backend: Backend) -> Generator[tuple[Cell, Any], None, None]:
        pause = LIMITS.look_seconds
        with self._plan.trusted(), reading_until(self._is_over):
            while not self._is_over():
                self._has_news.clear()
                yield from self._failures()
                if self._alone and not self._turn.locked():
                    yield from self._perform_alone(backend)
                elif (kind := self._next_kind(backend)) is not None:
                    try:
                        yield from self._perform_kind(kind, backend)
                    finally:
                        self._in_progress.discard(kind)
                        self._began.pop(get_ident(), None)
                elif self._is_done():
                    break
                elif not (self._alone or self._failed) or self._turn.locked():
                    is_news = self._has_news.wait(pause)
                    with self._lock:
                        is_work = is_news or self._free_kind() is not None or not self._began
                    pause = (
                        LIMITS.look_seconds if is_work else min(2 * pause, LIMITS.most_look_seconds)
                    )

    def _is_done(self) -> bool:
        is_left = self._waiting or self._alone or self._failed
        return self._is_at_end and not (is_left or self._began or self._turn.locked())

    def _is_worth_another_thread(self) -> bool:
        """Return whether each kind in progress began long enough ago."""
        now = time.monotonic()
        return all(now - began > LIMITS.long_seconds for began in [*self._began.values()])

    def _next_kind(self, backend: Backend) -> Hashable | None:
        """Return a kind for this thread to perform, or None.

        If it is None, a run may have been queued to be performed individually.
        """
        if not self._is_worth_another_thread():
            return None
        if not self._reading.acquire(timeout=LIMITS.reading_seconds):
            return self._claim()  # another thread reads slowly: take a run that waits
        try:
            if not self._is_worth_another_thread():
                return None
            self._read_ahead(backend)
            return self._claim()
        finally:
            self._reading.release()

    def _claim(self) -> Hashable | None:
        """Claim the kind with the most waiting runs for this thread, and return it.

        Return None if these are too few to share launches; unless more may come, also queue one of
        them to be performed individually.
        """
        with self._lock:
            kind = self._free_kind()
            if kind is None:
                return None
            is_alone = kind in self._alone_kinds
            if is_alone or len(self._waiting[kind]) < self._least_to_share(kind):
                if is_alone or self._is_short or self._count >= self._ahead:
                    self._queue_alone(self._pop(kind))
                return None
            self._in_progress.add(kind)
            self._began[get_ident()] = time.monotonic()
            return kind

    def _least_to_share(self, kind: Hashable) -> int:
        """Return the minimum number of waiting runs of a kind to share launches."""
        if self._plan.repeats:
            return 1
        has_few_items = self._waiting[kind][0].problem.size <= LIMITS.few_items
        return LIMITS.fewest_of_few_items if self._threads > 1 and has_few_items else LIMITS.fewest

    def _queue_alone(self, ready: Ready[Cell]) -> None:
        self._alone.append(ready)
        self._has_news.set()

    def _read_ahead(self, backend: Backend) -> None:
        """Read enough runs to fill a launch, and more if several threads perform many kinds."""
        deadline = time.monotonic() + LIMITS.reading_seconds
        while time.monotonic() < deadline:
            count = self._ahead
            if self._began or self._turn.locked():  # reading slows down other threads
                count = min(count, self._count + LIMITS.ahead_while_others_work)
            self._read(count, deadline)
            with self._lock:
                kind, kinds = self._free_kind(), len(self._waiting)
                if kind is None:
                    return
                first = self._waiting[kind][0]
            ahead = 2 * self._places_for(first, backend)
            if self._threads > 1:
                ahead = max(ahead, min(LIMITS.most_ahead, ahead * kinds))
            if ahead <= self._ahead:
                return
            self._ahead = ahead

    def _free_kind(self) -> Hashable | None:
        """Return the kind with the most waiting runs among those that no thread performs."""
        free = [kind for kind in self._waiting if kind not in self._in_progress]
        return max(free, key=lambda kind: len(self._waiting[kind]), default=None)

    def _perform_kind(self, kind: Hashable, backend: Backend) -> Iterator[tuple[Cell, Any]]:
        """Yield the results of runs of a kind, which share launches, and of others meanwhile."""
        waiting = self._waiting[kind]
        most = self._places_for(waiting[0], backend)
        places = min(len(waiting), most)
        try:
            shared = SharedLoop(waiting[0], places, backend)
        except IslandsError:
            self._alone_kinds.add(kind)  # each run then has a result or an error of its own
            return
        next_of_kind = partial(self._next_run, shared, may_grow=places < most)
        try:
            for ready, result in shared.solve(next_of_kind, self._is_over):
                if shared.is_slow:
                    self._alone_kinds.add(kind)
                if result is None:
                    self._queue_alone(ready)
                elif isinstance(result, IslandsError):
                    yield ready.cell, result
                else:
                    yield ready.cell, self._plan.value_of(ready, result)
                if self._failed:
                    yield from self._failures()
                performs_alone = self._threads == 1 and not shared.is_slow
                while performs_alone and self._alone and not self._is_over():
                    yield from self._perform_alone(backend)
        finally:
            backend.synchronise()  # another thread may get the memory

    def _next_run(self, shared: SharedLoop[Cell], *, may_grow: bool) -> SharingRun[Cell] | None:
        """Return the next run of a kind; None if none is among the next cells.

        Also None if it `may_grow` and far more runs wait than there are places: the kind then
        restarts with more.
        """
        kind = shared.kind
        # Other threads can read while this one keeps the device busy.
        deadline = time.monotonic() + (
            LIMITS.reading_seconds if self._threads == 1 else LIMITS.look_seconds
        )
        while True:
            while kind not in self._waiting:
                if time.monotonic() > deadline or not self._read_one():
                    return None
            if may_grow and len(self._waiting[kind]) > LIMITS.grown * shared.places:
                return None
            with self._lock:
                run = self._pop(kind)
            if shared.fits(run):
                return run
            self._queue_alone(run)

    def _pop(self, kind: Hashable) -> SharingRun[Cell]:
        """Remove and return the first run of a kind; the caller holds the lock."""
        waiting = self._waiting[kind]
        run = waiting.popleft()
        self._count -= 1
        self._bytes -= run.bytes
        if not waiting:
            del self._waiting[kind]
        return run

    def _read_one(self) -> bool:
        """Read a cell unless many runs wait or another thread reads; return whether it was read."""
        if not self._reading.acquire(blocking=False):
            return False
        try:
            return self._read(self._ahead, math.inf, once=True)
        finally:
            self._reading.release()

    def _read(self, count: int, deadline: float, *, once: bool = False) -> bool:
        """Read cells until `count` runs wait, or only one (`once`); return whether any was read.

        After the `deadline`, at most one is read; none is read if the queue is full.
        """
        has_read, self._is_short = False, True
        while not self._is_full():
            if self._count >= count or (once and has_read):
                self._is_short = False
                break
            if has_read and time.monotonic() > deadline:
                break
            try:
                cell = next(self._cells)
            except StopIteration:
                self._is_at_end = True
                break
            if cell is None:
                break
            has_read = True
            self._prepare(cell)
        return has_read

    def _prepare(self, cell: Cell) -> None:
        """Prepare a run and queue it with its kind, for individual execution, or with its error."""
        try:
            ready = self._preparing.ready(cell)
        except IslandsError as error:
            if not self._is_over():  # otherwise, reading its file may have been cut short
                self._failed.append((cell, error))
                self._has_news.set()
            return
        if not isinstance(ready, SharingRun):
            self._queue_alone(ready)
            return
        with self._lock:
            waiting = self._waiting.setdefault(ready.kind, deque())
            waiting.append(ready)
            is_new = len(waiting) == 1
            self._count += 1
            self._bytes += ready.bytes
        if is_new and ready.kind not in self._in_progress:
            self._has_news.set()

    def _is_full(self) -> bool:
        """Return whether runs take too much memory, or enough wait for individual execution."""
        is_large = self._bytes > LIMITS.most_bytes and self._count > 0
        # A single thread performs these runs itself; several threads also need others.
        least = 0 if self._threads == 1 else LIMITS.ahead_while_others_work
        return is_large or len(self._alone) + len(self._failed) >= max(self._ahead, least)

    def _failures(self) -> Iterator[tuple[Cell, Any]]:
        with suppress(IndexError):  # another thread may take the last one
            while self._failed:
                yield self._failed.popleft()

    def _perform_alone(self, backend: Backend) -> list[tuple[Cell, Any]]:
        """Perform a single run and return its result; none if another thread performs one."""
        if not self._turn.acquire(blocking=False):
            return []
        try:
            if not self._alone:
                return []
            ready = self._alone.popleft()
            try:
                result = self._plan.alone(ready, backend, self._is_over)
                if self._is_over() and (result.interrupted or result.suspended):
                    return []  # it is incomplete
                return [(ready.cell, self._plan.value_of(ready, result))]
            except IslandsError as error:
                return [] if self._is_over() else [(ready.cell, error)]
            finally:
                backend.synchronise()
        finally:
            self._turn.release()
