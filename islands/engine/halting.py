"""A watchdog that stops shared launches which overrun, for example because user code is slow.

A run with its own launches can end within a generation; runs that share launches cannot. Shared
launches are therefore short, and runs whose generations take too long get their own launches.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from islands.engine.limits import LIMITS


class HaltedError(Exception):
    """Shared launches are too slow; the results of a halted one are incomplete."""


class Watch:
    """A thread that halts the device if a launch takes too long, or if the runs must end.

    It watches the blocks `with watch:`, in which the host waits for the device.
    """

    def __init__(self, halt: Callable[[], None], longest: float) -> None:
        """Call `halt`, which ends the launches in progress, after at most `longest` seconds."""
        self._halt, self._longest = halt, longest
        self._lock, self._ended = Lock(), Event()
        self._began: float | None = None
        self.has_halted = False
        """Whether a launch was halted, which makes its results incomplete."""
        self.generations = 1
        """Maximum number of generations of the next launch."""

    @contextmanager
    def until(self, must_end: Callable[[], bool]) -> Iterator[None]:
        """Watch inside the block; also halt when `must_end` is true."""
        thread = Thread(target=self._run, args=(must_end,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, kind: object, *_: object) -> None:
        with self._lock:
            self._began = None
        if self.has_halted and kind is None:
            raise HaltedError

    def launch_ended(self, generations: int, seconds: float) -> None:
        """Choose the length of the next launch from the time of the last one."""
        allowed = int(LIMITS.launch_seconds * generations / max(seconds, 1e-9))
        self.generations = max(1, min(allowed, LIMITS.faster * generations))

    def _run(self, must_end: Callable[[], bool]) -> None:
        while not self._ended.wait(LIMITS.watch_seconds):
            with self._lock:
                began = self._began
                if began is None or self.has_halted:
                    continue
                if must_end() or time.perf_counter() - began > self._longest:
                    self.has_halted = True
                    self._halt()
