"""The effect of rounding to whole numbers: a warning for cities that are close to each other."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from islands.instances.solution_files import Remark
from islands.instances.tsplib import TspFile
from islands.problems.distances import Distances, Ints, unrounded

_MOST = 0.001
"""Maximum relative change of the lengths between neighbours without a warning."""
_SAMPLE, _IN_BAND = 1_000, 20_000  # numbers of cities
_WELL_ROUNDED = 500.0
"""A mean length between neighbours that rounding changes by less than `_MOST`."""


def remarks_on_rounding(near: Distances, file: TspFile) -> Sequence[Remark]:
    """Return a warning if rounding changes the lengths between neighbours noticeably."""
    if file.coordinates is None or file.metric is None or near.size < 2:
        return []
    cities, others = _neighbours(near)
    pairs = zip(cities.tolist(), others.tolist(), strict=True)
    exact = np.array([unrounded(file, *pair) for pair in pairs])
    changes = np.abs(near.between(cities, others) - exact)
    mean, changed = float(exact.mean()), float(changes.mean())
    if changed <= _MOST * mean:
        return []
    percent = 100 * changed / mean
    shown = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    words = (
        f"warning: {file.metric} rounds lengths to whole numbers, which changes those between"
        f" neighbours by {shown} %. {_fix(file.metric, mean)}"
    )
    return [Remark("rounding", percent, words)]


def _fix(metric: str, mean: float) -> str:
    if metric == "GEO":
        return "Project the coordinates to a plane, in metres"
    factor = 10.0 ** math.ceil(math.log10(_WELL_ROUNDED / mean))
    return f"Multiply the coordinates by {factor:,.0f}, or use islands.tsp(coordinates) in Python"


def _neighbours(near: Distances) -> tuple[Ints, Ints]:
    """Return a sample of cities, and the nearest other city of each."""
    from scipy.spatial import KDTree

    if near.places is not None:
        band = _band(near.places[:, 0])
        places, some = near.places[band], _spread(len(band))
        nearest = KDTree(places).query(places[some], k=2)[1]
        return band[some], band[np.where(nearest[:, 0] == some, nearest[:, 1], nearest[:, 0])]
    some, others = _spread(near.size), []
    for city in some.tolist():
        row = near.between(np.full(near.size, city), np.arange(near.size))
        row[city] = np.iinfo(np.int64).max
        others.append(int(row.argmin()))
    return some, np.array(others)


def _band(x: NDArray[np.float64]) -> Ints:
    """Return all cities, or those in a middle band, as searching millions would take seconds."""
    if len(x) <= _IN_BAND:
        return np.arange(len(x))
    low = (len(x) - _IN_BAND) // 2
    return np.asarray(np.argpartition(x, (low, low + _IN_BAND))[low : low + _IN_BAND])


def _spread(count: int) -> Ints:
    return np.unique(np.linspace(0, count - 1, _SAMPLE).astype(np.int64))
