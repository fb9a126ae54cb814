"""The host's word to a rank's device that what it is at work on is given up."""

from __future__ import annotations

import threading

import numpy as np

from islands.backends.base import Array, Backend


class Halt:
    """Two words on the device: whether to give up, and whether anybody has done so.

    They are only set while somebody is ready for what is not whole. What was said before is said
    then; once heard, it has to be said again.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.words: Array = backend.zeros((2,), np.int32)
        self._lock = threading.Lock()
        self._is_said = self._is_armed = self._is_left = False

    def say(self) -> None:
        """Say it, from any thread, also while the device is at work."""
        with self._lock:
            if self._is_armed and not self._is_said:
                self._backend.poke(self.words)
            self._is_said = True

    def arm(self) -> None:
        """Be ready for it, in what is launched from now on."""
        with self._lock:
            self._is_armed = True
            if self._is_said:
                self._backend.poke(self.words)

    def is_heard(self) -> bool:
        """Return whether what the host is at work on is to be left, and take it for left then."""
        with self._lock:
            self._is_left = self._is_armed and self._is_said
            return self._is_left

    def disarm(self) -> bool:
        """Return whether anybody has given up, when all that was launched is done."""
        with self._lock:
            self._is_armed = False
            if not self._is_said:
                return False
            is_left = self._is_left or bool(self._backend.download(self.words)[1])
            self._backend.upload(np.zeros(2, np.int32), self.words)
            self._is_left = False
            self._is_said = not is_left
            return is_left
