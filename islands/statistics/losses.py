"""Losses: by how much costs are worse than a reference, without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST = 1e300
"""Losses end here, so that those of any two real costs can be averaged and drawn."""
_SCALE = 256.0  # so that 100 times the difference of any two costs is a double


def percent_worse(costs: Any, reference: float, *, maximise: bool = False) -> Any:
    """Return in per cent how much worse costs are; if the reference is 0, the differences.

    Costs are an array of doubles; those that are not finite remain as they are.
    """
    found, base = costs / _SCALE, reference / _SCALE
    worse = base - found if maximise else found - base
    with np.errstate(over="ignore"):
        percent = 100.0 * worse / (abs(base) or 100.0 / _SCALE)
    return np.where(np.isfinite(costs), percent.clip(-LARGEST, LARGEST), costs)
