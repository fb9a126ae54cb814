"""Whoever has islands give up a generation that takes too long when a run is to end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from islands.archipelago.archipelago import Archipelago
from islands.display.slow import Slow
from islands.parallel import StopNotice, World
from islands.run.signals import Interruption

_LOOKS = 0.1
"""Seconds from one look at the clock and at the signals to the next."""
_GRACE = 0.5
"""Seconds in which generations may still become whole, so that short ones are not lost."""


class Alarm:
    """A thread that looks, while its `with` block lasts, whether a run is over.

    The thread that runs the islands waits for the device, and hears nothing. A signal to one rank
    is one to all.
    """

    def __init__(
        self,
        archipelago: Archipelago,
        interruption: Interruption,
        is_late: Callable[[], bool],
        world: World | None = None,
        slow: Slow | None = None,
    ) -> None:
        """Let `slow` say what takes long; collective over a `world` of several ranks."""
        self._archipelago, self._interruption = archipelago, interruption
        self._is_late, self._slow = is_late, slow
        self._notice = StopNotice(world if world is not None else World())
        self._lost: range | None = None
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
        if error is None:
            self._notice.close()
        else:
            with suppress(Exception):  # ranks may have died
                self._notice.give_up()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOKS):
            self._tell()
            if self._is_over() and not self._ended.wait(_GRACE):
                self._archipelago.give_up()

    def _tell(self) -> None:
        try:
            if self._slow is not None:
                self._slow.look()
        except Exception:  # nobody listens, but the run has to end all the same
            self._slow = None

    def _is_over(self) -> bool:
        is_called = self._is_called() or bool(self._interruption.requested)
        try:
            if self._interruption.requested:
                self._notice.request()
            self._notice.listen()
        except Exception:  # ranks have died, of which the thread that waits for them will hear
            self._notice = StopNotice(World())
        return is_called or self._notice.is_requested or self._is_late()

    def _is_called(self) -> bool:
        """Return whether somebody else's handler is to be let in.

        Once a generation is enough: a handler that lets the run go on may be called so often that
        no generation would ever become whole.
        """
        ahead = self._archipelago.ahead[:1]
        if not self._interruption.takes_call() or not ahead or ahead == self._lost:
            return False
        self._lost = ahead
        return True


def pass_step(archipelago: Archipelago, generations: int, *, may_take_long: bool) -> bool:
    """Pass generations; return whether they are whole, which is not waited for unless needed.

    Where they are not, they have to be withdrawn.
    """
    if may_take_long:
        return archipelago.attempt(generations)
    archipelago.advance(generations)
    return True
