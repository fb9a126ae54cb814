"""The mean and the standard deviation of numbers up to the largest double.

Sums are in units of 2**64, which changes no digit, so that they do not overflow.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

_UNIT = 2.0**64


def mean(values: Iterable[float]) -> float:
    """Return the mean of one or more numbers."""
    return statistics.fmean(each / _UNIT for each in values) * _UNIT


def deviation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation; None below two numbers or beyond all doubles."""
    try:
        return statistics.stdev(values) if len(values) > 1 else None
    except OverflowError:
        return None
