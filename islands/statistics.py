"""Statistics of the results of runs: moments, losses, significance, effects and restarts.

Smaller values are better; infinity is a run without a solution.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.text import counted

SIGNIFICANT = 0.05
LARGEST = 1e300
"""Losses end here, so that those of any two real costs can be averaged and drawn."""
_SCALE = 256.0  # so that 100 times the difference of any two costs is a double
_UNIT = 2.0**64  # of sums: it changes no digit, and sums of the largest doubles do not overflow
_MIN_FRIEDMAN = 3  # configurations that Friedman's test needs
# Vargha and Delaney (2000): limits of the distance of A from 0.5.
_SIZES = ((0.06, "negligible"), (0.14, "small"), (0.21, "medium"))
_MOST_EXACT = 100
"""Values of both samples up to which p is exact."""

Losses = NDArray[np.float64]
"""A row for each block, an instance with a seed; a column for each configuration."""


def mean(values: Iterable[float]) -> float:
    """Return the mean of one or more numbers."""
    return statistics.fmean(each / _UNIT for each in values) * _UNIT


def deviation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation; None below two numbers or beyond all doubles."""
    try:
        return statistics.stdev(values) if len(values) > 1 else None
    except OverflowError:
        return None


def percent_worse(costs: Any, reference: float, *, maximise: bool = False) -> Any:
    """Return in per cent how much worse costs are; if the reference is 0, the differences.

    Costs are an array of doubles; those that are not finite remain as they are.
    """
    found, base = costs / _SCALE, reference / _SCALE
    worse = base - found if maximise else found - base
    with np.errstate(over="ignore"):
        percent = 100.0 * worse / (abs(base) or 100.0 / _SCALE)
    return np.where(np.isfinite(costs), percent.clip(-LARGEST, LARGEST), costs)


def mean_ranks(losses: Losses) -> list[float]:
    """Return the mean rank of each configuration, 1 the best; ties share their mean rank."""
    from scipy.stats import rankdata

    return [float(each) for each in rankdata(losses, axis=1).mean(axis=0)]


def friedman(losses: Losses) -> float | None:
    """Return the p-value of Friedman's test that all are equal; None for fewer than three."""
    from scipy.stats import friedmanchisquare

    if losses.shape[1] < _MIN_FRIEDMAN:
        return None
    if (losses == losses[:, :1]).all():
        return 1.0
    return float(friedmanchisquare(*losses.T).pvalue)


def against(losses: Losses, best: int) -> list[float | None]:
    """Return p-values against the best by Wilcoxon's signed-rank test, corrected by Holm's method.

    Equal pairs are dropped, as Wilcoxon did. The best itself has no p-value.
    """
    others = [column for column in range(losses.shape[1]) if column != best]
    losses = losses / 8  # so that no difference exceeds the largest double
    finite = np.where(np.isfinite(losses), losses, _beyond(losses))
    corrected = holm([_wilcoxon(finite[:, each] - finite[:, best]) for each in others])
    found: list[float | None] = [None] * losses.shape[1]
    for column, p in zip(others, corrected, strict=True):
        found[column] = p
    return found


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


@dataclass(frozen=True)
class WilcoxonResult:
    """The result of a test of our column against another one."""

    pairs: int
    p: float
    """Two-sided."""
    better: str
    """The column with the smaller values by rank: `ours`, `theirs` or `neither`."""

    def words(self) -> str:
        """Return the result as text for the end of a sentence."""
        verdict = f"{self.better} better" if self.p < SIGNIFICANT else "no significant difference"
        return f"Wilcoxon p = {self.p:.2g} on {counted(self.pairs, 'pair')}, {verdict}"


def signed_rank(pairs: Iterable[tuple[float, ...]]) -> WilcoxonResult:
    """Compare pairs of ours and theirs by Wilcoxon's signed-rank test (1945); drop equal pairs.

    The p-value is exact if no two differences have the same size.
    """
    from scipy.stats import wilcoxon

    differences = [ours - theirs for ours, theirs in pairs if ours != theirs]
    if not differences:
        return WilcoxonResult(0, 1.0, "neither")
    p = wilcoxon(differences, method="exact").pvalue
    # The statistic of the one-sided test is the sum of the ranks of pairs in which ours is larger.
    larger = wilcoxon(differences, method="exact", alternative="greater").statistic
    half = len(differences) * (len(differences) + 1) / 4
    better = "neither" if larger == half else "ours" if larger < half else "theirs"
    return WilcoxonResult(len(differences), float(p), better)


@dataclass(frozen=True)
class Comparison:
    """The result of a test of one sample against another one; smaller values are better."""

    p: float
    """Two-sided, by Mann and Whitney's test (1947)."""
    a: float
    """The probability that a value of the first sample is smaller, ties counted half: the measure A
    of Vargha and Delaney (2000)."""

    @property
    def size(self) -> str:
        """The size of the effect in one word."""
        distance = abs(self.a - 0.5)
        return next((word for limit, word in _SIZES if distance < limit), "large")

    def words(self) -> str:
        """Return the result as text."""
        verdict = "significant" if self.p < SIGNIFICANT else "not significant"
        return f"Mann-Whitney p = {self.p:.2g} ({verdict}), A = {self.a:.2f} ({self.size})"


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> Comparison:
    """Compare two samples of at least one value each; infinity is a run without a solution."""
    from scipy.stats import mannwhitneyu, rankdata

    # Only the order matters, so ranks replace infinite values.
    ranks = rankdata([*one, *other])
    first, second = ranks[: len(one)], ranks[len(one) :]
    if np.ptp(ranks) == 0:
        return Comparison(1.0, 0.5)
    result = mannwhitneyu(first, second, alternative="two-sided")
    p = _exact(ranks, len(one)) if len(ranks) <= _MOST_EXACT else float(result.pvalue)
    pairs = len(one) * len(other)
    return Comparison(p, 1.0 - float(result.statistic) / pairs)


def _exact(ranks: NDArray[np.float64], count: int) -> float:
    """Return the exact p-value of the first `count` ranks.

    SciPy only knows the distribution without ties, and runs that reach the optimum are ties.
    """
    doubled = np.rint(2 * ranks).astype(int)
    # Of the first ranks, the ways to choose a number of them with a sum.
    ways = np.zeros((count + 1, doubled.sum() + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    mean = count * (len(ranks) + 1)
    distances = np.abs(np.arange(ways.shape[1]) - mean)
    is_as_far = distances >= abs(int(doubled[:count].sum()) - mean)
    return float(ways[count, is_as_far].sum() / ways[count].sum())


@dataclass(frozen=True)
class RestartLaw:
    """Times to a target that are a fixed start and an exponential rest: T = start + Exp(mean).

    Independent searches, of which the first one to arrive counts, only divide the rest.
    """

    start: float
    """Seconds that each search needs at least."""
    mean: float
    """Mean of the seconds beyond them."""

    @classmethod
    def fitted(cls, times: Sequence[float], limit: float) -> Self | None:
        """Return the law of the times of some runs, or None if fewer than two arrived.

        A run that did not arrive within the limit has an infinite time. The estimates are those of
        the largest likelihood, without its bias: the first run of n arrives mean / n after `start`.
        """
        spent = np.sort(np.minimum(times, limit))
        arrived = int(np.isfinite(times).sum())
        if arrived < 2:
            return None
        mean = float((spent - spent[0]).sum()) / (arrived - 1)
        start = float(spent[0]) - mean / len(spent)
        return cls(start, mean) if start >= 0 else cls(0.0, float(spent.sum()) / arrived)

    def gain(self, searches: int) -> float:
        """Return how much sooner the first of some independent searches arrives, in the mean."""
        return (self.start + self.mean) / (self.start + self.mean / searches)

    def distance(self, times: Sequence[float]) -> float:
        """Return the largest distance between the law and the shares of the runs, up to 1.

        It is Kolmogorov and Smirnov's, up to the last time that is finite.
        """
        arrived = np.sort([each for each in times if np.isfinite(each)])
        rest = np.maximum(0.0, arrived - self.start) / (self.mean or 1e-9)
        law, steps = 1.0 - np.exp(-rest), np.arange(len(arrived) + 1) / len(times)
        return float(np.maximum(steps[1:] - law, law - steps[:-1]).max(initial=0.0))
