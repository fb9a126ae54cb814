"""A queue of instances: those of the same kind share launches, the others are solved alone.

The threads of a GPU, which have a stream each, share a queue: each solves another kind, so that the
device is busy also if there are few instances of each.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from threading import Event, Lock, get_ident
from typing import Generic, TypeVar

from islands.backends.base import Backend
from islands.errors import IslandsError
from islands.progress.result import Result
from islands.run.shared import Sharing
from islands.run.waiting import MOST_PLACES, Waiting, places_for

Key = TypeVar("Key")
_FEWEST = 2
"""Instances of a kind for which places are worth their memory."""
_MOST_AHEAD = 2 * MOST_PLACES
"""Instances that wait if there are many kinds, so that there are some of each."""
_MANY_LEFT = 8
"""Instances of a kind that were left, more than were solved, from which on the others are solved
alone."""
_LOOK_SECONDS, _MOST_LOOK_SECONDS = 0.02, 0.16
"""Seconds between two looks whether another instance is known, at first and if there is none for
long: a thread that looks takes time of those that work."""
_LONG_SECONDS = 0.1
"""How long a kind takes before another thread begins a second one: the preparation of small ones in
Python takes longer than the device, and threads would only wait for each other."""
_LOOK_AHEAD = 32
"""Instances that a thread reads at each look, if there is none for it among those that wait."""
_GROWN = 2
"""From how many instances for a place on a kind begins again with more places."""
_READ_SECONDS = 0.5
"""How long instances are read before the first ones begin, if several of a kind are known."""


class Queue(Generic[Key]):
    """Solves instances in an order that lets many share launches; for one thread or several."""

    def __init__(
        self,
        keys: Iterator[Key | None],
        prepare: Callable[[Key], Waiting[Key] | None],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take instances by their keys, when they are needed; a key is None if none is known yet.

        `prepare` returns None for an instance that cannot share launches; one thread at a time
        calls it. When `is_over` is true, those in progress end without a result.
        """
        self._keys, self._prepare, self._is_over = keys, prepare, is_over
        self._reading, self._lock = Lock(), Lock()
        """Of the thread that reads instances, and of all that change those that wait."""
        self._has_ended = Event()
        """Set when a thread has nothing to do any more, so that the others look at once."""
        self._waiting: dict[Hashable, deque[Waiting[Key]]] = {}
        self._others: deque[Key] = deque()
        self._failed: deque[tuple[Key, IslandsError]] = deque()
        self._ahead = 1
        self._is_at_end = False
        self._in_progress = set[Hashable]()
        """The kinds that a thread solves."""
        self._began: dict[int, float] = {}
        """When each thread that works began its kind, or its instance if that is solved alone."""
        self._alone_kinds = set[Hashable]()
        """Those that are solved alone."""

    def results(
        self, backend: Backend, alone: Callable[[Key], Result]
    ) -> Iterator[tuple[Key, Result | IslandsError]]:
        """Yield the result of each instance that this thread solves, or the error that it caused.

        `alone` solves an instance that cannot share launches.
        """
        nap = _LOOK_SECONDS
        while not self._is_over():
            kind, has_others = self._begun(backend), self._others or self._failed
            if kind is not None or (has_others and self._is_worth_another_thread()):
                nap = _LOOK_SECONDS
                try:
                    if kind is not None:
                        yield from self._of_kind(kind, backend, alone)
                    yield from self._of_others(backend, alone)
                finally:
                    self._in_progress.discard(kind)
                    self._began.pop(get_ident(), None)
            elif self._is_at_end and not (self._waiting or has_others):
                break
            else:
                self._has_ended.wait(nap)
                nap = min(2 * nap, _MOST_LOOK_SECONDS) if self._began else _LOOK_SECONDS
        self._has_ended.set()

    def _is_worth_another_thread(self) -> bool:
        """Return whether all threads that work have worked for long on the same."""
        now = time.monotonic()
        return all(now - began > _LONG_SECONDS for began in [*self._began.values()])

    def _begun(self, backend: Backend) -> Hashable | None:
        """Return a kind that is this thread's now; None if there is none.

        An instance that is to be solved alone is among the others then.
        """
        with self._reading:
            if not self._is_worth_another_thread():
                return None
            is_first = not self._in_progress
            self._read(self._ahead if is_first else min(self._ahead, self._count() + _LOOK_AHEAD))
            kind = self._most_frequent()
            if kind is None:
                return None
            if kind not in self._alone_kinds:
                self._read_more(self._waiting[kind][0], backend)
                kind = self._most_frequent()
                if kind not in self._alone_kinds and len(self._waiting[kind]) >= _FEWEST:
                    self._in_progress.add(kind)
                    self._began[get_ident()] = time.monotonic()
                    return kind
            self._others.append(self._take(kind).key)
            return None

    def _read_more(self, first: Waiting[Key], backend: Backend) -> None:
        """Read what may begin together with an instance, and more if there are many kinds."""
        ahead = 2 * places_for(first, backend)
        self._ahead = max(self._ahead, ahead, min(_MOST_AHEAD, ahead * len(self._waiting)))
        self._read(self._ahead)

    def _most_frequent(self) -> Hashable | None:
        """Return the kind of most instances that wait, among those that no thread solves."""
        with self._lock:
            free = [kind for kind in self._waiting if kind not in self._in_progress]
            return max(free, key=lambda kind: len(self._waiting[kind]), default=None)

    def _of_kind(
        self, kind: Hashable, backend: Backend, alone: Callable[[Key], Result]
    ) -> Iterator[tuple[Key, Result | IslandsError]]:
        """Yield the results of the instances of a kind that share launches, and of others."""
        waiting = self._waiting[kind]
        sharing = Sharing(waiting[0], len(waiting), backend)
        surplus = 0
        try:
            for key, result in sharing.solve(partial(self._next, sharing), self._is_over):
                surplus += 1 if result is None else -1
                if sharing.is_slow or surplus > _MANY_LEFT:
                    self._alone_kinds.add(kind)
                if result is None:
                    self._others.append(key)
                else:
                    yield key, result
                if not sharing.is_slow:
                    yield from self._of_others(backend, alone)
        finally:
            backend.synchronise()  # another thread may get the memory

    def _next(self, sharing: Sharing[Key]) -> Waiting[Key] | None:
        """Return the next instance of a kind; None if there is none among the next ones.

        Also None if far more wait than there are places: then the kind begins again with more.
        """
        kind = sharing.kind
        while kind not in self._alone_kinds:
            while kind not in self._waiting:
                if not self._read_one():
                    return None
            if len(self._waiting[kind]) > _GROWN * sharing.places and sharing.may_grow:
                return None
            taken = self._take(kind)
            if sharing.fits(taken):
                return taken
            self._others.append(taken.key)
        return None

    def _read_one(self) -> bool:
        """Read one instance, unless many wait already or another thread reads; return whether."""
        if len(self._others) + len(self._failed) >= self._ahead:
            return False
        if not self._reading.acquire(timeout=_LOOK_SECONDS):
            return False
        try:
            return self._read(self._ahead, once=True)
        finally:
            self._reading.release()

    def _take(self, kind: Hashable) -> Waiting[Key]:
        with self._lock:
            taken = self._waiting[kind].popleft()
            if not self._waiting[kind]:
                del self._waiting[kind]
            return taken

    def _read(self, count: int, *, once: bool = False) -> bool:
        """Read until `count` instances wait, or only one; return whether any was read."""
        has_read, began = False, time.monotonic()
        while self._count() < count and not (once and has_read):
            try:
                key = next(self._keys)
            except StopIteration:
                self._is_at_end = True
                break
            if key is None:
                break
            has_read = True
            try:
                waiting = self._prepare(key)
            except IslandsError as error:
                self._failed.append((key, error))
                continue
            if waiting is None:
                self._others.append(key)
                if len(self._others) >= count:
                    break
                continue
            with self._lock:
                self._waiting.setdefault(waiting.kind, deque()).append(waiting)
            if time.monotonic() - began > _READ_SECONDS and self._may_begin():
                break
        return has_read

    def _count(self) -> int:
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def _may_begin(self) -> bool:
        """Return whether several instances of a kind wait that no thread solves."""
        kind = self._most_frequent()
        return kind is not None and len(self._waiting[kind]) >= _FEWEST

    def _of_others(
        self, backend: Backend, alone: Callable[[Key], Result]
    ) -> Iterator[tuple[Key, Result | IslandsError]]:
        """Yield the failures, and the results of those that are solved alone."""
        while failed := _popped(self._failed):
            yield failed
        while not self._is_over() and (key := _popped(self._others)) is not None:
            self._began[get_ident()] = time.monotonic()
            made: Result | IslandsError
            try:
                made = alone(key)
            except IslandsError as error:
                made = error
            finally:
                backend.synchronise()
            if not self._is_over():  # it may not have come to its end
                yield key, made


Entry = TypeVar("Entry")


def _popped(entries: deque[Entry]) -> Entry | None:
    """Return the first entry, which is not there any more; None if there is none."""
    try:
        return entries.popleft()
    except IndexError:
        return None  # perhaps another thread has it
