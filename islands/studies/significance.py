"""Statistical tests of one sample of runs against another, with effect sizes.

Smaller values are better; an infinite value stands for a run without a solution.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.statistics import SIGNIFICANT
from islands.text import counted

# Vargha and Delaney (2000): limits of the distance of A from 0.5.
_SIZES = ((0.06, "negligible"), (0.14, "small"), (0.21, "medium"))
_MOST_EXACT = 100
"""Maximum total size of both samples for which the p-value is exact."""


@dataclass(frozen=True)
class WilcoxonResult:
    """The result of a Wilcoxon test of our column against another one."""

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
    """Compare our values with theirs by the Wilcoxon signed-rank test (1945), without equal pairs.

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
    """The result of a Mann-Whitney test of two samples; smaller values are better."""

    p: float
    """Two-sided, by the Mann-Whitney test (1947)."""
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
    """Return the exact two-sided p-value of a sample that has the first `count` of these ranks.

    SciPy implements only the distribution without ties, but runs that reach the optimum are tied.
    """
    doubled = np.rint(2 * ranks).astype(int)
    # ways[k, s]: the number of ways to choose k of the ranks so far with the sum s.
    ways = np.zeros((count + 1, doubled.sum() + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    mean = count * (len(ranks) + 1)
    distances = np.abs(np.arange(ways.shape[1]) - mean)
    is_as_far = distances >= abs(int(doubled[:count].sum()) - mean)
    return float(ways[count, is_as_far].sum() / ways[count].sum())
