"""Work that is done beside other work, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

Value = TypeVar("Value")

_KILLS_SECONDS = 0.05


class Background(Generic[Value]):
    """Work that has begun; what it returns, or raises, comes out where it is waited for."""

    def __init__(self, work: Callable[[], Value]) -> None:
        self._work = work
        self._error: BaseException | None = None
        # Python waits at its end for other threads than these, whatever they are at.
        self._thread = Thread(target=self._do, daemon=True)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error

    def stop(self, kill: Callable[[], None]) -> None:
        """Wait for the end, whatever it is, having killed what the work waits for again and again.

        It may be about to start it.
        """
        while self._thread.is_alive():
            kill()
            self._thread.join(_KILLS_SECONDS)

    def result(self) -> Value:
        """Wait, and return what the work returns."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value
