"""The Metropolis rule with the bits of the kernels."""

from __future__ import annotations

import numpy as np

_LN2 = np.float32(float.fromhex("0x1.62e43p-1"))


def minus_log(x: int) -> np.float32:
    """Return -ln(x / 2^24) with the bits of the kernels."""
    mantissa, exponent = np.frexp(np.float32(x))
    m, one = np.float32(2 * mantissa), np.float32(1)
    s = (m - one) / (m + one)
    series = np.float32(2) / np.float32(11)
    for odd in (9, 7, 5, 3, 1):
        series = series * (s * s) + np.float32(2) / np.float32(odd)
    return np.float32(25 - exponent) * _LN2 - series * s


def is_accepted(raised: int, temperature: float, word: int) -> bool:
    return bool(np.float32(raised) <= np.float32(temperature) * minus_log((word >> 8) + 1))
