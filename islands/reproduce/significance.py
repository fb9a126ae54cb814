"""Facts of the tests of our column against another one: the paper's test, and one that is newer."""

from __future__ import annotations

from collections.abc import Sequence

from islands.reproduce.cells import Fact
from islands.statistics import mann_whitney, signed_rank


def significance(
    name: str,
    words: str,
    pairs: Sequence[tuple[float, ...]],
    scaled: Sequence[tuple[float, ...]] | None = None,
) -> list[Fact]:
    """Return the facts of Wilcoxon's and of Mann and Whitney's test of ours against theirs.

    The second test ignores which values are a pair, so it takes `scaled` values if instances have
    costs of different sizes. Smaller is better. Without pairs, there are no facts.
    """
    if not pairs:
        return []
    paired, free = signed_rank(pairs), mann_whitney(*zip(*(scaled or pairs), strict=True))
    return [
        Fact(f"wilcoxon_p_{name}", paired.p, f"{words}: {paired.words()}; {free.words()}"),
        Fact(f"wilcoxon_better_{name}", paired.better, ""),
        Fact(f"mann_whitney_p_{name}", free.p, ""),
        Fact(f"effect_a_{name}", free.a, ""),
    ]
