"""What a device's memory can do: the bandwidth of a large copy."""

from __future__ import annotations

from statistics import median

import numpy as np

from islands.backends.base import Backend

_BYTES = {"cuda": 2 << 30, "cpu": 256 << 20}


def copy_bandwidth(backend: Backend, repeats: int = 7) -> float:
    """Return bytes a second, read and written counted, as the median of some copies."""
    size = _BYTES[backend.name]
    source = backend.zeros((size,), np.uint8)
    target = backend.empty((size,), np.uint8)
    times = []
    for _ in range(repeats + 1):
        with backend.timed() as milliseconds:
            backend.copy(source, target)
        times.append(milliseconds[0] / 1000)
    return 2 * size / median(times[1:])
