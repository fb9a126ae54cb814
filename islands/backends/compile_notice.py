"""The message that programs are compiled, with an estimate of the time on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from islands.errors import InputError
from islands.paths import cache_folder


class Compiling:
    """Announces compilations once, and keeps their duration as the next estimate."""

    def __init__(self, backend: str, usual_seconds: float, how: str = "") -> None:
        """Estimate `usual_seconds` until the first measurement; `how` is added to the message."""
        self.tell: Callable[[str], None] | None = None
        """Receives the message; None: nobody is told."""
        self._backend, self._usual, self._how = backend, usual_seconds, how
        self._is_announced = self._has_begun = False
        self._lock = Lock()

    def begin(self) -> None:
        """Announce that a program is compiled, only the first time; from any thread."""
        with self._lock:
            self._has_begun = True
            if self.tell is not None and not self._is_announced:
                self._is_announced = True
                seconds = max(1, round(self._about()))
                self.tell(f"compiling the kernels{self._how} (about {seconds} s, once)")

    def took(self, seconds: float) -> None:
        """Save the duration, if there was anything to compile."""
        if self._has_begun:
            self._has_begun = False
            with suppress(InputError, OSError):  # it is only an estimate
                (cache_folder("") / self._name()).write_text(f"{seconds:.1f}\n", encoding="utf-8")

    def _about(self) -> float:
        try:
            seconds = float((cache_folder("") / self._name()).read_text(encoding="utf-8"))
        except (InputError, OSError, ValueError):
            return self._usual
        return seconds if math.isfinite(seconds) else self._usual

    def _name(self) -> str:
        return f"compile-seconds-{self._backend}"
