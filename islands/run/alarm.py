"""Whoever has islands give up a generation that takes too long when a run is to end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from islands.archipelago import Archipelago

_LOOKS = 0.1
"""Seconds from one look at the clock and at the signals to the next."""
_GRACE = 0.5
"""Seconds in which generations may still become whole, so that short ones are not lost."""


class Alarm:
    """A thread that looks, while its `with` block lasts, whether a run is over.

    The thread that runs the islands waits for the device, and hears nothing.
    """

    def __init__(self, archipelago: Archipelago, is_over: Callable[[], bool]) -> None:
        self._archipelago, self._is_over = archipelago, is_over
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over():
            if self._ended.wait(_LOOKS):
                return
        if not self._ended.wait(_GRACE):
            self._archipelago.give_up()


def pass_step(archipelago: Archipelago, generations: int, *, may_take_long: bool) -> bool:
    """Pass generations; return whether they are whole, which is not waited for unless needed.

    Where they are not, they have to be withdrawn.
    """
    if not may_take_long:
        archipelago.advance(generations)
        return True
    archipelago.remember(generations)
    archipelago.advance(generations)
    return not archipelago.gave_up()
