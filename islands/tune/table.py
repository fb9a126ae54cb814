"""The table at the end of a tuning."""

from __future__ import annotations

from islands.statistics import SIGNIFICANT
from islands.text import count, counted, rounded
from islands.tune.configurations import words_of
from islands.tune.ranking import RankedConfiguration, Ranking

_TITLES = {"gap": "Gap", "cost": "Cost", "evaluations": "Evaluations"}
_DIGITS = {"gap": 3, "cost": 1, "evaluations": 0}
_VOID = {"evaluations": "The target was not reached"}


def table(ranking: Ranking) -> str:
    """Return the lines at the end of a tuning: one row per configuration, and the test results."""
    header = (
        f"  Rank    No |{_TITLES[ranking.metric]:>12}    Std dev    Hits |   Evals      Time"
        " |       p   Configuration"
    )
    rows = [_row(each, _DIGITS[ranking.metric]) for each in ranking.ranked]
    return "\n".join([*_legend(ranking), "", header, *rows, "", _verdict(ranking)])


def _legend(ranking: Ranking) -> list[str]:
    lines = [
        f"Rank: mean over {counted(ranking.blocks, 'block')} (an instance with a seed); 1 is the"
        f" best of {len(ranking.ranked)}.",
        "Std dev: of the runs of an instance. p: Wilcoxon's signed-rank test against the best,"
        " corrected by Holm's method.",
    ]
    if ranking.metric == "gap":
        lines[1] = f"Gap: in per cent. {lines[1]}"
        if ranking.unknown:
            names = ", ".join(ranking.unknown)
            lines.append(f"No best known value, gaps are to the best of these runs: {names}.")
    lines += [
        f"{_VOID.get(ranking.metric, 'No feasible solution was found')} by {each.void} of the runs"
        f" of configuration {each.configuration}: these rank last and do not count in its means."
        for each in ranking.ranked
        if each.void
    ]
    return lines


def _row(ranked: RankedConfiguration, digits: int) -> str:
    return (
        f"{ranked.mean_rank:>6.2f} {ranked.configuration:>5} |"
        f"{rounded(ranked.loss, digits):>12} {rounded(ranked.standard_deviation, digits):>10}"
        f" {'-' if ranked.hits is None else ranked.hits:>7} |"
        f" {count(ranked.evaluations):>7} {ranked.seconds:>8.3f}s |"
        f" {'-' if ranked.p is None else f'{ranked.p:.2g}':>7}   {words_of(ranked.values)}"
    )


def _verdict(ranking: Ranking) -> str:
    first, *others = ranking.ranked
    if not others:
        return f"Only configuration {first.configuration} is left."
    alike = [str(each.configuration) for each in others if (each.p or 0) >= SIGNIFICANT]
    better = f"not significantly better than {', '.join(alike)}" if alike else "better than all"
    best = f"The best is {first.configuration}, {better}."
    if ranking.friedman is None:
        return best
    differ = "differ" if ranking.friedman < SIGNIFICANT else "do not differ significantly"
    return f"The configurations {differ} (Friedman, p = {ranking.friedman:.2g}). {best}"
