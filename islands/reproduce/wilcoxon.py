"""Wilcoxon's signed-rank test of two columns of costs or times, where less is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from islands.text import counted

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """How our column compares with another one."""

    pairs: int
    p: float
    """Two-sided."""
    better: str
    """Whose ranks say that it is smaller: `ours`, `theirs` or `neither`."""

    def words(self) -> str:
        """Return the comparison for the end of a sentence."""
        verdict = f"{self.better} better" if self.p < SIGNIFICANT else "no significant difference"
        return f"Wilcoxon p = {self.p:.2g} on {counted(self.pairs, 'pair')}, {verdict}"


def compare(pairs: Iterable[tuple[float, ...]]) -> Comparison:
    """Compare pairs of ours and theirs; equal ones are left out, as Wilcoxon did (1945).

    The distribution is exact where no two differences have the same size.
    """
    from scipy.stats import wilcoxon

    differences = [ours - theirs for ours, theirs in pairs if ours != theirs]
    if not differences:
        return Comparison(0, 1.0, "neither")
    p = wilcoxon(differences, method="exact").pvalue
    # Of a one-sided test, the statistic is the sum of the ranks where ours is larger.
    larger = wilcoxon(differences, method="exact", alternative="greater").statistic
    half = len(differences) * (len(differences) + 1) / 4
    better = "neither" if larger == half else "ours" if larger < half else "theirs"
    return Comparison(len(differences), float(p), better)
