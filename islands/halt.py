"""The host's word to a rank's device that what it is at work on is given up."""

from __future__ import annotations

import numpy as np

from islands.backends.base import Array, Backend


class Halt:
    """Two words on the device: whether to give up, and whether anybody has done so.

    What was said once is not taken back.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.words: Array = backend.zeros((2,), np.int32)
        self.is_said = False

    def say(self) -> None:
        """Say it, from any thread, while the device is at work."""
        if not self.is_said:
            self.is_said = True
            self._backend.poke(self.words)

    def is_heard(self) -> bool:
        """Return whether anybody has given up; waits for all that was launched."""
        return self.is_said and bool(self._backend.download(self.words)[1])
