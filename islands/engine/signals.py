"""Early termination of a run: by signals, the clock, or files that cannot be written.

SIGINT ends a run normally; SIGTERM, SIGUSR1 and SIGHUP end it with a checkpoint. A thread watches
signals and the clock, and abandons a long generation.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, ClassVar, Self

from islands.archipelago.archipelago import Archipelago
from islands.display.messages import SlowGenerations
from islands.errors import Suspended
from islands.parallel import StopNotice, World
from islands.text import show

INTERRUPTED_STATUS = 128 + signal.SIGINT
"""The exit status of a run that SIGINT ended."""
SUSPENDED_STATUS = Suspended.status
"""The exit status of a run that can be resumed from its checkpoint: EX_TEMPFAIL of sysexits.h."""

INTERRUPT = 1
"""The bit of SIGINT; the bits of several signals are combined with OR."""
OUTPUT_LOST, UNWRITABLE = 16, 32
"""The bits of other reasons to end a run early."""
SUSPENSIONS = {
    2: "SIGTERM",
    4: "SIGUSR1",
    8: "SIGHUP",
    OUTPUT_LOST: "the output cannot be written",
    UNWRITABLE: "a file cannot be written",
}
"""The reasons to end a run so that it can be resumed, by bit."""
_NUMBERS = {signal.SIGINT: INTERRUPT, signal.SIGTERM: 2, signal.SIGUSR1: 4, signal.SIGHUP: 8}
_CHECK_SECONDS = 0.1
"""Seconds between checks of the clock and of signals."""
_GRACE_SECONDS = 0.5
"""Grace period for the current generations, so that short ones are completed."""


def suspending_signals() -> list[signal.Signals]:
    """Return the signals that suspend work; without SIGHUP if it is ignored, as under nohup."""
    is_ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [signal.SIGTERM, signal.SIGUSR1, *([] if is_ignored else [signal.SIGHUP])]


def leave_lost_terminal() -> None:
    """Discard further output to a terminal that has been closed, as every write would fail."""
    for number in (1, 2):
        with suppress(OSError):
            is_lost = stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number)
            if is_lost:
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, number)
                os.close(sink)


@contextmanager
def suspending(words: str = "to continue, repeat the command") -> Iterator[None]:
    """Raise `Suspended` on a suspending signal, with words about the results so far.

    By default, these are the words for work whose results are stored one by one.
    """

    def suspend(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            leave_lost_terminal()
        raise Suspended(f"ended by a signal; {words}")

    before = {number: signal.signal(number, suspend) for number in suspending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def suspension(requested: int) -> str | None:
    """Return the first of the requested reasons to suspend the run, or None."""
    return next((name for number, name in SUSPENSIONS.items() if requested & number), None)


def received() -> int:
    """Return the signals that the innermost `Interruption` has received."""
    return 0 if Interruption._innermost is None else Interruption._innermost.requested


class Interruption:
    """Receives signals inside its `with` block; `requested` combines their bits.

    A thread receives them, as Python's own handlers wait until a running kernel returns. SIGTERM,
    SIGUSR1 and SIGHUP are only handled if `suspends`, a text for messages, describes their effect
    on a run that writes files; SIGINT only if `interrupts` describes its effect, or after
    `handle_interrupts`. Outside the main thread, where Python allows no handlers, none is handled.

    A nested object receives signals instead of the outer one, handles all signals that the outer
    one handles, and passes them on at its end.

    Foreign handlers, those of other code in the process, also wait until a kernel returns:
    `has_new_signal` therefore reports any new signal, once.
    """

    _innermost: ClassVar[Interruption | None] = None

    def __init__(
        self,
        *,
        suspends: str = "",
        interrupts: str = "",
        ends: Callable[[], bool] | None = None,
    ) -> None:
        """Handle signals as described; when `ends` is true, this has the effect of SIGINT."""
        self._received, self._ends = 0, ends
        self._has_new = False
        self._suspends, self._interrupts = suspends, interrupts
        self._previous: dict[signal.Signals, Any] = {}
        self._usable = threading.current_thread() is threading.main_thread()

    @property
    def requested(self) -> int:
        """The signals received so far, combined with OR; safe to read from any thread."""
        ends = self._ends is not None and self._ends()
        return self._received | INTERRUPT if ends else self._received

    def __enter__(self) -> Self:
        if self._usable:
            self._outer, Interruption._innermost = Interruption._innermost, self
            if self._outer is not None:
                self._received = self._outer.requested
                self._suspends = self._suspends or self._outer._suspends
                self._interrupts = self._interrupts or self._outer._interrupts
            self._read, self._write = os.pipe()
            os.set_blocking(self._write, False)
            self._previous_pipe = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            if self._suspends:
                for number in suspending_signals():
                    self._handle(number)
            if self._interrupts:
                self._handle(signal.SIGINT)
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._usable:
            for number, handler in self._previous.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._previous_pipe)
            os.close(self._write)
            self._listener.join()
            os.close(self._read)
            Interruption._innermost = self._outer
            if self._outer is not None:
                self._outer._received |= self.requested

    def handle_interrupts(self) -> None:
        """Handle SIGINT as well, from now on."""
        if self._usable and signal.SIGINT not in self._previous:
            self._handle(signal.SIGINT)

    @contextmanager
    def before_checkpoints(self) -> Iterator[None]:
        """Promise no checkpoint if a signal arrives inside the block, as the run has not begun."""
        suspends = self._suspends
        self._suspends = suspends and "ending"
        try:
            yield
        finally:
            self._suspends = suspends

    def request(self, number: int) -> None:
        """End the run as after a signal: `number` is one of `SUSPENSIONS`."""
        self._received |= number

    def has_new_signal(self) -> bool:
        """Return whether a signal has arrived since the last call; any thread may call this."""
        has_new, self._has_new = self._has_new, False
        return has_new

    def _handle(self, number: signal.Signals) -> None:
        # Store the old handler first, so that no signal is lost.
        self._previous[number] = signal.getsignal(number)
        # Without a Python handler, nothing is written to the pipe, which a thread reads.
        signal.signal(number, lambda _number, _frame: None)
        # Slurm jobs start their ranks with SIGTERM blocked: see studies/clusters/processes.py.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})

    def _listen(self) -> None:
        while received := os.read(self._read, 1):
            self._has_new |= received[0] in _NUMBERS
            if received[0] not in self._previous:
                self._pass_on(received)
                continue
            number = _NUMBERS[signal.Signals(received[0])]
            if self._received & INTERRUPT and number == INTERRUPT:
                os._exit(INTERRUPTED_STATUS)
            if received[0] == signal.SIGHUP:
                leave_lost_terminal()
            is_known = bool(self._received & number)
            self._received |= number
            if not is_known:
                with suppress(OSError, ValueError):  # the output may be closed
                    self._say(number)

    def _pass_on(self, received: bytes) -> None:
        """Pass the signal to the previous reader, such as an event loop with handlers."""
        if self._previous_pipe >= 0:
            with suppress(OSError):
                os.write(self._previous_pipe, received)

    def _say(self, number: int) -> None:
        ending = "writing the best so far" if self._suspends else "ending after this generation"
        words = f"interrupted; {self._interrupts or ending} (interrupt again to end at once)"
        if number in SUSPENSIONS:
            words = f"{SUSPENSIONS[number]}; {self._suspends}"
        show(f"islands: {words}", file=sys.stderr)


class Alarm:
    """A watchdog thread that checks, inside its `with` block, whether a run must end.

    The main thread cannot check while it waits for the device. A signal to one rank stops all.
    """

    def __init__(
        self,
        archipelago: Archipelago,
        interruption: Interruption,
        is_late: Callable[[], bool],
        world: World,
        slow: SlowGenerations | None,
    ) -> None:
        """Let `slow` report long generations; collective."""
        self._archipelago, self._interruption = archipelago, interruption
        self._is_late, self._slow = is_late, slow
        self._notice = StopNotice(world)
        self._abandoned: range | None = None
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
                self._slow.report(is_over=is_over)
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
        """Return whether a signal for a foreign handler has arrived.

        A generation is abandoned at most once: a handler may let the run continue, and frequent
        signals would then prevent every generation from completing.
        """
        ahead = self._archipelago.ahead[:1]
        if not self._interruption.has_new_signal() or not ahead or ahead == self._abandoned:
            return False
        self._abandoned = ahead
        return True
