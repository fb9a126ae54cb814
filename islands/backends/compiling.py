"""That programs have to be compiled: said once, with about how long it takes on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from islands.errors import InputError
from islands.paths import cache_folder


class Compiling:
    """What a backend says of it, and how long it took the last time, for the next one."""

    def __init__(self, backend: str, usual_seconds: float, how: str = "") -> None:
        """Take `usual_seconds` until it is known how long it takes here; `how` is said with it."""
        self.tell: Callable[[str], None] | None = None
        """Is told."""
        self._backend, self._usual, self._how = backend, usual_seconds, how
        self._is_told = self._has_begun = False
        self._lock = Lock()

    def begin(self) -> None:
        """Say that a program is compiled, unless that is said; from any thread."""
        with self._lock:
            self._has_begun = True
            if self.tell is not None and not self._is_told:
                self._is_told = True
                seconds = max(1, round(self._about()))
                self.tell(f"compiling the kernels{self._how} (about {seconds} s, once)")

    def took(self, seconds: float) -> None:
        """Keep how long it took, if there was anything to compile."""
        if self._has_begun:
            self._has_begun = False
            with suppress(InputError, OSError):  # it is but an estimate
                (cache_folder("") / self._name()).write_text(f"{seconds:.1f}\n", encoding="utf-8")

    def _about(self) -> float:
        try:
            seconds = float((cache_folder("") / self._name()).read_text(encoding="utf-8"))
        except (InputError, OSError, ValueError):
            return self._usual
        return seconds if math.isfinite(seconds) else self._usual

    def _name(self) -> str:
        return f"compile-seconds-{self._backend}"
