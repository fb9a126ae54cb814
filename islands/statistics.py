"""Statistics of the results of runs: moments, losses, ranks and their significance.

Smaller values are better; infinity stands for a run without a solution.
"""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNIFICANT = 0.05
LARGEST = 1e300
"""Losses are clipped to this value, so that they can be averaged and drawn."""
_SCALE = 256.0  # so that 100 times the difference of any two costs is a double
_UNIT = 2.0**64  # divides summands, so that sums of the largest doubles are finite
_MIN_FRIEDMAN = 3  # configurations that Friedman's test needs

Losses = NDArray[np.float64]
"""One row for each block (an instance with a seed), one column for each configuration."""


def mean(values: Iterable[float]) -> float:
    """Return the mean of one or more numbers."""
    return statistics.fmean(value / _UNIT for value in values) * _UNIT


def deviation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation; None for fewer than two numbers or on overflow."""
    try:
        return statistics.stdev(values) if len(values) > 1 else None
    except OverflowError:
        return None


def percent_worse(costs: Any, reference: float, *, maximise: bool = False) -> Any:
    """Return how much worse costs are than a reference, in per cent; if it is 0, as differences.

    Costs are an array of doubles; those that are not finite are returned unchanged.
    """
    scaled, base = costs / _SCALE, reference / _SCALE
    worse = base - scaled if maximise else scaled - base
    with np.errstate(over="ignore"):
        percent = 100.0 * worse / (abs(base) or 100.0 / _SCALE)
    return np.where(np.isfinite(costs), percent.clip(-LARGEST, LARGEST), costs)


def mean_ranks(losses: Losses) -> list[float]:
    """Return the mean rank of each configuration; 1 is the best, and ties share a mean rank."""
    from scipy.stats import rankdata

    return [*map(float, rankdata(losses, axis=1).mean(axis=0))]


def friedman(losses: Losses) -> float | None:
    """Return the p-value of Friedman's test; None for fewer than three configurations."""
    from scipy.stats import friedmanchisquare

    if losses.shape[1] < _MIN_FRIEDMAN:
        return None
    if (losses == losses[:, :1]).all():
        return 1.0
    return float(friedmanchisquare(*losses.T).pvalue)


def against(losses: Losses, best: int) -> list[float | None]:
    """Return the p-value of each configuration against the best one, and None for the latter.

    The test is Wilcoxon's signed-rank test without equal pairs, corrected by Holm's method.
    """
    losses = losses / 8  # so that no difference exceeds the largest double
    finite = np.where(np.isfinite(losses), losses, _beyond(losses))
    others = np.delete(finite, best, axis=1).T
    corrected: list[float | None] = [*holm([_wilcoxon(row - finite[:, best]) for row in others])]
    return [*corrected[:best], None, *corrected[best:]]


def holm(p: Sequence[float]) -> list[float]:
    """Return the p-values of several tests, corrected by Holm's method (1979)."""
    corrected, least = [0.0] * len(p), 0.0
    for place, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - place) * p[index]))
        corrected[index] = least
    return corrected


def _beyond(losses: Losses) -> float:
    """Return a loss that exceeds all losses by more than they differ from each other."""
    solved = losses[np.isfinite(losses)]
    if not solved.size:
        return 0.0
    worst = float(solved.max())
    return worst + 2 * (worst - float(solved.min()) or abs(worst) or 1.0)


def _wilcoxon(differences: Losses) -> float:
    from scipy.stats import wilcoxon

    differing = differences[differences != 0]
    return float(wilcoxon(differing).pvalue) if differing.size else 1.0
