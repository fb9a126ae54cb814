"""Wilcoxon's signed-rank test of two columns of costs or times; smaller is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from islands.text import counted

SIGNIFICANT = 0.05


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


def compare(pairs: Iterable[tuple[float, ...]]) -> WilcoxonResult:
    """Compare pairs of ours and theirs; drop equal pairs, as Wilcoxon did (1945).

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
