"""What signals mean to a run: SIGINT ends it well, SIGTERM and SIGUSR1 with a checkpoint."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, ClassVar, Self

from islands.errors import Suspended

INTERRUPTED_STATUS = 128 + signal.SIGINT
"""The exit status of a run that SIGINT ended."""
SUSPENDED_STATUS = Suspended.status
"""The exit status of a run that is to go on from its checkpoint; EX_TEMPFAIL of sysexits.h."""

INTERRUPT = 1
"""Of the numbers that stand for signals, and are added where several have come."""
SUSPENSIONS = {2: "SIGTERM", 4: "SIGUSR1"}
_NUMBERS = {signal.SIGINT: INTERRUPT, signal.SIGTERM: 2, signal.SIGUSR1: 4}


@contextmanager
def suspending() -> Iterator[None]:
    """Let SIGTERM and SIGUSR1 raise `Suspended`: for work that is kept, piece by piece."""

    def suspend(_number: int, _frame: FrameType | None) -> None:
        raise Suspended("ended by a signal, to go on another time")

    before = {each: signal.signal(each, suspend) for each in (signal.SIGTERM, signal.SIGUSR1)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def suspension(requested: int) -> str | None:
    """Return the name of a signal among those requested that asks for a checkpoint, or None."""
    return next((name for number, name in SUSPENSIONS.items() if requested & number), None)


class Interruption:
    """Listens for signals while its `with` block lasts; `requested` is the sum of their numbers.

    A thread listens, since Python's own handlers wait until a running kernel returns. Outside the
    main thread, where Python allows no handlers, signals keep their meaning. So do SIGTERM and
    SIGUSR1 unless `suspends` says what a run that writes does when they come, and SIGINT until
    there is a best so far: until `hear_interrupts`, or unless `interrupts` says what it does.

    One inside another hears in its stead, all that has come and all that the other listens for, and
    hands on at its end what it has heard.

    A signal that it leaves to a handler of somebody else has to wait until a kernel returns:
    `takes_call` tells of it once.
    """

    _innermost: ClassVar[Interruption | None] = None

    def __init__(self, *, suspends: str = "", interrupts: str = "") -> None:
        self.requested = 0
        self._is_called = False
        self._suspends, self._interrupts = suspends, interrupts
        self._previous: dict[signal.Signals, Any] = {}
        self._usable = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._usable:
            self._outer, Interruption._innermost = Interruption._innermost, self
            if self._outer is not None:
                self.requested = self._outer.requested
                self._suspends = self._suspends or self._outer._suspends
                self._interrupts = self._interrupts or self._outer._interrupts
            self._read, self._write = os.pipe()
            os.set_blocking(self._write, False)
            self._previous_pipe = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            if self._suspends:
                self._hear(signal.SIGTERM)
                self._hear(signal.SIGUSR1)
            if self._interrupts:
                self._hear(signal.SIGINT)
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._usable:
            for each, handler in self._previous.items():
                signal.signal(each, handler)
            signal.set_wakeup_fd(self._previous_pipe)
            os.close(self._write)
            self._listener.join()
            os.close(self._read)
            Interruption._innermost = self._outer
            if self._outer is not None:
                self._outer.requested |= self.requested

    def hear_interrupts(self) -> None:
        """Listen for SIGINT as well, from now on."""
        if self._usable and signal.SIGINT not in self._previous:
            self._hear(signal.SIGINT)

    def takes_call(self) -> bool:
        """Return whether anything has come since the last time; for any thread."""
        is_called, self._is_called = self._is_called, False
        return is_called

    def _hear(self, number: signal.Signals) -> None:
        # Known before it can come, lest it be lost.
        self._previous[number] = signal.getsignal(number)
        # Without a handler of Python's own, the pipe would hear nothing.
        signal.signal(number, _ignore)

    def _listen(self) -> None:
        while heard := os.read(self._read, 1):
            self._is_called |= heard[0] in _NUMBERS
            if heard[0] not in self._previous:
                self._pass_on(heard)
                continue
            number = _NUMBERS[signal.Signals(heard[0])]
            if self.requested & INTERRUPT and number == INTERRUPT:
                os._exit(INTERRUPTED_STATUS)
            is_known = bool(self.requested & number)
            self.requested |= number
            if not is_known:
                with suppress(OSError, ValueError):  # where nobody listens, it is done all the same
                    self._say(number)

    def _pass_on(self, heard: bytes) -> None:
        """Let whoever listened before hear it, such as an event loop, whose handlers it calls."""
        if self._previous_pipe >= 0:
            with suppress(OSError):
                os.write(self._previous_pipe, heard)

    def _say(self, number: int) -> None:
        ending = "writing the best so far" if self._suspends else "ending after this generation"
        words = f"interrupted; {self._interrupts or ending} (once more to end at once)"
        if number in SUSPENSIONS:
            words = f"{SUSPENSIONS[number]}; {self._suspends}"
        print(f"islands: {words}", file=sys.stderr, flush=True)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Leave the signal to the listening thread."""
