"""A request of the host to the device to abandon the generations in progress."""

from __future__ import annotations

import threading

import numpy as np

from islands.backends.base import Array, Backend


class Halt:
    """Two words on the device: whether to abandon generations, and whether a block has done so.

    The first word is only set while the halt is armed. An earlier request takes effect when it is
    armed. A request that has been obeyed is cleared.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.words: Array = backend.zeros((2,), np.int32)
        self._lock = threading.Lock()
        self._was_requested = self._is_armed = self._host_abandoned = False

    def request(self) -> None:
        """Request the halt, from any thread, also while kernels run."""
        with self._lock:
            if self._is_armed and not self._was_requested:
                self._backend.poke(self.words)
            self._was_requested = True

    def arm(self) -> None:
        """Allow later launches to abandon generations."""
        with self._lock:
            self._is_armed = True
            if self._was_requested:
                self._backend.poke(self.words)

    def forget(self) -> None:
        """Clear a request that others have obeyed; the halt must be disarmed."""
        with self._lock:
            self._was_requested = False

    def is_requested(self) -> bool:
        """Return whether the host has to abandon its own work, which counts as abandoned then."""
        with self._lock:
            self._host_abandoned = self._is_armed and self._was_requested
            return self._host_abandoned

    def disarm(self) -> bool:
        """Return whether the host or a block has abandoned work; all launches must be complete."""
        with self._lock:
            self._is_armed = False
            if not self._was_requested:
                return False
            abandoned = self._host_abandoned or bool(self._backend.download(self.words)[1])
            self._backend.upload(np.zeros(2, np.int32), self.words)
            self._host_abandoned = False
            self._was_requested = not abandoned
            return abandoned
