"""Watch the clock and signals in a thread, and abandon a long generation when a run must end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from islands.archipelago.archipelago import Archipelago
from islands.display.messages import Slow
from islands.parallel import StopNotice, World
from islands.run.signals import Interruption

_CHECK_SECONDS = 0.1
"""Seconds between checks of the clock and of signals."""
_GRACE_SECONDS = 0.5
"""Seconds that the current generations have to complete, so that short ones are not lost."""


class Alarm:
    """A thread that checks, inside its `with` block, whether a run must end.

    The main thread waits for the device and cannot check. A signal to one rank stops all ranks.
    """

    def __init__(
        self,
        archipelago: Archipelago,
        interruption: Interruption,
        is_late: Callable[[], bool],
        world: World | None = None,
        slow: Slow | None = None,
    ) -> None:
        """Let `slow` report long generations; collective over a `world` of several ranks."""
        self._archipelago, self._interruption = archipelago, interruption
        self._is_late, self._slow = is_late, slow
        self._notice = StopNotice(world if world is not None else World())
        self._lost: range | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None:
            self._notice.close()
        else:
            with suppress(Exception):  # other ranks may have died
                self._notice.cancel()

    def _watch(self) -> None:
        is_over = False
        while not self._ended.wait(_CHECK_SECONDS):
            self._report(is_over=is_over)
            is_over = self._is_over() and not self._ended.wait(_GRACE_SECONDS)
            if is_over:
                self._archipelago.abandon()

    def _report(self, *, is_over: bool) -> None:
        try:
            if self._slow is not None:
                self._slow.look(is_over=is_over)
        except Exception:  # the output is closed, but the run must still end
            self._slow = None

    def _is_over(self) -> bool:
        is_stopped = self._has_foreign_signal() or bool(self._interruption.requested)
        try:
            if self._interruption.requested:
                self._notice.request()
            self._notice.listen()
        except Exception:  # ranks have died, which the main thread will detect
            self._notice = StopNotice(World())
        return is_stopped or self._notice.is_requested or self._is_late()

    def _has_foreign_signal(self) -> bool:
        """Return whether a signal has arrived for a handler that is not ours.

        Abandon each generation at most once: a handler may let the run continue, and frequent
        signals would then prevent every generation from completing.
        """
        ahead = self._archipelago.ahead[:1]
        if not self._interruption.has_new_signal() or not ahead or ahead == self._lost:
            return False
        self._lost = ahead
        return True
