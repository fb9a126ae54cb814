"""A queue of runs: those of the same kind share launches, the others are made alone.

The threads of a GPU, which have a stream each, share a queue: each solves another kind, so that the
device is busy also if there are few instances of each.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from threading import Event, Lock, get_ident
from typing import Any, Generic, TypeVar

from islands.backends.base import Backend
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell, Plan, Ready
from islands.engine.preparing import Preparing
from islands.engine.shared import SharedLoop
from islands.engine.waiting import Waiting, places_for
from islands.errors import IslandsError
from islands.instances.lines import reading_until


class Queue(Generic[Cell]):
    """Makes the cells of a plan in an order that lets many share launches."""

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
        """Take cells when they are needed; one is None if none is known yet.

        When `is_over` is true, those in progress end without a result. `threads` is the number of
        threads that call `results`, with streams of the device, and `places` the number of runs
        that share launches; by default, as many as fill it.
        """
        self._plan, self._cells, self._is_over = plan, cells, is_over
        self._preparing = Preparing(plan, device)
        self._threads, self._places = threads, places
        self._reading, self._lock = Lock(), Lock()
        """Of the thread that reads instances, and of all that change those that wait."""
        self._turn = Lock()
        """Of the thread that solves instances alone: these may need the whole device, and call
        functions of a user, which need not be ready for several threads."""
        self._has_news = Event()
        """Set when a kind waits that no thread solves, and when nothing is left to do."""
        self._waiting: dict[Hashable, deque[Waiting[Cell]]] = {}
        self._others: deque[Ready[Cell]] = deque()
        self._failed: deque[tuple[Cell, IslandsError]] = deque()
        self._count = self._bytes = 0
        """The number of instances that wait, and what their arrays take."""
        self._ahead = 1
        self._is_at_end = self._is_short = False
        """Whether all have been read, and whether fewer wait now than were wanted."""
        self._in_progress = set[Hashable]()
        """The kinds that a thread solves."""
        self._began: dict[int, float] = {}
        """When each thread that solves a kind began it."""
        self._alone_kinds = set[Hashable]()
        """Those that are solved alone."""

    def results(self, backend: Backend) -> Iterator[tuple[Cell, Any]]:
        """Yield what the plan makes of the result of each cell, or the error that it caused."""
        nap = LIMITS.look_seconds
        try:
            with self._plan.trusted(), reading_until(self._is_over):
                while not self._is_over():
                    self._has_news.clear()
                    yield from self._failures()
                    if self._others and not self._turn.locked():
                        yield from self._of_others(backend)
                    elif (kind := self._begun(backend)) is not None:
                        try:
                            yield from self._of_kind(kind, backend)
                        finally:
                            self._in_progress.discard(kind)
                            self._began.pop(get_ident(), None)
                    elif self._is_done():
                        break
                    elif not (self._others or self._failed) or self._turn.locked():
                        is_news = self._has_news.wait(nap)
                        with self._lock:
                            waits = is_news or self._free_kind() is not None or not self._began
                        nap = (
                            LIMITS.look_seconds if waits else min(2 * nap, LIMITS.most_look_seconds)
                        )
        finally:
            self._has_news.set()

    def _is_done(self) -> bool:
        is_left = self._waiting or self._others or self._failed
        return self._is_at_end and not (is_left or self._began or self._turn.locked())

    def _is_worth_another_thread(self) -> bool:
        """Return whether no thread has begun a kind just now."""
        now = time.monotonic()
        return all(now - began > LIMITS.long_seconds for began in [*self._began.values()])

    def _begun(self, backend: Backend) -> Hashable | None:
        """Return a kind that is this thread's now; None if there is none.

        An instance that is to be solved alone is among the others then.
        """
        if not self._is_worth_another_thread():
            return None
        if not self._reading.acquire(timeout=LIMITS.reading_seconds):
            return self._claimed()  # instances come slowly
        try:
            if not self._is_worth_another_thread():
                return None
            self._read_ahead(backend)
            return self._claimed()
        finally:
            self._reading.release()

    def _claimed(self) -> Hashable | None:
        """Let the kind of most instances be this thread's, and return it.

        If they are too few to share launches, one is among the others then, unless more may come.
        """
        with self._lock:
            kind = self._free_kind()
            if kind is None:
                return None
            is_alone = kind in self._alone_kinds
            if is_alone or len(self._waiting[kind]) < self._fewest(kind):
                if is_alone or self._is_short or self._count >= self._ahead:
                    self._leave(self._taken(kind))
                return None
            self._in_progress.add(kind)
            self._began[get_ident()] = time.monotonic()
            return kind

    def _fewest(self, kind: Hashable) -> int:
        """Return how many instances of a kind share launches."""
        if self._plan.repeats:
            return 1
        has_few_items = self._waiting[kind][0].problem.size <= LIMITS.few_items
        return LIMITS.fewest_of_few_items if self._threads > 1 and has_few_items else LIMITS.fewest

    def _leave(self, ready: Ready[Cell]) -> None:
        """Let an instance be solved alone."""
        self._others.append(ready)
        self._has_news.set()

    def _read_ahead(self, backend: Backend) -> None:
        """Read what may begin together, and more if several threads solve many kinds."""
        end = time.monotonic() + LIMITS.reading_seconds
        while time.monotonic() < end:
            # Reading disturbs those that work.
            others_work = self._began or self._turn.locked()
            self._read(
                min(self._ahead, self._count + LIMITS.ahead_while_others_work)
                if others_work
                else self._ahead,
                end,
            )
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

    def _places_for(self, first: Waiting[Cell], backend: Backend) -> int:
        return places_for(first, backend, self._threads, self._places)

    def _free_kind(self) -> Hashable | None:
        """Return the kind of most instances that wait, among those that no thread solves."""
        free = [kind for kind in self._waiting if kind not in self._in_progress]
        return max(free, key=lambda kind: len(self._waiting[kind]), default=None)

    def _of_kind(self, kind: Hashable, backend: Backend) -> Iterator[tuple[Cell, Any]]:
        """Yield the results of the instances of a kind that share launches, and of others."""
        waiting = self._waiting[kind]
        most = self._places_for(waiting[0], backend)
        places = min(len(waiting), most)
        try:
            shared = SharedLoop(waiting[0], places, backend)
        except IslandsError:
            self._alone_kinds.add(kind)  # each has its own result, or its own error
            return
        next_of_kind = partial(self._next, shared, may_grow=places < most)
        try:
            for ready, result in shared.solve(next_of_kind, self._is_over):
                if shared.is_slow:
                    self._alone_kinds.add(kind)
                if result is None:
                    self._leave(ready)
                elif isinstance(result, IslandsError):
                    yield ready.cell, result
                else:
                    yield ready.cell, self._plan.made(ready, result)
                if self._failed:
                    yield from self._failures()
                solves_others = self._threads == 1 and not shared.is_slow
                while solves_others and self._others and not self._is_over():
                    yield from self._of_others(backend)
        finally:
            backend.synchronise()  # another thread may get the memory

    def _next(self, shared: SharedLoop[Cell], *, may_grow: bool) -> Waiting[Cell] | None:
        """Return the next instance of a kind; None if there is none among the next ones.

        Also None if far more wait than there are places, and it `may_grow`: then the kind begins
        again with more.
        """
        kind = shared.kind
        # Others can read while this thread keeps the device busy.
        end = time.monotonic() + (
            LIMITS.reading_seconds if self._threads == 1 else LIMITS.look_seconds
        )
        while True:
            while kind not in self._waiting:
                if time.monotonic() > end or not self._read_one():
                    return None
            if may_grow and len(self._waiting[kind]) > LIMITS.grown * shared.places:
                return None
            taken = self._take(kind)
            if shared.fits(taken):
                return taken
            self._leave(taken)

    def _read_one(self) -> bool:
        """Read one instance, unless many wait already or another thread reads; return whether."""
        if not self._reading.acquire(blocking=False):
            return False
        try:
            return self._read(self._ahead, math.inf, once=True)
        finally:
            self._reading.release()

    def _take(self, kind: Hashable) -> Waiting[Cell]:
        with self._lock:
            return self._taken(kind)

    def _taken(self, kind: Hashable) -> Waiting[Cell]:
        waiting = self._waiting[kind]
        taken = waiting.popleft()
        self._count -= 1
        self._bytes -= taken.bytes
        if not waiting:
            del self._waiting[kind]
        return taken

    def _read(self, count: int, end: float, *, once: bool = False) -> bool:
        """Read until `count` instances wait, or only one; return whether any was read.

        Read at most one after the time `end`, and none if too many or too large ones wait.
        """
        has_read, self._is_short = False, True
        while not self._is_full():
            if self._count >= count or (once and has_read):
                self._is_short = False
                break
            if has_read and time.monotonic() > end:
                break
            try:
                cell = next(self._cells)
            except StopIteration:
                self._is_at_end = True
                break
            if cell is None:
                break
            has_read = True
            self._sort(cell)
        return has_read

    def _sort(self, cell: Cell) -> None:
        """Prepare a cell, and put it where it waits."""
        try:
            ready = self._preparing.ready(cell)
        except IslandsError as error:
            if not self._is_over():  # otherwise, it may not have been read
                self._failed.append((cell, error))
                self._has_news.set()
            return
        if not isinstance(ready, Waiting):
            self._leave(ready)
            return
        with self._lock:
            waiting = self._waiting.get(ready.kind)
            if waiting is None:
                self._waiting[ready.kind] = deque([ready])
            else:
                waiting.append(ready)
            self._count += 1
            self._bytes += ready.bytes
        if waiting is None and ready.kind not in self._in_progress:
            self._has_news.set()

    def _is_full(self) -> bool:
        """Return whether enough instances are left, or too large ones wait."""
        is_large = self._bytes > LIMITS.most_bytes and self._count > 0
        # One thread solves those that are left, the others need instances of kinds.
        most = (
            self._ahead if self._threads == 1 else max(self._ahead, LIMITS.ahead_while_others_work)
        )
        return is_large or len(self._others) + len(self._failed) >= most

    def _failures(self) -> Iterator[tuple[Cell, Any]]:
        while failed := _popped(self._failed):
            yield failed

    def _of_others(self, backend: Backend) -> Iterator[tuple[Cell, Any]]:
        """Yield the result of one that is solved alone, if it is this thread's turn."""
        if (made := self._made_alone(backend)) is not None:
            yield made

    def _made_alone(self, backend: Backend) -> tuple[Cell, Any] | None:
        """Return the result of one that is solved alone; None if it is not this thread's turn."""
        if not self._turn.acquire(blocking=False):
            return None
        try:
            if (ready := _popped(self._others)) is None:
                return None
            try:
                result = self._plan.alone(ready, backend, self._is_over)
                if self._is_over() and (result.interrupted or result.suspended):
                    return None  # it has not come to its end
                return ready.cell, self._plan.made(ready, result)
            except IslandsError as error:
                return None if self._is_over() else (ready.cell, error)
            finally:
                backend.synchronise()
        finally:
            self._turn.release()


Entry = TypeVar("Entry")


def _popped(entries: deque[Entry]) -> Entry | None:
    """Pop the first entry, or None."""
    try:
        return entries.popleft()
    except IndexError:
        return None  # perhaps another thread has it
