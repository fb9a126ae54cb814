"""Work in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

Value = TypeVar("Value")

_KILL_INTERVAL_SECONDS = 0.05


class Background(Generic[Value]):
    """Work that has begun; `result` returns its value or raises its error."""

    def __init__(self, work: Callable[[], Value]) -> None:
        self._work = work
        self._error: BaseException | None = None
        # Python does not wait for daemon threads when it exits.
        self._thread = Thread(target=self._do, daemon=True)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error

    def stop(self, kill: Callable[[], None]) -> None:
        """Call `kill` repeatedly until the work ends, and ignore its result.

        The work may be about to start the process that `kill` ends, so one call is not enough.
        """
        while self._thread.is_alive():
            kill()
            self._thread.join(_KILL_INTERVAL_SECONDS)

    def result(self) -> Value:
        """Wait for the work; return its value or raise its error."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value
