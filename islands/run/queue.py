"""A queue of instances: those of the same kind share launches, the others are solved alone."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Generic, TypeVar

from islands.backends.base import Backend
from islands.errors import IslandsError
from islands.progress.result import Result
from islands.run.shared import Sharing
from islands.run.waiting import Waiting, places_for

Key = TypeVar("Key")
_FEWEST = 2
"""Instances of a kind for which places are worth their memory."""
_MANY_LEFT = 8
"""Instances of a kind that were left, more than were solved, from which on the others are solved
alone."""
_LOOK_SECONDS = 0.02
"""Seconds between two looks whether another instance is known."""


class Queue(Generic[Key]):
    """Solves instances in an order that lets many share launches."""

    def __init__(
        self,
        keys: Iterator[Key | None],
        prepare: Callable[[Key], Waiting[Key] | None],
        alone: Callable[[Key], Result],
        backend: Backend,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take instances by their keys, when they are needed; a key is None if none is known yet.

        `prepare` returns None for an instance that cannot share launches; `alone` solves it. When
        `is_over` is true, those in progress end without a result.
        """
        self._is_over = is_over
        self._keys, self._prepare, self._alone, self._backend = keys, prepare, alone, backend
        self._waiting: dict[Hashable, deque[Waiting[Key]]] = {}
        self._others: deque[Key] = deque()
        self._failed: deque[tuple[Key, IslandsError]] = deque()
        self._ahead = 1
        self._is_at_end = False
        self._alone_kinds = set[Hashable]()
        """Those that are solved alone."""

    def results(self) -> Iterator[tuple[Key, Result | IslandsError]]:
        """Yield the result of each instance as it ends, or the error that it has caused."""
        while not self._is_over():
            self._read(self._ahead)
            yield from self._of_others()
            if not self._waiting:
                if not self._read(1):
                    yield from self._of_others()
                    if self._is_at_end:
                        return
                    time.sleep(_LOOK_SECONDS)
                continue
            kind = max(self._waiting, key=lambda each: len(self._waiting[each]))
            if kind in self._alone_kinds:
                self._others.append(self._take(kind).key)
                continue
            first = self._waiting[kind][0]
            self._ahead = max(self._ahead, 2 * places_for(first, self._backend))
            self._read(self._ahead)
            count = len(self._waiting[kind])
            if count < _FEWEST:
                self._others.append(self._take(kind).key)
                continue
            sharing = Sharing(first, count, self._backend)
            del first
            surplus = 0
            for key, result in sharing.solve(partial(self._next, sharing), self._is_over):
                surplus += 1 if result is None else -1
                if sharing.is_slow or surplus > _MANY_LEFT:
                    self._alone_kinds.add(kind)
                if result is None:
                    self._others.append(key)
                else:
                    yield key, result
                if not sharing.is_slow:
                    yield from self._of_others()
            del sharing  # its memory, before that of the next kind is reserved

    def _next(self, sharing: Sharing[Key]) -> Waiting[Key] | None:
        """Return the next instance of a kind; None if there is none among the next ones."""
        while sharing.kind not in self._alone_kinds:
            while sharing.kind not in self._waiting:
                is_full = len(self._others) + len(self._failed) >= self._ahead
                if is_full or not self._read(self._ahead, once=True):
                    return None
            taken = self._take(sharing.kind)
            if sharing.fits(taken):
                return taken
            self._others.append(taken.key)
        return None

    def _take(self, kind: Hashable) -> Waiting[Key]:
        taken = self._waiting[kind].popleft()
        if not self._waiting[kind]:
            del self._waiting[kind]
        return taken

    def _read(self, count: int, *, once: bool = False) -> bool:
        """Read until `count` instances wait, or only one; return whether any was read."""
        has_read = False
        while sum(map(len, self._waiting.values())) < count and not (once and has_read):
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
            else:
                self._waiting.setdefault(waiting.kind, deque()).append(waiting)
        return has_read

    def _of_others(self) -> Iterator[tuple[Key, Result | IslandsError]]:
        """Yield the failures, and the results of those that are solved alone."""
        while self._failed:
            yield self._failed.popleft()
        while self._others and not self._is_over():
            key = self._others.popleft()
            made: Result | IslandsError
            try:
                made = self._alone(key)
            except IslandsError as error:
                made = error
            if not self._is_over():  # it may not have come to its end
                yield key, made
